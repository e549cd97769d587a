"""What commands that make one picture do alike: refuse what makes no sense, show how far it is."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..interrupts import heard_interrupts
from ..output.progress import show_progress
from ..output.results import Verbosity, check_different, tell_skipped
from .prepare import show_waits

if TYPE_CHECKING:
    from demosaic_ntc.run import ReportProgress


def is_wanted(sources: tuple[Path, ...], target: Path, telling: Verbosity, *, overwrite: bool) -> bool:
    """Whether a target is to be made; none that is an input, and none that is there unless told otherwise."""
    for source in sources:
        check_different(source, target)
    if target.exists() and not overwrite:
        tell_skipped(sources[0], target, telling)
        return False
    return True


@contextmanager
def run_single_file(costs: Mapping[str, float], telling: Verbosity) -> "Iterator[ReportProgress | None]":
    """Let a picture be made: what is yielded hears how far it is."""
    with (
        heard_interrupts(),
        show_progress(costs, quiet=telling.quiet) as report,
        show_waits(report, quiet=not telling.notes),
    ):
        yield report
