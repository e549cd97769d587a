"""What the benchmark commands share: how names are typed, how progress and results are shown."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from demosaic_ntc.errors import InputError

from .measuring import evaluation

if TYPE_CHECKING:
    from rich.console import Console

# Wider than any table: in a narrow window a line may wrap, but no figure may lose its digits.
_WIDTH = 400


def split_names(names: str) -> list[str]:
    """The parts of a comma-separated option, each once."""
    return list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))


def found_folders(names: Iterable[Path]) -> list[Path]:
    """Folders as they are, and known sets by name, downloaded if they must be."""
    folders: list[Path] = evaluation("fetching").located(names, lambda line: typer.echo(line, err=True))
    return folders


@contextmanager
def usage() -> Iterator[None]:
    """What cannot be used here was typed on the command line."""
    try:
        yield
    except InputError as error:
        raise typer.BadParameter(str(error)) from None


@contextmanager
def progress_bar(total: int) -> Iterator[Callable[[str, int], None]]:
    """A progress bar on stderr, when that is a terminal; called with what was done and how many steps."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("preparing", total=total)

        def advance(description: str, steps: int) -> None:
            progress.update(task, advance=steps, description=description)

        yield advance


def results_console() -> "Console":
    """Standard output, wide enough for a table."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    console.width = _WIDTH
    return console
