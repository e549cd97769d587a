"""What is written down while a file is worked on: seconds, notices, and progress for whoever listens."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from demosaic_ntc.io.pixels import ReportRows
from demosaic_ntc.run import Progress, ReportProgress


@dataclass(slots=True)
class Timings:
    """Collects seconds and notices on the way."""

    seconds: dict[str, float] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    apart: float = 0.0  # seconds that were counted for parts

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time inside for this stage, without that of parts."""
        start, apart = perf_counter(), self.apart
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - start - (self.apart - apart)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the time inside for another stage than the one it happens in."""
        start = perf_counter()
        yield
        seconds = perf_counter() - start
        self.apart += seconds
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds


def rows_as(stage: str, report: ReportProgress) -> ReportRows:
    """Rows done, reported as progress of a stage."""
    return lambda done, total: report(Progress(stage, done, total))
