"""What arguments are taken for: numbers that are finite, and paths that nobody has judged yet."""

from collections.abc import Iterator
from math import isfinite
from typing import Any, get_args

import typer
from typer.core import TyperCommand

from .plain_values import take_plain_values
from .recipe_options import BARE_OPTIONS


class FiniteCommand(TyperCommand):
    """A command whose options of numbers are finite: ``nan`` and ``inf`` are read as such by Python."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments, and refuse what no comparison with a limit would catch."""
        take_plain_values(self.get_params(ctx))
        rest = super().parse_args(ctx, complete_bare_options(args))
        for parameter in self.params:
            value = ctx.params.get(parameter.name)
            if isinstance(value, float) and not isfinite(value):
                raise typer.BadParameter(f"{value} is not a number", param_hint=parameter.opts[0])
        return rest


def complete_bare_options(args: list[str]) -> list[str]:
    """Write out what an option means that stands without its word."""
    complete = list[str]()
    for word, following in zip(args, [*args[1:], ""], strict=False):
        complete.append(word)
        if word in BARE_OPTIONS and following not in BARE_OPTIONS[word].words:
            complete.append(BARE_OPTIONS[word].meaning)
    return complete


def leave_paths_alone(program: typer.Typer) -> None:
    """Let Typer ask of no path whether it may be read.

    A file without permission would be wrong usage to it. What reads or writes a path says what to do, and
    ends with the right code.
    """
    for described in _describe_parameters(program):
        if hasattr(described, "readable"):
            described.readable = False


def _describe_parameters(program: typer.Typer) -> Iterator[Any]:
    """What is said of the parameters of all commands, those of groups included."""
    for command in program.registered_commands:
        for annotation in (command.callback.__annotations__ if command.callback else {}).values():
            yield from get_args(annotation)[1:]
    for group in program.registered_groups:
        if group.typer_instance:
            yield from _describe_parameters(group.typer_instance)
