"""Demosaicing of noisy mosaics whose truth is known.

A part of each picture is sampled by the colour array as it is (gamma-encoded, white 1), noise is added, the
same for all methods, and the results are compared with the clean part: clipped to 0 … 1, not rounded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log10

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32
from demosaic_ntc.errors import InputError, Unsupported
from demosaic_ntc.imaging.cfa import Cfa
from demosaic_ntc.imaging.noise import NoiseModel, estimate_noise

from ..data.crops import Box, part_of
from ..data.sets import PictureSet
from ..methods.method import Method
from .case import Case, Measured, Row, costed, proven
from .likeness import PEAK, Bytes
from .part import Part
from .protocol import versions

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
    def model(self) -> NoiseModel:
        """The variance of samples."""
        variance = (self.sigma / PEAK) ** 2
        if not self.poisson:
            return NoiseModel.given(0.0, variance)
        return NoiseModel.given(variance / (LEVEL + _DARK), variance / (LEVEL + _DARK) * _DARK)

    def mosaic(self, part: NDArray[np.float64]) -> Float32:
        """The noisy samples of a part, white 1; they may be negative, or above 1."""
        samples = CFA.sample(part)
        drawn = np.random.default_rng(self.sigma).standard_normal(samples.shape)
        return np.asarray(samples + self.model.deviation(samples, 0) * drawn, np.float32)


@dataclass(frozen=True)
class NoisePart(Part):
    """Which methods are compared on which pictures, or on a part of each, with which noise."""

    name = "noise"
    keys = ("method", "settings", "noise", "place", "crop", "sha256")
    unbounded = ("cpsnr",)

    sigmas: tuple[int, ...] = ()
    poisson: bool = False
    box: Box | None = None
    crop: int = 10

    @property
    def noises(self) -> list[Noise]:
        """What is added."""
        return [Noise(sigma, self.poisson) for sigma in self.sigmas]

    @property
    def place(self) -> str:
        """The part of the pictures in words."""
        return "whole" if self.box is None else ",".join(map(str, self.box))

    @property
    def work(self) -> Sequence[Noise]:
        """The noises."""
        return self.noises

    def depends(self, method: Method, task: Noise) -> Row:
        """The noise, the part and the crop."""
        return {"noise": task.name, "place": self.place, "crop": self.crop}

    def warm_up(self, case: Case, loaded: Bytes) -> object:
        """Run a method on a small part."""
        part = part_of(loaded, self.box)[:_WARM_UP, :_WARM_UP] / PEAK
        return case.method.run(case.task.mosaic(part), CFA, case.task.model)

    def measure(self, case: Case, loaded: Bytes) -> Measured:
        """Run one method on one noisy mosaic and compare the result with the truth."""
        truth, model = part_of(loaded, self.box) / PEAK, case.task.model
        mosaic = case.task.mosaic(truth)
        restored, cost = costed(lambda: case.method.run(mosaic, CFA, model))
        found = estimate_noise(mosaic, CFA).typical_deviation(LEVEL)
        figures = {
            "height": truth.shape[0],
            "width": truth.shape[1],
            "cpsnr": clipped_cpsnr(restored.image, truth, self.crop),
            "estimated": found / model.typical_deviation(LEVEL),  # from the mosaic, over the true deviation
        }
        return Measured(figures | cost | proven(restored), restored)

    @property
    def protocol(self) -> dict[str, str]:
        """How the figures are made."""
        kind = (
            f"Gaussian, of a variance in proportion to the level (at least .05), σ at {LEVEL:g} of white"
            if self.poisson
            else "white and Gaussian"
        )
        return {
            "mosaic": f"8-bit RGB sampled by {CFA.name}, gamma-encoded as the files are, white 1",
            "noise": f"{', '.join(noise.name for noise in self.noises)} in 255ths of white, {kind}, drawn by "
            "numpy's default_rng(σ), the same for all methods; neither clipped nor rounded, but clipped to "
            "0 … 1 for methods that take samples for exact",
            "part": "left,top,width,height " + self.place if self.box else "whole pictures",
            "CPSNR": f"results clipped to 0 … 1, not rounded, {self.crop} pixels left out on each side; "
            "squared errors pooled over pixels and R, G, B",
            "averaging": "mean over pictures of the per-picture figure (decibels, not errors)",
            "time": "CPU seconds (all threads) per megapixel of the part; kernels are compiled before",
            "versions": versions("scipy", "scikit-image", "PyWavelets"),
            **self.told,
        }

    def conditions(self, each: PictureSet, machines: str) -> str:
        """The conditions of one set's means in a line."""
        return (
            f"{each.name}: {len(each.pictures)} pictures, part {self.place}, {CFA.name}, crop {self.crop}, "
            f"not rounded, mean over pictures of decibels, measured on {machines}"
        )


def clipped_cpsnr(picture: Float32, truth: NDArray[np.float64], crop: int) -> float:
    """The composite PSNR in decibels of a picture clipped to 0 … 1, `crop` pixels left out on each side."""
    if picture.shape != truth.shape or not np.isfinite(picture).all():
        raise Unsupported("the method returned another size, NaN or infinity; leave it out")
    inside = slice(crop, -crop or None)
    squared = float(np.square(np.clip(picture, 0, 1) - truth)[inside, inside].mean())
    return -10 * log10(squared) if squared > 0 else inf
