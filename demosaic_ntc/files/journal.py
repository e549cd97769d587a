"""What is written down while a file is worked on: seconds, notices, and progress for whoever listens."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from demosaic_ntc.files.render import ReportRows
from demosaic_ntc.imaging.restored import Progress, ReportProgress


@dataclass(slots=True)
class Journal:
    """Collects seconds and notices on the way."""

    seconds: dict[str, float] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time inside for this stage."""
        start = perf_counter()
        yield
        self.seconds[name] = perf_counter() - start


def rows_as(stage: str, report: ReportProgress) -> ReportRows:
    """Rows done, reported as progress of a stage."""
    return lambda done, total: report(Progress(stage, done, total))
