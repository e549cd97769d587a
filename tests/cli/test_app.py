import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from cli.app import CommandLine, app
from cli.failures import ExitCode

ROOT = Path(__file__).parents[2]


def program_with(*names: str) -> typer.Typer:
    """A program whose commands print their name and their arguments."""
    program = typer.Typer(cls=CommandLine, add_completion=False)

    @program.callback()
    def options(debug: bool = typer.Option(False, "--debug")) -> None:
        typer.echo(f"debug {debug}")

    def command(name: str) -> None:
        def run(arguments: list[str]) -> None:
            typer.echo(f"{name} {' '.join(arguments)}")

        program.command(name)(run)

    for name in names:
        command(name)
    return program


def test_version_is_that_of_the_package() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == ExitCode.OK
    assert result.stdout == f"demosaic-ntc {version('demosaic-ntc')}\n"


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["photo.dng", "out.png"], "debug False\nconvert photo.dng out.png\n"),
        (["--debug", "photo.dng", "out.png"], "debug True\nconvert photo.dng out.png\n"),
        (["info", "photo.dng"], "debug False\ninfo photo.dng\n"),
        (["--debug", "info", "photo.dng"], "debug True\ninfo photo.dng\n"),
        (["convert", "info"], "debug False\nconvert info\n"),
        (["--", "-odd.dng", "out.png"], "debug False\nconvert -odd.dng out.png\n"),
    ],
)
def test_convert_is_meant_when_no_command_is_named(arguments: list[str], answer: str) -> None:
    result = CliRunner().invoke(program_with("convert", "info"), arguments)
    assert result.stdout == answer
    assert result.exit_code == ExitCode.OK


def test_without_convert_an_unknown_command_is_wrong_usage() -> None:
    result = CliRunner().invoke(program_with("info", "other"), ["photo.dng"])
    assert result.exit_code == ExitCode.USAGE


def test_help_loads_nothing_heavy() -> None:
    heavy = ("numba", "scipy", "skimage", "matplotlib", "gurobipy", "highspy", "rawpy")
    code = f"import sys, cli.app; print([name for name in {heavy!r} if name in sys.modules])"
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert answer.stdout == "[]\n"
