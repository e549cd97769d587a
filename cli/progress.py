"""What a terminal shows while work goes on; nothing where nobody looks."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from demosaic_ntc.imaging.restored import Progress, ReportProgress


@contextmanager
def shown_progress(*, quiet: bool) -> "Iterator[ReportProgress | None]":
    """A reporter that draws stage, share done and time left on stderr; None when not on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description:<24}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        yield _Stages(bars)


class _Stages:
    """Draws one bar per stage; a stage that starts leaves the finished ones above it."""

    def __init__(self, bars: Any) -> None:
        self._bars = bars
        self._tasks: dict[str, Any] = {}

    def __call__(self, progress: "Progress") -> None:
        """Move the bar of a stage."""
        if progress.stage not in self._tasks:
            self._tasks[progress.stage] = self._bars.add_task(progress.stage, total=progress.total)
        self._bars.update(self._tasks[progress.stage], completed=progress.done, total=progress.total)


def kernels_are_compiled() -> bool:
    """Whether an earlier run has left compiled kernels where this one will find them."""
    import os
    from pathlib import Path

    import demosaic_ntc

    engine = Path(demosaic_ntc.__file__).parent / "imaging"
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or engine)
    return next(folder.rglob("*.nbi"), None) is not None
