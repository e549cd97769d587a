"""Help that reads well at 80 columns: an option per entry, what it takes beside it, sections by subject.

The man page (docs/make_man.py) is made of the same entries.
"""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from typer.core import TyperGroup

from .finite import FiniteCommand
from .plain_values import take_plain_values

ARGUMENTS, _RUNNING, OTHERS = "Arguments", "Running", "Options"

# Longer terms stand on a line of their own.
_TERM_WIDTH = 26

_VALUES = {int: "N", float: "X", str: "TEXT", Path: "FILE"}


class Command(FiniteCommand):
    """A command whose help is plain text, and whose numbers are finite."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write usage, description and options."""
        _write(self, ctx, formatter, sections(self, ctx))


class CommandGroup(TyperGroup):
    """Commands under one name, whose help is plain text."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments up to the command's name."""
        take_plain_values(self.get_params(ctx))
        rest: list[str] = super().parse_args(ctx, args)
        return rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write usage, description, commands and options."""
        commands = [(name, next(iter(paragraphs(each)), "")) for name, each in self.commands.items()]
        _write(self, ctx, formatter, {"Commands": commands, **sections(self, ctx)})


def _write(command: Any, ctx: Any, formatter: Any, entries: dict[str, list[tuple[str, str]]]) -> None:
    """Write the help of a command."""
    command.format_usage(ctx, formatter)
    for paragraph in paragraphs(command):
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(paragraph)
    for title, listed in entries.items():
        with formatter.section(title):
            formatter.write_dl(listed, col_max=_TERM_WIDTH)


def paragraphs(command: Any) -> list[str]:
    """What a command says of itself, without line breaks."""
    text = inspect.cleandoc(command.help or "")
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def sections(command: Any, ctx: Any) -> dict[str, list[tuple[str, str]]]:
    """Terms and what they mean, by section, in the order of the command's parameters."""
    found: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(ctx):
        if getattr(parameter, "hidden", False):
            continue
        is_argument = parameter.param_type_name == "argument"
        usual = ARGUMENTS if is_argument else OTHERS
        title = getattr(parameter, "rich_help_panel", None) or usual
        term = str(parameter.metavar or parameter.name.upper()) if is_argument else _option(parameter)
        found.setdefault(title, []).append((term, " ".join(_explain_option(parameter, is_argument))))
    last = {title: found.pop(title) for title in (_RUNNING, OTHERS) if title in found}
    return {**found, **last}


def _option(parameter: Any) -> str:
    """An option and what it takes."""
    names = " / ".join(
        ", ".join(each) for each in (sorted(parameter.opts, key=len), parameter.secondary_opts) if each
    )
    takes_nothing = parameter.is_flag or getattr(parameter, "count", False)
    return names if takes_nothing else f"{names} {parameter.metavar or _value(parameter)}"


def _value(parameter: Any) -> str:
    """What an option takes that does not say so itself, by its type."""
    described = getattr(parameter, "type_descriptor", None)  # where Typer keeps types since 0.20
    annotation: Any = getattr(described, "annotation", None)
    choices = get_args(annotation) or getattr(getattr(parameter, "type", None), "choices", ())
    if choices:
        return "|".join(map(str, choices))
    return _VALUES.get(annotation, "VALUE")


def _explain_option(parameter: Any, is_argument: bool) -> Iterator[str]:
    """What it does, and what holds where it is not given."""
    if parameter.help:
        yield " ".join(parameter.help.split())
    told, default = parameter.show_default, parameter.default
    if isinstance(told, str):
        yield f"[default: {told}]"
    elif told and not is_argument and not parameter.is_flag and default not in (None, "", (), []):
        yield f"[default: {default:g}]" if isinstance(default, float) else f"[default: {default}]"
