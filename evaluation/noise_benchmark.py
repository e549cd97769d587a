"""Demosaicing of noisy mosaics whose truth is known, one result after the other.

A part of each picture is sampled by the colour array as it is (gamma-encoded, white 1), noise is added, the
same for all methods, and the results are compared with the clean part: clipped to 0 … 1, not rounded.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from math import inf, log10

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc import Restored
from demosaic_ntc.arrays import Float32
from demosaic_ntc.errors import InputError, Unsupported
from demosaic_ntc.imaging.cfa import Cfa
from demosaic_ntc.imaging.noise import NoiseModel, estimate_noise

from .crops import CropBox
from .datasets import Picture, PictureSet
from .denoisers import Denoiser
from .pictures import PEAK, Bytes
from .running import Cost, Refusal, costed, facts, run_all

CFA = Cfa.named("RGGB")

#: The level at which noise has the deviation that it is named by.
LEVEL = 0.5

# Of noise in proportion to the light, so much is there in the dark, as if the light were never less.
_DARK = 0.05
# The side of the crop on which a method runs untimed before it is measured.
_WARM_UP = 64


@dataclass(frozen=True, slots=True)
class Noise:
    """What is added to mosaics: Gaussian noise of a deviation in 255ths of white, drawn by it as the seed."""

    sigma: int
    poisson: bool = False  # in proportion to the light, and of this deviation at half of white
    box: CropBox | None = None  # of each picture

    def __post_init__(self) -> None:
        """Check that there is some."""
        if not 1 <= self.sigma <= PEAK:
            raise InputError(
                f"noise of {self.sigma} is not in 1 … 255, the 255ths of white; give e.g. 5,10,20"
            )

    @property
    def name(self) -> str:
        """The noise in a word."""
        return f"σ {self.sigma}" + (" of light" if self.poisson else "")

    @property
    def place(self) -> str:
        """The part of the picture in words."""
        box = self.box
        return "whole" if box is None else f"{box.left},{box.top},{box.width},{box.height}"

    @property
    def model(self) -> NoiseModel:
        """The variance of samples."""
        variance = (self.sigma / PEAK) ** 2
        if not self.poisson:
            return NoiseModel.given(0.0, variance)
        return NoiseModel.given(variance / (LEVEL + _DARK), variance / (LEVEL + _DARK) * _DARK)

    def part(self, picture: Bytes) -> NDArray[np.float64]:
        """The part of a picture that is measured, white 1."""
        shown = picture if self.box is None else picture[self.box.checked(picture.shape).place]
        return shown / PEAK

    def mosaic(self, part: NDArray[np.float64]) -> Float32:
        """The noisy samples of a part; they may be negative, or above 1."""
        samples = CFA.sample(part)
        drawn = np.random.default_rng(self.sigma).standard_normal(samples.shape)
        return np.asarray(samples + self.model.deviation(samples, 0) * drawn, np.float32)


@dataclass(frozen=True, slots=True)
class Key:
    """What a result depends on: two results with the same key are interchangeable."""

    method: str
    settings: str
    noise: str
    place: str
    crop: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Record:
    """What one method did on one noisy mosaic."""

    method: str
    settings: str
    noise: str
    place: str
    crop: int
    sha256: str
    set: str
    image: str
    height: int
    width: int
    cpsnr: float
    estimated: float  # the deviation at half of white that is estimated from the mosaic, over the true one
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
        return Key(self.method, self.settings, self.noise, self.place, self.crop, self.sha256)

    @property
    def megapixels(self) -> float:
        """The size of the part."""
        return self.height * self.width / 1e6


@dataclass(frozen=True, slots=True)
class Job:
    """One method to be run on one noisy mosaic."""

    set: str
    picture: Picture
    noise: Noise
    method: Denoiser
    crop: int

    @property
    def key(self) -> Key:
        """What the result will depend on."""
        method, noise = self.method, self.noise
        return Key(method.name, method.settings, noise.name, noise.place, self.crop, self.picture.sha256)

    @property
    def warmth(self) -> str:
        """What must have been run once, untimed, before time is taken."""
        return self.method.name


def plan(
    sets: Iterable[PictureSet], noises: Collection[Noise], methods: Collection[Denoiser], crop: int
) -> list[Job]:
    """All jobs, picture by picture."""
    return [
        Job(each.name, picture, noise, method, crop)
        for each in sets
        for picture in each.pictures
        for noise in noises
        for method in methods
    ]


def run(jobs: Iterable[Job]) -> Iterator[Record | Refusal]:
    """Do the jobs one after the other; a method that refuses a picture does not stop the others."""
    return run_all(jobs, warm_up, measure)


def warm_up(job: Job, truth: Bytes) -> None:
    """Run a method on a small part: kernels are compiled before time is taken."""
    part = job.noise.part(truth)[:_WARM_UP, :_WARM_UP]
    job.method.run(job.noise.mosaic(part), CFA, job.noise.model)


def measure(job: Job, truth: Bytes) -> Record:
    """Run one method on one noisy mosaic and compare the result with the truth."""
    part = job.noise.part(truth)
    mosaic = job.noise.mosaic(part)
    restored, cost = costed(lambda: job.method.run(mosaic, CFA, job.noise.model))
    found = estimate_noise(mosaic, CFA).typical_deviation(LEVEL)
    return _record(job, part, restored, cost, found / job.noise.model.typical_deviation(LEVEL))


def _record(job: Job, truth: NDArray[np.float64], restored: Restored, cost: Cost, estimated: float) -> Record:
    """A result with its likeness to the truth and what it cost."""
    return Record(
        method=job.method.name,
        settings=job.method.settings,
        noise=job.noise.name,
        place=job.noise.place,
        crop=job.crop,
        sha256=job.picture.sha256,
        set=job.set,
        image=job.picture.name,
        height=truth.shape[0],
        width=truth.shape[1],
        cpsnr=likeness(restored.image, truth, job.crop),
        estimated=estimated,
        **facts(restored, cost),
    )


def likeness(picture: Float32, truth: NDArray[np.float64], crop: int) -> float:
    """The composite PSNR in decibels of a picture clipped to 0 … 1, `crop` pixels left out on each side."""
    if picture.shape != truth.shape or not np.isfinite(picture).all():
        raise Unsupported("the method returned another size, NaN or infinity; leave it out")
    inside = slice(crop, -crop or None)
    squared = float(np.square(np.clip(picture, 0, 1) - truth)[inside, inside].mean())
    return -10 * log10(squared) if squared > 0 else inf
