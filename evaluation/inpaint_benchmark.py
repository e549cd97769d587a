"""Inpainting methods measured on pictures whose truth is known, one result after the other.

Of each picture, or of a part of it, a mask takes pixels away, all channels at once and the same ones for
every method. Results are rounded to 8 bit and compared with the truth: over the whole part, as in the
literature, and over the missing pixels alone, which does not flatter masks that take little.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

import numpy as np

from demosaic_ntc import Restored

from .crops import CropBox
from .datasets import Picture, PictureSet
from .inpainters import Flags, Inpainter
from .masks import make_mask
from .pictures import Bytes, cpsnr, structural_likeness
from .running import Cost, Refusal, comparable, costed, facts, run_all

# The side of the crop on which a method runs untimed before it is measured.
_WARM_UP = 96


@dataclass(frozen=True, slots=True)
class Damage:
    """What happens to pictures: a mask drawn by seed, on a part of each picture or on all of it."""

    mask: str
    seed: int = 0
    box: CropBox | None = None

    @property
    def place(self) -> str:
        """The part of the picture in words."""
        box = self.box
        return "whole" if box is None else f"{box.left},{box.top},{box.width},{box.height}"

    def part(self, picture: Bytes) -> Bytes:
        """The part of a picture that is damaged."""
        if self.box is None:
            return picture
        return np.ascontiguousarray(picture[self.box.checked(picture.shape).place])

    def missing(self, part: Bytes) -> Flags:
        """The pixels that are taken away from a part."""
        return make_mask(self.mask, (part.shape[0], part.shape[1]), self.seed)


@dataclass(frozen=True, slots=True)
class Key:
    """What a result depends on: two results with the same key are interchangeable."""

    method: str
    settings: str
    mask: str
    mask_sha256: str  # of the flags themselves: a mask's file may have changed under its name
    place: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Record:
    """What one method did on one damaged picture."""

    method: str
    settings: str
    mask: str
    mask_sha256: str
    place: str
    sha256: str
    seed: int
    set: str
    image: str
    height: int
    width: int
    missing_share: float
    cpsnr: float
    psnr_missing: float
    ssim: float
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
        return Key(self.method, self.settings, self.mask, self.mask_sha256, self.place, self.sha256)

    @property
    def megapixels(self) -> float:
        """The size of the damaged part."""
        return self.height * self.width / 1e6


@dataclass(frozen=True, slots=True)
class Job:
    """One method to be run on one damaged picture."""

    set: str
    picture: Picture
    damage: Damage
    method: Inpainter

    @property
    def key(self) -> Key:
        """What the result will depend on."""
        method, damage = self.method, self.damage
        box, picture = damage.box, self.picture
        shape = (picture.height, picture.width) if box is None else (box.height, box.width)
        flags = _mask_sha256(damage.mask, shape, damage.seed)
        return Key(method.name, method.settings, damage.mask, flags, damage.place, picture.sha256)

    @property
    def warmth(self) -> str:
        """What must have been run once, untimed, before time is taken: other masks take other ways."""
        return f"{self.method.name} {self.damage.mask}"


@lru_cache
def _mask_sha256(mask: str, shape: tuple[int, int], seed: int) -> str:
    """The checksum of a mask; every job asks for it."""
    return flags_sha256(make_mask(mask, shape, seed))


def flags_sha256(flags: Flags) -> str:
    """The checksum of a mask and its shape."""
    return sha256(f"{flags.shape}".encode() + np.packbits(flags).tobytes()).hexdigest()


def plan(
    sets: Iterable[PictureSet], damages: Collection[Damage], methods: Collection[Inpainter]
) -> list[Job]:
    """All jobs, picture by picture."""
    return [
        Job(each.name, picture, damage, method)
        for each in sets
        for picture in each.pictures
        for damage in damages
        for method in methods
    ]


def run(jobs: Iterable[Job]) -> Iterator[Record | Refusal]:
    """Do the jobs one after the other; a method that refuses a picture does not stop the others."""
    return run_all(jobs, warm_up, measure)


def warm_up(job: Job, truth: Bytes) -> None:
    """Run a method on a small part with the same kind of mask: kernels are compiled before time is taken."""
    part = np.ascontiguousarray(job.damage.part(truth)[:_WARM_UP, :_WARM_UP])
    job.method.run(part, job.damage.missing(part))


def measure(job: Job, truth: Bytes) -> Record:
    """Run one method on one damaged picture and compare the result with the truth."""
    part = job.damage.part(truth)
    missing = job.damage.missing(part)
    damaged = np.where(missing[..., None], 0, part).astype(np.uint8)
    restored, cost = costed(lambda: job.method.run(damaged, missing))
    return _record(job, part, missing, restored, cost)


def _record(job: Job, truth: Bytes, missing: Flags, restored: Restored, cost: Cost) -> Record:
    """A result with its likeness to the truth and what it cost."""
    picture = comparable(restored, truth)
    return Record(
        method=job.method.name,
        settings=job.method.settings,
        mask=job.damage.mask,
        mask_sha256=flags_sha256(missing),
        place=job.damage.place,
        sha256=job.picture.sha256,
        seed=job.damage.seed,
        set=job.set,
        image=job.picture.name,
        height=truth.shape[0],
        width=truth.shape[1],
        missing_share=float(missing.mean()),
        cpsnr=cpsnr(picture, truth),
        psnr_missing=cpsnr(picture[missing], truth[missing]),
        ssim=structural_likeness(picture, truth),
        **facts(restored, cost),
    )
