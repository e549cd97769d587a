"""Paths are looked at by what reads or writes them, which says what is wrong and ends with the right code."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import typer

from cli.app import app


def _commands(of: typer.Typer) -> Iterator[Any]:
    """All functions behind commands, those of groups included."""
    for command in of.registered_commands:
        yield command.callback
    for group in of.registered_groups:
        if group.typer_instance:
            yield from _commands(group.typer_instance)


def _names_path(kind: Any) -> bool:
    return kind is Path or any(_names_path(part) for part in get_args(kind))


def test_no_path_is_judged_as_wrong_usage() -> None:
    checked = 0
    for command in _commands(app):
        for name, hint in get_type_hints(command, include_extras=True).items():
            kind, *notes = get_args(hint) or (hint,)
            for note in notes:
                if _names_path(kind) and hasattr(note, "readable"):
                    checked += 1
                    assert not note.readable, f"{command.__name__}: {name}"
    assert checked > 20
