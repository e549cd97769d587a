"""Words that reach whoever listens, and harm nothing where nobody does."""

import sys
from collections.abc import Iterable
from contextlib import suppress

import typer

from ..failures import ExitCode, one_line
from ..streams import hang_up


def print_lines(lines: Iterable[str]) -> None:
    """Print to stdout; where it is closed or full, what was done stays done, and the exit code tells."""
    try:
        for line in lines:
            typer.echo(one_line(line))
        sys.stdout.flush()
    except OSError as error:
        hang_up()
        print_note(f"stdout cannot be written ({error.strerror}); what was done stays done")
        raise typer.Exit(ExitCode.SOME_FAILED) from None


def print_note(text: str) -> None:
    """Print a note to stderr, if anybody reads it."""
    with suppress(OSError, ValueError):
        sys.stderr.write(f"demosaic-ntc: {one_line(text)}\n")  # where a progress bar lets it through
        sys.stderr.flush()
