"""What the benchmark commands share: how names are typed, how progress and results are shown."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from demosaic_ntc.errors import InputError

if TYPE_CHECKING:
    from ..data.sets import PictureSet
    from ..measure.part import Part
    from ..measure.results import Results
    from ..measure.store import Store
    from ..report.tables import DataTable

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def prepared(threads: int) -> None:
    """Give the libraries below numpy and LibRaw as many threads as ours, unless the user has said otherwise.

    They read this when they are loaded, which happens after. Left alone, threads that wait for work on small
    matrices make the baselines look several times more expensive than they are. Then see that the packages
    of the extra are there.
    """
    for name in THREAD_VARIABLES:
        os.environ.setdefault(name, str(threads))
    from ..methods.method import requires

    with requires("benchmark"):
        import matplotlib  # noqa: F401
        import pandas  # noqa: F401


def split_names(names: str) -> list[str]:
    """The parts of a comma-separated option, each once."""
    return list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))


def chosen_masks(names: str | None) -> tuple[str, ...]:
    """The masks that were named, or one of every kind; what names none is wrong usage."""
    from ..data.masks import DEFAULT, check_mask

    chosen = split_names(names or "") or split_names(DEFAULT)
    for name in chosen:
        check_mask(name)
    return tuple(chosen)


def chosen_sigmas(text: str) -> tuple[int, ...]:
    """The deviations that were named, whole 255ths of white; what is none is wrong usage."""
    names = split_names(text)
    if not names or not all(name.isascii() and name.isdigit() and 1 <= int(name) <= 255 for name in names):
        raise InputError(f"{text!r} is not deviations in whole 255ths of white, 1 to 255; give e.g. 5,10,20")
    return tuple(int(name) for name in names)


def chosen_sets(
    names: Iterable[Path], images: str | None = None, limit: int | None = None
) -> list["PictureSet"]:
    """Sets in folders, and known ones by name, downloaded if they must be, or some pictures of each."""
    from ..data.fetching import located
    from ..data.sets import numbered, read_sets

    folders = located(names, lambda line: typer.echo(line, err=True))
    sets = read_sets(folders, limit)
    return sets if images is None else [numbered(each, images) for each in sets]


@contextmanager
def usage() -> Iterator[None]:
    """What cannot be used here was typed on the command line."""
    try:
        yield
    except InputError as error:
        raise typer.BadParameter(str(error)) from None


@contextmanager
def progress_bar(total: int) -> Iterator[Callable[[str], None]]:
    """A progress bar on stderr, when that is a terminal; called with what was done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("preparing", total=total)
        yield lambda done: progress.update(task, advance=1, description=done)


def check_targets(*targets: Path | None) -> None:
    """Refuse before hours of work what could not be written after them."""
    from demosaic_ntc.files.atomic import check_target

    for target in targets:
        if target is not None:
            check_target(target)


def measure_and_show(
    part: "Part",
    json: Path | None,
    csv: Path | None = None,
    *,
    details: bool = False,
    more: Iterable[dict[str, Any]] = (),
    keep: Callable[["Results", "Store", bool], None] | None = None,
) -> None:
    """Do all cases without a result, and show what is finished, whatever ended the work.

    `more` results are those of others; `keep` writes more files, told whether the work failed. Files are
    written before anything is printed: whoever reads along may have stopped.
    """
    from ..measure.results import Results
    from ..measure.store import Store
    from ..report.parts import PARTS

    store, failed = Store(json, part), False
    try:
        missing = [case for case in part.cases if case not in store]
        with progress_bar(len(missing)) as advance:
            for case in store.fill(missing):
                advance(case.words)
    except Exception:
        failed = True
        raise
    finally:
        results = Results.of(store, more=more)
        if csv is not None:
            Results.of(store).write_csv(csv)
        if keep is not None:
            keep(results, store, failed)
        tables = PARTS[part.name].tables(results, details=details)
        show(tables, (f"{name}: {text}" for name, text in part.protocol.items()))


def show(tables: "Iterable[DataTable]", lines: Iterable[str] = ()) -> None:
    """Print tables with their notes, then lines as they are."""
    from ..report.terminal import print_table, results_console

    console = results_console()
    for table in tables:
        print_table(console, table)
    for line in lines:
        console.print(line, markup=False)
