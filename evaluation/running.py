"""How methods are measured on pictures: one after the other, warmed up, with what each call costs."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from itertools import groupby
from time import perf_counter, process_time
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from demosaic_ntc import Restored
from demosaic_ntc.errors import InputError, Unsupported
from demosaic_ntc.memory import peak_bytes, reset_peak

from .datasets import Picture
from .peers import reason
from .pictures import Bytes, eight_bit
from .protocol import machine


class Compared(Protocol):
    """A method that is compared with others."""

    @property
    def name(self) -> str:
        """The name."""

    @property
    def role(self) -> str:
        """Whose it is: a peer's failure is not ours."""


class PictureJob(Protocol):
    """One method to be run on one picture."""

    @property
    def picture(self) -> Picture:
        """The picture whose truth is known."""

    @property
    def method(self) -> Compared:
        """The method."""

    @property
    def warmth(self) -> str:
        """What must have been run once, untimed, before time is taken."""


class StoredJob(PictureJob, Protocol):
    """A job whose result can be found again."""

    @property
    def set(self) -> str:
        """The name of the set that the picture is from."""

    @property
    def key(self) -> Hashable:
        """What the result will depend on."""


AnyJob = TypeVar("AnyJob", bound=StoredJob)
AnyRecord = TypeVar("AnyRecord")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A method that cannot do a job, and why."""

    job: StoredJob
    reason: str


@dataclass(frozen=True, slots=True)
class Cost:
    """What a call took: on the wall, on all threads, and the peak of the process's memory."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


class Costly(Protocol):
    """A result with what it took and what it proved."""

    @property
    def seconds(self) -> float:
        """On the wall."""

    @property
    def cpu_seconds(self) -> float:
        """On all threads."""

    @property
    def peak_bytes(self) -> int:
        """The most memory of the process."""

    @property
    def megapixels(self) -> float:
        """The size of the picture."""

    @property
    def groups(self) -> int | None:
        """The groups completed; None where nothing is."""

    @property
    def certified(self) -> int | None:
        """Of them with a proven gap."""

    @property
    def worst_gap(self) -> float | None:
        """The largest proven gap."""


#: What a job that was refused did not take.
NO_COST = dict.fromkeys(("s_per_mp", "cpu_s_per_mp"))


def per_megapixel(record: Costly) -> dict[str, float]:
    """The seconds of a result by the size of its picture."""
    return {
        "s_per_mp": record.seconds / record.megapixels,
        "cpu_s_per_mp": record.cpu_seconds / record.megapixels,
    }


def run_all(
    jobs: Iterable[AnyJob],
    warm_up: Callable[[AnyJob, Bytes], object],
    measure: Callable[[AnyJob, Bytes], AnyRecord],
) -> Iterator[AnyRecord | Refusal]:
    """Do the jobs one after the other; a method that refuses a picture does not stop the others.

    Nor does it matter when it refuses the part of a picture on which it is warmed up.
    """
    warm = set[str]()
    for picture, group in groupby(jobs, key=lambda job: job.picture):
        truth = picture.pixels()
        for job in group:
            if job.warmth not in warm:
                _attempt(job, truth, warm_up)
                warm.add(job.warmth)
            yield _attempt(job, truth, measure)


def _attempt(job: AnyJob, truth: Bytes, work: Callable[[AnyJob, Bytes], Result]) -> Result | Refusal:
    """Do some work of a job; whatever goes wrong in a peer is a refusal, in ours an error."""
    try:
        return work(job, truth)
    except Exception as error:
        if job.method.role != "peer" and not isinstance(error, InputError):
            raise
        return Refusal(job, reason(error))


def refused(jobs: Iterable[StoredJob], reasons: Mapping[Any, str]) -> list[Refusal]:
    """The jobs without a result whose reason is known by their keys."""
    return [Refusal(job, reasons[job.key]) for job in jobs if job.key in reasons]


def refusal_words(refusals: Iterable[Refusal]) -> list[str]:
    """Why methods have no figures, each reason once."""
    return list(dict.fromkeys(f"{refusal.job.method.name}: {refusal.reason}" for refusal in refusals))


def empty_row(kind: type[Any], refusal: Refusal) -> dict[str, Any]:
    """A result of that kind as named cells, of which only those are filled that do not need the method."""
    job, key = refusal.job, cast(Any, refusal.job.key)
    named = asdict(key) | {"set": job.set, "image": job.picture.name}
    return dict.fromkeys(field.name for field in fields(kind)) | named


def finished(jobs: Iterable[StoredJob], found: Callable[[Hashable], Any]) -> list[Any]:
    """The results found by the keys of jobs, under the names that set and picture have now."""
    results = [(job, found(job.key)) for job in jobs]
    return [replace(r, set=job.set, image=job.picture.name) for job, r in results if r is not None]


def costed(call: Callable[[], Restored]) -> tuple[Restored, Cost]:
    """What a call returns, and what it took."""
    reset_peak()
    wall, cpu = perf_counter(), process_time()
    restored = call()
    return restored, Cost(perf_counter() - wall, process_time() - cpu, peak_bytes())


def facts(restored: Restored, cost: Cost) -> dict[str, Any]:
    """What every result says besides its likeness: what it took, what it proved, and where that was."""
    proof = restored.certificate
    return {
        **asdict(cost),
        "groups": proof.groups if proof else None,
        "certified": proof.certified if proof else None,
        "worst_gap": float(proof.worst_gap) if proof else None,
        "machine": machine(),
    }


def comparable(restored: Restored, truth: Bytes) -> Bytes:
    """The result in 8 bit; one of another size or with NaN cannot be compared."""
    if restored.image.shape != truth.shape:
        raise Unsupported(f"the method returned {restored.image.shape} for {truth.shape}; leave it out")
    if not np.isfinite(restored.image).all():
        raise Unsupported("the method returned samples that are NaN or infinite; leave it out")
    return eight_bit(restored.image)
