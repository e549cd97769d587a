"""Values taken as they are: the same as Typer makes of them, and everything else is left to Typer."""

from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Literal

import pytest
import typer
from typer.testing import CliRunner

from cli.arguments.finite import FiniteCommand
from cli.arguments.plain_values import is_plain, take_plain_values


class Colour(Enum):
    RED = "red"


def _notes(**said: Any) -> Any:
    """What is noted of a parameter."""
    return typer.Option("--name", **said)


@pytest.mark.parametrize(
    ("value", "kind", "said"),
    [
        ("word", str, {}),
        (3, int, {"min": 1, "max": 3}),
        (0.5, float, {"min": 0}),
        ("a/b.png", Path, {"readable": False}),
        (["a", "b"], list[str], {}),
        ("rows", Literal["rows", "columns"], {}),
        (Colour.RED, Colour, {}),
    ],
)
def test_what_is_plain(value: Any, kind: Any, said: dict[str, Any]) -> None:
    assert is_plain(value, kind, _notes(**said))


@pytest.mark.parametrize(
    ("value", "kind", "said"),
    [
        ("3", int, {}),
        (True, int, {}),
        (3, float, {}),
        (4, int, {"max": 3}),
        (0, int, {"min": 1}),
        (float("nan"), float, {"min": 0}),
        ("a", Path, {"readable": False, "exists": True}),
        ("a", Path, {"readable": True}),
        ("a", Path, {"readable": False, "dir_okay": False}),
        ("a", Path, {"readable": False, "resolve_path": True}),
        (["a", 1], list[str], {}),
        ("ROWS", Literal["rows", "columns"], {}),
        ("red", Colour, {}),
        ((1, 2), tuple[int, int], {}),
    ],
)
def test_what_is_not(value: Any, kind: Any, said: dict[str, Any]) -> None:
    assert not is_plain(value, kind, _notes(**said))


def _even(text: str) -> int:
    """An even number; anything else is wrong."""
    if int(text) % 2:
        raise typer.BadParameter(f"{text} is odd")
    return int(text)


def _program(command: type[Any]) -> typer.Typer:
    """A program that prints what it is given."""
    program = typer.Typer(pretty_exceptions_enable=False)

    @program.command(cls=command)
    def tell(
        paths: Annotated[list[Path], typer.Argument(readable=False)],
        word: str = "as it is",
        number: Annotated[int, typer.Option(min=1, max=9)] = 5,
        share: float = 0.5,
        flag: bool = False,
        pair: tuple[int, int] = (1, 2),
        even: Annotated[int | None, typer.Option(parser=_even)] = None,
        words: list[str] | None = None,
    ) -> None:
        typer.echo(repr((paths, word, number, share, flag, pair, even, words)))

    return program


@pytest.mark.parametrize(
    "arguments",
    [
        "a",
        "a b/c --word x --number 3 --share 0.25 --flag --pair 3 4 --even 4 --words p --words q",
        "a --number 10",
        "a --number x",
        "a --share x",
        "a --even 3",
        "a --even x",
        "a --pair 1 x",
        "--word a",
    ],
)
def test_a_command_reads_and_refuses_the_same(arguments: str) -> None:
    ours = CliRunner().invoke(_program(FiniteCommand), arguments.split())
    theirs = CliRunner().invoke(_program(typer.core.TyperCommand), arguments.split())
    assert (ours.exit_code, ours.output) == (theirs.exit_code, theirs.output)


def test_a_typer_without_that_step_is_left_alone() -> None:
    older = SimpleNamespace(name="word")
    take_plain_values([older])
    assert vars(older) == {"name": "word"}
