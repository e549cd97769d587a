"""Demosaicing methods measured on pictures whose truth is known, one result after the other.

Each picture is sampled by the colour array as it is (8 bit, gamma-encoded, no noise), demosaiced, clipped and
rounded to 8 bit, and compared with itself.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from demosaic_ntc import Restored
from demosaic_ntc.imaging.cfa import Cfa

from .datasets import Picture, PictureSet
from .demosaicers import Demosaicer
from .pictures import Bytes, cpsnr, likeness
from .running import Cost, Refusal, comparable, costed, facts, run_all

# The side of the crop on which a method runs untimed before it is measured.
_WARM_UP = 96


@dataclass(frozen=True, slots=True)
class Key:
    """What a result depends on: two results with the same key are interchangeable."""

    method: str
    settings: str
    cfa: str
    crop: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Record:
    """What one method did on one picture; likeness inside the crop, except where the name says crop 0."""

    method: str
    settings: str
    cfa: str
    crop: int
    sha256: str
    set: str
    image: str
    height: int
    width: int
    cpsnr: float
    cpsnr_crop0: float
    psnr_red: float
    psnr_green: float
    psnr_blue: float
    ssim: float
    nmse: float
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    groups: int | None
    certified: int | None
    worst_gap: float | None
    machine: str

    @property
    def key(self) -> Key:
        """What this result depends on."""
        return Key(self.method, self.settings, self.cfa, self.crop, self.sha256)

    @property
    def megapixels(self) -> float:
        """The size of the picture."""
        return self.height * self.width / 1e6


@dataclass(frozen=True, slots=True)
class Job:
    """One method to be run on one picture."""

    set: str
    picture: Picture
    method: Demosaicer
    cfa: Cfa
    crop: int

    @property
    def key(self) -> Key:
        """What the result will depend on."""
        return Key(self.method.name, self.method.settings, self.cfa.name, self.crop, self.picture.sha256)

    @property
    def warmth(self) -> str:
        """What must have been run once, untimed, before time is taken."""
        return self.method.name


def plan(sets: Iterable[PictureSet], methods: Collection[Demosaicer], cfa: Cfa, crop: int) -> list[Job]:
    """All jobs, picture by picture."""
    return [
        Job(each.name, picture, method, cfa, crop)
        for each in sets
        for picture in each.pictures
        for method in methods
    ]


def run(jobs: Iterable[Job]) -> Iterator[Record | Refusal]:
    """Do the jobs one after the other; a method that refuses a picture does not stop the others."""
    return run_all(jobs, warm_up, measure)


def warm_up(job: Job, truth: Bytes) -> None:
    """Run a method on the middle of a picture: kernels are compiled and loaded before time is taken."""
    starts = [
        (size - min(size, _WARM_UP)) // 2 // period * period
        for size, period in zip(truth.shape[:2], job.cfa.period, strict=True)
    ]
    rows, columns = (slice(start, start + _WARM_UP) for start in starts)
    job.method.run(job.cfa.sample(truth[rows, columns]), job.cfa)


def measure(job: Job, truth: Bytes) -> Record:
    """Run one method on one picture and compare the result with the truth."""
    mosaic = job.cfa.sample(truth)
    restored, cost = costed(lambda: job.method.run(mosaic, job.cfa))
    return _record(job, truth, restored, cost)


def _record(job: Job, truth: Bytes, restored: Restored, cost: Cost) -> Record:
    """A result with its likeness to the truth and what it cost."""
    picture = comparable(restored, truth)
    inside = likeness(picture, truth, job.crop)
    return Record(
        method=job.method.name,
        settings=job.method.settings,
        cfa=job.cfa.name,
        crop=job.crop,
        sha256=job.picture.sha256,
        set=job.set,
        image=job.picture.name,
        height=job.picture.height,
        width=job.picture.width,
        cpsnr=inside.cpsnr,
        cpsnr_crop0=cpsnr(picture, truth),
        psnr_red=inside.red,
        psnr_green=inside.green,
        psnr_blue=inside.blue,
        ssim=inside.ssim,
        nmse=inside.nmse,
        **facts(restored, cost),
    )
