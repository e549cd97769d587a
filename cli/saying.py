"""Words that reach whoever listens, and harm nothing where nobody does."""

import os
import sys
from collections.abc import Iterable
from contextlib import suppress

import typer

from .failures import ExitCode, one_line


def say(lines: Iterable[str]) -> None:
    """Print to stdout; where it is closed or full, what was done stays done, and the exit code tells."""
    try:
        for line in lines:
            typer.echo(one_line(line))
        sys.stdout.flush()
    except OSError as error:
        _hang_up()
        mention(f"stdout cannot be written ({error.strerror}); what was done stays done")
        raise typer.Exit(ExitCode.SOME_FAILED) from None


def mention(text: str) -> None:
    """Print a note to stderr, if anybody reads it."""
    with suppress(OSError):
        sys.stderr.write(f"demosaic-ntc: {one_line(text)}\n")  # where a progress bar lets it through
        sys.stderr.flush()


def _hang_up() -> None:
    """Write to nothing from now on: the interpreter tries once more when it ends, and would complain."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)
