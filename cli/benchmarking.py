"""What the benchmark commands share: how names are typed, how progress and results are shown."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from demosaic_ntc.errors import InputError

from .measuring import evaluation

if TYPE_CHECKING:
    from rich.console import Console

    from evaluation.running import Refusal, StoredJob
    from evaluation.store import ResultStore

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")

AnyJob = TypeVar("AnyJob", bound="StoredJob")

# Wider than any table: in a narrow window a line may wrap, but no figure may lose its digits.
_WIDTH = 400


def split_names(names: str) -> list[str]:
    """The parts of a comma-separated option, each once."""
    return list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))


def chosen_masks(names: str | None) -> list[str]:
    """The masks that were named, or one of every kind; what names none is wrong usage."""
    module = evaluation("masks")
    chosen = split_names(names or "") or split_names(module.DEFAULT)
    for name in chosen:
        module.check_mask(name)
    return chosen


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


def bound_libraries(threads: int) -> None:
    """Give the libraries below numpy and LibRaw as many threads as ours, unless the user has said otherwise.

    They read this when they are loaded, which happens after. Left alone, threads that wait for work on small
    matrices make the baselines look several times more expensive than they are.
    """
    for name in THREAD_VARIABLES:
        os.environ.setdefault(name, str(threads))


def check_targets(*targets: Path | None) -> None:
    """Refuse before hours of work what could not be written after them."""
    from demosaic_ntc.files.atomic import check_target

    for target in targets:
        if target is not None:
            check_target(target)


def measure_all(
    store: "ResultStore[Any]",
    jobs: "list[AnyJob]",
    run: "Callable[[list[AnyJob]], Iterator[Any]]",
    described: "Callable[[AnyJob], str]",
    publish: "Callable[[list[Any], list[Refusal]], None]",
) -> None:
    """Do all jobs without a result, and publish what is finished, whatever ended the work."""
    running = evaluation("running")
    try:
        collect(store, jobs, run, described)
    finally:
        publish(running.finished(jobs, store.get), running.refused(jobs, store.reasons))


def collect(
    store: "ResultStore[Any]",
    jobs: "Iterable[AnyJob]",
    run: "Callable[[list[AnyJob]], Iterator[Any]]",
    described: "Callable[[AnyJob], str]",
) -> None:
    """Do all jobs without a result; each result is stored as soon as it is there."""
    refused = evaluation("running").Refusal
    missing = [job for job in jobs if job.key not in store]
    with progress_bar(len(missing)) as advance:
        for job, result in zip(missing, run(missing), strict=True):
            if isinstance(result, refused):
                store.refuse(job.key, result.reason)
            else:
                store.add(result)
            advance(described(job), 1)


def print_protocol(console: "Console", refusals: Iterable["Refusal"], protocol: Mapping[str, str]) -> None:
    """Print which methods refused and why, and how the figures were made."""
    for words in evaluation("running").refusal_words(refusals):
        console.print(words, markup=False)
    for name, text in protocol.items():
        console.print(f"{name}: {text}", markup=False)
