"""What a batch amounts to, counted as it goes and told at its end."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from demosaic_ntc.batch.job import Ended, Event, Job, Status
from demosaic_ntc.batch.resume import Needless

_FAILURES = (Status.FAILED, Status.CRASHED, Status.TIMEOUT)

# The report has all failures; the screen has room for these.
_SHOWN = 20


@dataclass(slots=True)
class Tally:
    """How many files ended how, and what they amount to."""

    counts: Counter[Status] = field(default_factory=Counter)
    pixels: int = 0
    failures: list[str] = field(default_factory=list)
    start: float = field(default_factory=monotonic)

    def add(self, event: Event) -> None:
        """Count a file that is over."""
        if isinstance(event, Ended):
            self.counts[event.outcome.status] += 1
            self.pixels += event.outcome.pixels
            if event.outcome.status in _FAILURES:
                self.failures.append(complaint(event))

    @property
    def failed(self) -> int:
        """How many files did not become what they should."""
        return sum(self.counts[status] for status in _FAILURES)

    @property
    def megapixels_per_second(self) -> float:
        """The speed so far."""
        return self.pixels / 1e6 / max(monotonic() - self.start, 1e-3)

    def lines(self, report: Path) -> Iterator[str]:
        """The table at the end: files by status, then those that failed."""
        seconds = monotonic() - self.start
        for status in Status:
            if self.counts[status] or status is Status.DONE:
                yield f"{status.value:<8} {self.counts[status]:>6}"
        speed = f"{self.megapixels_per_second:.3g} a second"
        yield f"{self.pixels / 1e6:.3g} megapixels in {duration(seconds)}, {speed}"
        if self.failures:
            yield ""
            yield from self.failures[:_SHOWN]
            more = len(self.failures) - _SHOWN
            if more > 0:
                yield f"and {more} more"
        yield f"report: {report}"


def complaint(event: Ended) -> str:
    """The line that says what became of a file."""
    outcome, source = event.outcome, str(event.job.source)
    reason = outcome.reason.removeprefix(f"{source}: ")
    return f"{outcome.status.value} {source}: {reason}"


def plan_lines(decided: Iterable[Job | Needless]) -> Iterator[str]:
    """What a run would do, file by file."""
    for item in decided:
        if isinstance(item, Needless):
            yield f"skip {item.job.source}: {item.reason}"
        else:
            yield f"{item.source} -> {item.target}{' (replaced)' if item.overwrite else ''}"


def duration(seconds: float) -> str:
    """A time span for people."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{seconds:.1f} s"


def megabytes(count: int) -> str:
    """A number of bytes for people."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"
