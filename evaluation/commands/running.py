"""What the benchmark commands share: how parts are measured, how progress and results are shown."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from demosaic_ntc.errors import InputError

if TYPE_CHECKING:
    from ..data.sets import ImageSet
    from ..measure.benchmark import Benchmark
    from ..measure.case import Row
    from ..measure.results import Results
    from ..measure.store import Store
    from ..report.tables import DataTable

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")

Found = TypeVar("Found")


def limit_threads(threads: int) -> None:
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


def choose_sets(
    names: Iterable[Path], images: str | None = None, limit: int | None = None
) -> list["ImageSet"]:
    """Sets in folders, and known ones by name, downloaded if they must be, or some pictures of each."""
    from ..data.fetching import locate
    from ..data.sets import read_sets, select_numbered

    sets = read_sets([locate(each, lambda line: typer.echo(line, err=True)) for each in names], limit)
    return sets if images is None else [select_numbered(each, images) for each in sets]


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


def run_all(works: Mapping[str, Callable[[], Found]]) -> list[Found]:
    """What some works give that are done one after the other, with their names for progress."""
    found = []
    with progress_bar(len(works)) as advance:
        for name, work in works.items():
            found.append(work())
            advance(name)
    return found


def show(tables: Iterable["DataTable"], lines: Iterable[str] = ()) -> None:
    """Print tables with their notes, then lines as they are."""
    from ..report import tables as report

    report.show(tables, lines)


def check_targets(*targets: Path | None) -> None:
    """Refuse before hours of work what could not be written after them."""
    from demosaic_ntc.io.atomic import check_target

    for target in filter(None, targets):
        check_target(target)


def measure(
    name: str,
    folders: Iterable[Path] | None,
    options: Mapping[str, Any],
    json: Path | None,
    csv: Path | None = None,
    *,
    images: str | None = None,
    limit: int | None = None,
    details: bool = False,
    refer: "Callable[[list[ImageSet]], tuple[list[ImageSet], list[Row]]] | None" = None,
    keep: Callable[["Results", "Store", bool], None] | None = None,
) -> None:
    """Measure a part made of options, on the sets in folders if it takes any.

    Options are checked before any picture is read. `refer` says which sets are meant and what others found.
    """
    limit_threads(options.get("threads") or 1)
    from ..report.report import PARTS

    with usage():
        part = PARTS[name].of((), **options)
    check_targets(json, csv)
    more = list["Row"]()
    if folders is not None:
        sets = choose_sets(folders, images, limit)
        sets, more = refer(sets) if refer else (sets, more)
        part = PARTS[name].of(sets, **options)
    measure_and_show(part, json, csv, details=details, more=more, keep=keep)


def measure_and_show(
    part: "Benchmark",
    json: Path | None,
    csv: Path | None,
    *,
    details: bool,
    more: Iterable["Row"],
    keep: Callable[["Results", "Store", bool], None] | None,
) -> None:
    """Do all cases without a result, and show what is finished, whatever ended the work.

    `more` results are those of others; `keep` writes more files, told whether the work failed. Files are
    written before anything is printed: whoever reads along may have stopped.
    """
    from ..measure.results import Results
    from ..measure.store import Store
    from ..report import tables

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
        lines = (f"{name}: {text}" for name, text in part.protocol.items())
        tables.show(part.tables(results, details=details), lines)
