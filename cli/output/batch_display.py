"""What is seen of a batch while it runs: bars in a terminal, a line now and then elsewhere."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Protocol

from demosaic_ntc.batch.job import Event, JobEnded, JobProgress, JobStarted, JobStatus, Tally

from ..failures import one_line, print_note
from .batch_summary import complaint, duration

# How often a line is written where no bar can be drawn.
_LINE_SECONDS = 10.0

_NAME_WIDTH = 28


class Display(Protocol):
    """Whoever shows what happens."""

    def __call__(self, event: Event) -> None:
        """Take in an event, after it was counted."""


@dataclass(slots=True)
class Forecast:
    """How much of the work is done, in bytes of input, and how long the rest will take."""

    costs: Mapping[str, float]  # of the stages of a file
    sizes: Mapping[str, int]  # of inputs, by path
    over: int = 0  # bytes of files that are over
    done: int = 0  # of those among them that were worked on
    stages: dict[int, dict[str, float]] = field(default_factory=dict)  # shares done, by worker
    under_way: dict[int, int] = field(default_factory=dict)  # bytes, by worker
    start: float | None = None

    def add(self, event: Event) -> None:
        """Take in an event."""
        size = self.sizes.get(str(event.job.source), 0)
        match event:
            case JobStarted():
                self.start = self.start or monotonic()
                if event.worker is not None:
                    self.under_way[event.worker], self.stages[event.worker] = size, {}
            case JobProgress():
                stages = self.stages[event.worker]
                stages.update(dict.fromkeys(stages, 1.0))
                stages[event.stage] = event.share
            case JobEnded():
                self.over += size
                self.done += 0 if event.outcome.status in (JobStatus.SKIPPED, JobStatus.KEPT) else size
                if event.worker is not None:
                    del self.under_way[event.worker], self.stages[event.worker]

    def share(self, worker: int) -> float:
        """How much of its file a worker has done."""
        stages = self.stages.get(worker, {})
        done = sum(self.costs.get(stage, 0.0) * share for stage, share in stages.items())
        return min(done / sum(self.costs.values()), 1.0)

    @property
    def done_share(self) -> float:
        """How much of all that has to be done is done."""
        done = self.done + sum(size * self.share(worker) for worker, size in self.under_way.items())
        return done / max(self.done + sum(self.sizes.values()) - self.over, 1)

    @property
    def seconds_left(self) -> float | None:
        """How long the rest will take; None before anything is known."""
        share = self.done_share
        if self.start is None or share <= 0:
            return None
        return (monotonic() - self.start) * (1 - share) / share


@dataclass(frozen=True, slots=True)
class BatchView:
    """What a display shows of."""

    tally: Tally
    forecast: Forecast
    total: int | None  # files, where it is known
    quiet: bool = False  # failures only
    verbose: bool = False  # every file

    def state(self) -> str:
        """Where the batch stands."""
        over = f"{self.tally.counts.total()}{f' of {self.total}' if self.total else ''} files"
        left = self.forecast.seconds_left if self.total else None
        time_left = f", {duration(left)} left" if left is not None else ""
        return f"{over}, {self.tally.failed} failed, {self.tally.megapixels_per_second:.2f} MP/s{time_left}"

    def print_event(self, event: Event) -> None:
        """Say of a file that is over what has to be said."""
        if not isinstance(event, JobEnded):
            return
        if event.outcome.status not in (JobStatus.DONE, JobStatus.SKIPPED, JobStatus.KEPT):
            print_note(complaint(event))
        elif not self.quiet:
            if event.outcome.status is JobStatus.KEPT:
                print_note(event.outcome.reason)
            for notice in event.outcome.notices:
                print_note(f"{event.job.source}: {notice}")
            if self.verbose:
                seconds = sum(event.outcome.seconds.values())
                print_note(f"{event.outcome.status.value} {event.job.target}, {seconds:.1f} s")


@contextmanager
def show_batch(view: BatchView) -> Iterator[Display]:
    """A display that fits where stderr goes."""
    if view.quiet or not sys.stderr.isatty():
        yield _Lines(view, monotonic() + _LINE_SECONDS)
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.fields[note]}"))
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        yield _Bars(view, bars)


@dataclass(slots=True)
class _Lines:
    """A line for every failure, and one about the whole now and then."""

    view: BatchView
    next: float  # when it is time for another line

    def __call__(self, event: Event) -> None:
        """Say what has to be said."""
        self.view.forecast.add(event)
        self.view.print_event(event)
        if monotonic() >= self.next and not self.view.quiet:
            self.next = monotonic() + _LINE_SECONDS
            print_note(self.view.state())


class _Bars:
    """A bar for the whole and one for every worker."""

    def __init__(self, view: BatchView, bars: Any) -> None:
        self._view = view
        self._bars = bars
        self._whole = bars.add_task("all files", total=1.0, note="")
        self._tasks: dict[int, Any] = {}

    def __call__(self, event: Event) -> None:
        """Move the bars."""
        self._view.forecast.add(event)
        self._view.print_event(event)
        if event.worker is not None:
            self._show_worker(event, event.worker)
        self._bars.update(self._whole, completed=self._view.forecast.done_share, note=self._view.state())

    def _show_worker(self, event: Event, worker: int) -> None:
        """Move a worker's bar."""
        if worker not in self._tasks:
            self._tasks[worker] = self._bars.add_task("", total=1.0, note="")
        name = "" if isinstance(event, JobEnded) else one_line(event.job.source.name)[:_NAME_WIDTH]
        stage = event.stage if isinstance(event, JobProgress) else ""
        share = self._view.forecast.share(worker)
        self._bars.update(self._tasks[worker], description=name, completed=share, note=stage)
