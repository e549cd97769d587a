"""How methods are measured on pictures: one after the other, warmed up, with what each call costs."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from time import perf_counter, process_time
from typing import Any, Protocol, TypeVar

import numpy as np

from demosaic_ntc import Restored
from demosaic_ntc.errors import InputError, Unsupported
from demosaic_ntc.memory import peak_bytes, reset_peak

from .datasets import Picture
from .pictures import Bytes, eight_bit
from .protocol import machine


class Named(Protocol):
    """Something with a name."""

    @property
    def name(self) -> str:
        """The name."""


class PictureJob(Protocol):
    """One method to be run on one picture."""

    @property
    def picture(self) -> Picture:
        """The picture whose truth is known."""

    @property
    def method(self) -> Named:
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


AnyJob = TypeVar("AnyJob", bound=PictureJob)
AnyRecord = TypeVar("AnyRecord")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A method that cannot do a job, and why."""

    job: PictureJob
    reason: str


@dataclass(frozen=True, slots=True)
class Cost:
    """What a call took: on the wall, on all threads, and the peak of the process's memory."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


def run_all(
    jobs: Iterable[AnyJob],
    warm_up: Callable[[AnyJob, Bytes], None],
    measure: Callable[[AnyJob, Bytes], AnyRecord],
) -> Iterator[AnyRecord | Refusal]:
    """Do the jobs one after the other; a method that refuses a picture does not stop the others."""
    warm = set[str]()
    for picture, group in groupby(jobs, key=lambda job: job.picture):
        truth = picture.pixels()
        for job in group:
            try:
                if job.warmth not in warm:
                    warm_up(job, truth)
                    warm.add(job.warmth)
                yield measure(job, truth)
            except InputError as error:
                yield Refusal(job, str(error))


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
