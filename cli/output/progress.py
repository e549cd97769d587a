"""What a terminal shows while work goes on; nothing where nobody looks."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from demosaic_ntc.jit.waiting import Report, report_to

from ..failures import print_note
from ..interrupts import heard_interrupts
from .results import Verbosity

if TYPE_CHECKING:
    from demosaic_ntc.jit.entries import Entry
    from demosaic_ntc.run import Progress, ReportProgress

_WORDS = "preparing kernels for this machine, once"


@contextmanager
def run_single_file(costs: Mapping[str, float], telling: Verbosity) -> "Iterator[ReportProgress | None]":
    """Show progress and heed Ctrl-C while one picture is made; yield the callback to report to."""
    with (
        heard_interrupts(),
        show_progress(costs, quiet=telling.quiet) as report,
        show_waits(report, quiet=not telling.notes),
    ):
        yield report


@contextmanager
def show_progress(costs: Mapping[str, float], *, quiet: bool) -> "Iterator[ReportProgress | None]":
    """A reporter that draws the stage, the share done and the time left on stderr; None without a terminal.

    `costs` are the stages to come with their relative costs, so that one bar can stand for all of them.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description:<15}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        yield StageBar(bars, costs)


class StageBar:
    """One bar over all stages, each as long as its cost."""

    def __init__(self, bars: Any, costs: Mapping[str, float]) -> None:
        self._bars = bars
        self._costs = costs
        self._done: dict[str, float] = {}
        self._task = bars.add_task("", total=sum(costs.values()))

    def describe(self, words: str) -> None:
        """Say what happens instead of the stage, until it goes on."""
        self._bars.update(self._task, description=words)

    def __call__(self, progress: "Progress") -> None:
        """Move the bar; a stage nobody announced moves nothing but is named."""
        share = progress.done / max(progress.total, 1)
        self._done[progress.stage] = self._costs.get(progress.stage, 0.0) * share
        self._bars.update(self._task, description=progress.stage, completed=sum(self._done.values()))


def prepare_shown(*, quiet: bool) -> "list[Entry]":
    """Have all kernels compiled that are not yet and show how far it is; return those that could not be."""
    from demosaic_ntc.jit.precompile import prepare_all

    with _show_kernels(quiet=quiet) as report, report_to(report):
        return prepare_all()


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
    """A reporter that prints one line, at its first call."""

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
