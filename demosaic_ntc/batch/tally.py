"""What a batch amounts to, counted as it goes."""

from collections import Counter
from dataclasses import dataclass, field
from time import monotonic

from demosaic_ntc.batch.job import Event, JobEnded, JobStatus

_FAILURES = (JobStatus.FAILED, JobStatus.CRASHED, JobStatus.TIMEOUT)


@dataclass(slots=True)
class Tally:
    """How many files ended how, and what they amount to."""

    counts: Counter[JobStatus] = field(default_factory=Counter)
    pixels: int = 0  # of finished results
    failures: list[JobEnded] = field(default_factory=list)
    start: float = field(default_factory=monotonic)

    def add(self, event: Event) -> None:
        """Count a file that is over."""
        if isinstance(event, JobEnded):
            self.counts[event.outcome.status] += 1
            self.pixels += event.outcome.pixels
            if event.outcome.status in _FAILURES:
                self.failures.append(event)

    @property
    def failed(self) -> int:
        """How many files did not become what they should."""
        return len(self.failures)

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return monotonic() - self.start

    @property
    def megapixels_per_second(self) -> float:
        """The speed so far."""
        return self.pixels / 1e6 / max(self.seconds, 1e-3)
