"""One file of a batch: what is to be done with it, and how that ended; and what all of them amount to."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from time import monotonic
from typing import Any, Protocol

from demosaic_ntc.io.remote import Place
from demosaic_ntc.run import ReportProgress


class JobStatus(StrEnum):
    """How the work on a file ended."""

    DONE = "done"
    SKIPPED = "skipped"
    KEPT = "kept"  # what lies at its place is somebody else's work
    FAILED = "failed"
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    ABANDONED = "abandoned"  # given up because nobody wants it any more


FAILURES = (JobStatus.FAILED, JobStatus.CRASHED, JobStatus.TIMEOUT)


@dataclass(frozen=True, slots=True)
class WorkResult:
    """What a work that went well tells."""

    pixels: int
    seconds: Mapping[str, float]  # by stage
    certified_share: float | None = None  # of the groups; interpolations prove nothing
    notices: tuple[str, ...] = ()
    check: Mapping[str, float] | None = None  # how well samples of a mosaic were predicted from others


class JobWork(Protocol):
    """What is done to a file; picklable, because it is done in another process."""

    @property
    def fingerprint(self) -> str:
        """A name for everything besides the file that decides what the result is."""

    def prepare(self) -> None:
        """Load and compile what is needed, so that no file has to wait for it."""

    def __call__(
        self, source: Path, target: Path, *, overwrite: bool, threads: int, progress: ReportProgress
    ) -> WorkResult:
        """Do it; nothing appears at the target unless all went well."""


@dataclass(frozen=True, slots=True)
class Job:
    """A file, its result's place, and the work that leads from one to the other."""

    source: Place
    target: Place
    work: JobWork
    overwrite: bool = False
    replaces: "Result | None" = None  # with this alone: whatever else lies there by then is kept


@dataclass(frozen=True, slots=True)
class JobLimits:
    """What the work on one file may take; None where there is no limit."""

    seconds: float | None = None
    memory: int | None = None  # bytes


@dataclass(frozen=True, slots=True)
class Identity:
    """What tells a file from a changed one: the cheap signs, and the certain one."""

    bytes: int
    mtime_ns: int
    sha256: str
    etag: str = ""  # of an object in storage


@dataclass(frozen=True, slots=True)
class Result:
    """What a published result is known by."""

    identity: Identity
    heads: str  # checksums of its first 1, 2, 4, … bytes, eight digits each: they tell a file that was cut


@dataclass(frozen=True, slots=True)
class Published:
    """A result, and what it was made of."""

    source: str  # where the input lay
    result: Result
    identity: Identity | None = None  # of the input, where that is on record


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """How the work on a file ended, and what is known of it."""

    status: JobStatus
    reason: str = ""
    error: str = ""  # the class of the error, where one was raised
    identity: Identity | None = None
    result: Result | None = None
    pixels: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)
    peak_bytes: int | None = None
    certified_share: float | None = None
    check: Mapping[str, float] | None = None
    notices: tuple[str, ...] = ()
    log: str = ""  # a traceback, or the last words of a process that crashed

    def plain(self) -> dict[str, Any]:
        """The outcome in types that JSON has."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> "JobOutcome":
        """The outcome that `plain` described."""
        identity, result = plain["identity"], plain["result"]
        typed = {
            "status": JobStatus(plain["status"]),
            "identity": identity and Identity(**identity),
            "result": result and result_from(result),
            "notices": tuple(plain["notices"]),
        }
        return cls(**(plain | typed))


def result_from(plain: dict[str, Any]) -> Result:
    """The result that `asdict` described."""
    return Result(Identity(**plain["identity"]), plain["heads"])


@dataclass(frozen=True, slots=True)
class JobStarted:
    """A job is about to be given to a worker; to one of many far away if `worker` is None."""

    worker: int | None
    job: Job


@dataclass(frozen=True, slots=True)
class JobProgress:
    """A worker has come further: `share` of the stage is done."""

    worker: int
    job: Job
    stage: str
    share: float


@dataclass(frozen=True, slots=True)
class Publishing:
    """A result is whole and about to get its name, once this has been taken note of."""

    worker: int
    job: Job
    result: Result


@dataclass(frozen=True, slots=True)
class JobEnded:
    """The work on a job is over; `worker` is None where none was needed, or it is far away."""

    worker: int | None
    job: Job
    outcome: JobOutcome


Event = JobStarted | JobProgress | Publishing | JobEnded


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
            if event.outcome.status in FAILURES:
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
