"""Kernels prepared before a command needs them, and what is shown of it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from demosaic_ntc.errors import OutputError
from demosaic_ntc.jit.waiting import Report, report_to

from ..output.messages import print_lines, print_note
from ..output.progress import StageBar

if TYPE_CHECKING:
    from demosaic_ntc.jit.entries import Entry
    from demosaic_ntc.run import ReportProgress

_WORDS = "preparing kernels for this machine, once"


def prepare_shown(*, quiet: bool) -> "list[Entry]":
    """Have all kernels compiled that are not yet and show how far it is; return those that could not be."""
    from demosaic_ntc.jit.precompile import prepare_all

    with _show_kernels(quiet=quiet) as report, report_to(report):
        return prepare_all()


def prepare_or_fail(*, quiet: bool) -> None:
    """Have all kernels compiled; fail if they can not be kept."""
    from demosaic_ntc.jit.entries import load_all
    from demosaic_ntc.jit.precompile import find_folder

    entries, folder = load_all(), find_folder()
    came = all(entry.is_shipped for entry in entries)
    if folder is None and not came:
        message = "no folder can be written to keep compiled kernels; set NUMBA_CACHE_DIR to one that can"
        raise OutputError(message)
    if missing := prepare_shown(quiet=quiet):
        message = f"{folder}: {len(missing)} kernels could not be compiled or kept"
        raise OutputError(f"{message}; look whether the folder can be written and is not full")
    if not quiet:
        place = "they came with the program" if came else f"kept in {folder}"
        print_lines([f"{len(entries)} kernels are ready, {place}"])


@contextmanager
def show_waits(bar: "ReportProgress | None" = None, *, quiet: bool) -> Iterator[None]:
    """Within the block show waits for kernels: on the bar of what waits, or else by a line."""
    if isinstance(bar, StageBar):
        report: Report = lambda ready, total: bar.describe(f"{_WORDS}: {ready} of {total}")  # noqa: E731
    else:
        report = _ignore if quiet else _Line()
    with report_to(report):
        yield


def _ignore(_ready: int, _total: int) -> None:
    """Show nothing."""


@contextmanager
def _show_kernels(*, quiet: bool) -> Iterator[Report]:
    """A reporter of kernels: a bar on a terminal, a line elsewhere, nothing when quiet or all are ready."""
    if quiet:
        yield _ignore
    elif not sys.stderr.isatty():
        yield _Line()
    else:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = TextColumn("{task.description}"), MofNCompleteColumn(separator=" of "), BarColumn()
        bars = Progress(*columns, console=Console(stderr=True), transient=True)
        try:
            yield _KernelBar(bars)
        finally:
            bars.stop()


@dataclass(slots=True)
class _Line:
    """One line, when it begins."""

    has_spoken: bool = False

    def __call__(self, ready: int, total: int) -> None:
        """Say what happens, unless it was said."""
        if not self.has_spoken:
            print_note(f"{_WORDS}: {ready} of {total}")
        self.has_spoken = True


@dataclass(slots=True)
class _KernelBar:
    """A bar that appears when there is something to show."""

    bars: Any
    task: Any = None

    def __call__(self, ready: int, total: int) -> None:
        """Move the bar."""
        if self.task is None:
            self.bars.start()
            self.task = self.bars.add_task(f"{_WORDS}:", total=total)
        self.bars.update(self.task, completed=ready)
