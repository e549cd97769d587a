"""What a terminal shows while work goes on; nothing where nobody looks."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from demosaic_ntc.run import Progress, ReportProgress


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
