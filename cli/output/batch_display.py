"""What is seen of a batch while it runs: bars in a terminal, a line now and then elsewhere."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any, Protocol

from demosaic_ntc.batch.job import Ended, Event, Moved, Started, Status
from demosaic_ntc.batch.tally import Tally

from ..failures import one_line
from .batch_summary import complaint, duration
from .words import mention

# How often a line is written where no bar can be drawn.
_LINE_SECONDS = 10.0

_NAME_WIDTH = 28


class Display(Protocol):
    """Whoever shows what happens."""

    def __call__(self, event: Event) -> None:
        """Take in an event, after it was counted."""


class Forecast:
    """How much of the work is done, in bytes of input, and how long the rest will take."""

    def __init__(self, costs: Mapping[str, float], sizes: Mapping[str, int]) -> None:
        self._costs = costs
        self._sizes = sizes
        self._left = sum(sizes.values())
        self._done = 0.0
        self._stages: dict[int, dict[str, float]] = {}
        self._under_way: dict[int, int] = {}
        self._start: float | None = None

    def add(self, event: Event) -> None:
        """Take in an event."""
        size = self._sizes.get(str(event.job.source), 0)
        match event:
            case Started():
                self._start = self._start or monotonic()
                if event.worker is not None:
                    self._under_way[event.worker], self._stages[event.worker] = size, {}
            case Moved():
                stages = self._stages[event.worker]
                stages.update(dict.fromkeys(stages, 1.0))
                stages[event.stage] = event.share
            case Ended():
                self._left -= size
                self._done += 0 if event.outcome.status in (Status.SKIPPED, Status.KEPT) else size
                if event.worker is not None:
                    del self._under_way[event.worker], self._stages[event.worker]

    def share(self, worker: int) -> float:
        """How much of its file a worker has done."""
        stages = self._stages.get(worker, {})
        done = sum(self._costs.get(stage, 0.0) * share for stage, share in stages.items())
        return min(done / sum(self._costs.values()), 1.0)

    @property
    def done_share(self) -> float:
        """How much of all that has to be done is done."""
        done = self._done + sum(size * self.share(worker) for worker, size in self._under_way.items())
        return done / max(self._done + self._left, 1)

    @property
    def seconds_left(self) -> float | None:
        """How long the rest will take; None before anything is known."""
        share = self.done_share
        if self._start is None or share <= 0:
            return None
        return (monotonic() - self._start) * (1 - share) / share


@dataclass(frozen=True, slots=True)
class View:
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

    def mention(self, event: Event) -> None:
        """Say of a file that is over what has to be said."""
        if not isinstance(event, Ended):
            return
        if event.outcome.status not in (Status.DONE, Status.SKIPPED, Status.KEPT):
            mention(complaint(event))
        elif not self.quiet:
            if event.outcome.status is Status.KEPT:
                mention(event.outcome.reason)
            for notice in event.outcome.notices:
                mention(f"{event.job.source}: {notice}")
            if self.verbose:
                seconds = sum(event.outcome.seconds.values())
                mention(f"{event.outcome.status.value} {event.job.target}, {seconds:.1f} s")


@contextmanager
def shown_batch(view: View) -> Iterator[Display]:
    """A display that fits where stderr goes."""
    if view.quiet or not sys.stderr.isatty():
        yield _Lines(view)
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.fields[note]}"))
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        yield _Bars(view, bars)


class _Lines:
    """A line for every failure, and one about the whole now and then."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._next = monotonic() + _LINE_SECONDS

    def __call__(self, event: Event) -> None:
        """Say what has to be said."""
        self._view.forecast.add(event)
        self._view.mention(event)
        if monotonic() >= self._next and not self._view.quiet:
            self._next = monotonic() + _LINE_SECONDS
            mention(self._view.state())


class _Bars:
    """A bar for the whole and one for every worker."""

    def __init__(self, view: View, bars: Any) -> None:
        self._view = view
        self._bars = bars
        self._whole = bars.add_task("all files", total=1.0, note="")
        self._tasks: dict[int, Any] = {}

    def __call__(self, event: Event) -> None:
        """Move the bars."""
        self._view.forecast.add(event)
        self._view.mention(event)
        if event.worker is not None:
            self._show_worker(event, event.worker)
        self._bars.update(self._whole, completed=self._view.forecast.done_share, note=self._view.state())

    def _show_worker(self, event: Event, worker: int) -> None:
        """Move a worker's bar."""
        if worker not in self._tasks:
            self._tasks[worker] = self._bars.add_task("", total=1.0, note="")
        name = "" if isinstance(event, Ended) else one_line(event.job.source.name)[:_NAME_WIDTH]
        stage = event.stage if isinstance(event, Moved) else ""
        share = self._view.forecast.share(worker)
        self._bars.update(self._tasks[worker], description=name, completed=share, note=stage)
