"""What is written down while a file is worked on: seconds, notices, and progress for whoever listens."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from demosaic_ntc.io.pixels import ReportRows
from demosaic_ntc.jit.waiting import read_work_clock
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
        start, apart = read_work_clock(), self.apart
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + read_work_clock() - start - (self.apart - apart)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the time inside for another stage than the one it happens in."""
        start = read_work_clock()
        yield
        seconds = read_work_clock() - start
        self.apart += seconds
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds


def rows_as(stage: str, report: ReportProgress) -> ReportRows:
    """Rows done, reported as progress of a stage."""
    return lambda done, total: report(Progress(stage, done, total))
