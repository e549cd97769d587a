"""Make the man page from the commands' own help: ``python docs/make_man.py`` writes docs/demosaic-ntc.1."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cli.app import app
from cli.arguments.help_format import paragraphs, sections
from cli.failures import __doc__ as exit_codes

PAGE = Path(__file__).with_name("demosaic-ntc.1")
NAME = "demosaic-ntc"


def page() -> str:
    """The man page, as troff."""
    program = typer.main.get_command(app)
    lines = [
        f'.TH {NAME.upper()} 1 "" "{NAME}" "User Commands"',
        ".SH NAME",
        rf"{NAME} \- {_text('convert camera raws and repair damaged pictures')}",
        ".SH SYNOPSIS",
        f".B {_text(NAME)}\nRAW [PICTURE] [OPTIONS]\n.br",
        f".B {_text(NAME)}\nCOMMAND [OPTIONS]",
        ".SH COMMANDS",
        *_commands(program, ""),
        ".SH EXIT STATUS",
        *_exit_codes(),
    ]
    return "\n".join(lines) + "\n"


def _commands(group: Any, prefix: str) -> Iterator[str]:
    """The entries of commands, and of those below them."""
    for name, command in group.commands.items():
        if getattr(command, "commands", None):
            yield from _commands(command, f"{prefix}{name} ")
            continue
        yield f".SS {_text(prefix + name)}"
        for number, paragraph in enumerate(paragraphs(command)):
            yield from ((".PP", _text(paragraph)) if number else (_text(paragraph),))
        for _, entries in sections(command, typer.Context(command)).items():
            for term, meaning in entries:
                yield f".TP\n.B {_text(term)}\n{_text(meaning)}"


def _exit_codes() -> Iterator[str]:
    """The table of exit codes."""
    rows = [line.split(maxsplit=1) for line in (exit_codes or "").splitlines()]
    for code, meaning in (row for row in rows if len(row) == 2 and row[0].isdigit()):
        yield f".TP\n.B {code}\n{_text(meaning)}"


def _text(words: str) -> str:
    """Words that troff shows as they are."""
    escaped = words.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
