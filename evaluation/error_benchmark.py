"""Expected errors measured against true ones on pictures whose truth is known, one picture after the other.

Of each picture some entries are kept, those of a colour array or those that a mask leaves; the others are
restored and compared with the truth as they are, not rounded: that is what the error bars are about.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc import Restored, demosaic, inpaint
from demosaic_ntc.errors import InputError, Unsupported
from demosaic_ntc.imaging.cfa import Cfa

from .datasets import Picture, PictureSet
from .demosaicers import OURS, Effort, Role
from .error_bins import Histogram
from .inpaint_benchmark import Damage
from .masks import check_mask
from .pictures import Bytes
from .protocol import engine, machine
from .running import Refusal, run_all

Flags = NDArray[np.bool_]

# Of the sums that are kept: more than anybody reads, less than a double has.
_DIGITS = 7


@dataclass(frozen=True, slots=True)
class Estimator:
    """A way from a picture to its estimate with error bars, from a part of its entries."""

    task: str  # the colour array or the mask: what is known
    name: str
    settings: str
    run: Callable[[Bytes], tuple[Restored, Flags]]  # height × width × 3: what is restored, and what was known

    @property
    def role(self) -> Role:
        """Whose it is: nobody else's methods know their errors."""
        return "ours"


@dataclass(frozen=True, slots=True)
class Key:
    """What a result depends on: two results with the same key are interchangeable."""

    task: str
    method: str
    settings: str
    crop: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Record:
    """The restored entries of one picture by class of their expected error (see `Histogram`)."""

    task: str
    method: str
    settings: str
    crop: int
    sha256: str
    set: str
    image: str
    first: int  # the lowest class that has entries; those below are left out
    counts: list[float]
    expected: list[float]
    true: list[float]
    machine: str

    @property
    def key(self) -> Key:
        """What this result depends on."""
        return Key(self.task, self.method, self.settings, self.crop, self.sha256)

    @property
    def histogram(self) -> Histogram:
        """The entries, all classes of them."""
        whole = Histogram.total([])
        for column, values in zip(whole.columns, (self.counts, self.expected, self.true), strict=True):
            column[self.first : self.first + len(values)] = values
        return whole


@dataclass(frozen=True, slots=True)
class Job:
    """One picture to be estimated."""

    set: str
    picture: Picture
    method: Estimator
    crop: int

    @property
    def key(self) -> Key:
        """What the result will depend on."""
        method = self.method
        return Key(method.task, method.name, method.settings, self.crop, self.picture.sha256)

    @property
    def warmth(self) -> str:
        """What must have been run once before: other tasks take other ways."""
        return f"{self.method.task} {self.method.settings}"


def of_mosaics(cfa: Cfa, effort: Effort) -> Estimator:
    """Demosaicing of the samples of a colour array."""

    def run(truth: Bytes) -> tuple[Restored, Flags]:
        known = cfa.masks((truth.shape[0], truth.shape[1]))
        restored = demosaic(
            cfa.sample(truth), cfa, quality=effort.quality, threads=effort.threads, white=255.0, error=True
        )
        return restored, known

    return Estimator(cfa.name, OURS, _settings(effort), run)


def of_damages(mask: str, effort: Effort) -> Estimator:
    """Inpainting of what a mask takes away."""
    if mask.startswith("irregular") and ":" in mask:
        raise InputError(f"{mask}: error bars are measured under drawn masks; give such as random:50")
    check_mask(mask)

    def run(truth: Bytes) -> tuple[Restored, Flags]:
        missing = Damage(mask).missing(truth)
        damaged = np.where(missing[..., None], 0, truth).astype(np.float32)
        restored = inpaint(damaged, missing, quality=effort.quality, threads=effort.threads, error=True)
        return restored, np.broadcast_to(~missing[..., None], truth.shape)

    return Estimator(mask, OURS, _settings(effort), run)


def _settings(effort: Effort) -> str:
    """How our method is called."""
    return f"quality {effort.quality}, {effort.thread_words}, {engine()}"


def plan(sets: Iterable[PictureSet], methods: Collection[Estimator], crop: int) -> list[Job]:
    """All jobs, picture by picture."""
    return [
        Job(each.name, picture, method, crop)
        for each in sets
        for picture in each.pictures
        for method in methods
    ]


def run(jobs: Iterable[Job]) -> Iterator[Record | Refusal]:
    """Do the jobs one after the other; a picture that is refused does not stop the others."""
    return run_all(jobs, warm_up, measure)


def warm_up(job: Job, truth: Bytes) -> None:
    """Nothing is timed, so there is nothing to prepare."""


def measure(job: Job, truth: Bytes) -> Record:
    """Restore one picture and count its restored entries by what was expected of them."""
    restored, known = job.method.run(truth)
    if restored.error is None:
        raise Unsupported("the method does not know its errors; leave it out")
    border = slice(job.crop, -job.crop or None)
    counted = ~known[border, border]
    expected = restored.error[border, border][counted]
    true = (restored.image[border, border] - truth[border, border].astype(np.float32))[counted]
    return _record(job, Histogram.of(expected, true.astype(np.float32)))


def _record(job: Job, found: Histogram) -> Record:
    """A result without the classes that have no entries at either end."""
    filled = np.flatnonzero(found.counts)
    first, last = (int(filled[0]), int(filled[-1]) + 1) if filled.size else (0, 0)
    counts, expected, true = (
        [float(f"{value:.{_DIGITS}g}") for value in column[first:last]] for column in found.columns
    )
    return Record(
        task=job.method.task,
        method=job.method.name,
        settings=job.method.settings,
        crop=job.crop,
        sha256=job.picture.sha256,
        set=job.set,
        image=job.picture.name,
        first=first,
        counts=counts,
        expected=expected,
        true=true,
        machine=machine(),
    )
