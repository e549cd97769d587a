"""The variance-stabilising curve of noisy samples, and its unbiased inverse to the sRGB curve.

The variance of balanced light is slope·x + floor. Under a curve whose steepness is the inverse of its root
the noise is the same at every level: that is √(x + c), with c = floor / slope (Anscombe's transform, made
general for read noise; c takes 3/8 of the slope more to hold at few photons). One curve serves all three
channels, lest grey lose its neutrality on the way; what it leaves of the differences between them, and
between levels, is told to the engine as the deviation at every level.

The engine averages encoded values, and the mean of encoded noisy light is not the encoded mean: near black
it lies below. The way back is therefore not the inverse of the curve but that of the expectation of encoded
noisy light (M. Mäkitalo and A. Foi, 2013, doi:10.1109/TIP.2012.2202675), computed here by quadrature.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32
from demosaic_ntc.demosaicing.noise import NoiseModel
from demosaic_ntc.io.colour import SRGB_CURVE, tabulate
from demosaic_ntc.raw.levels import Exposure
from demosaic_ntc.raw.photo import RawPhoto

Doubles = NDArray[np.float64]

_LEVELS = 64  # at which the deviation is told to the engine
_STRAIGHT = 0.75  # of c below black, where the root becomes a straight line
# Bounds on c: with less, what is close to black would be steeper than it is to the eye, with more too flat
# for the engine, whose tolerances are parts of full scale.
_LEAST_SHIFT, _LARGEST_SHIFT = 1e-4, 0.05
# In deviations of read noise: nearer to black the root makes noise skew, and similar patches are found where
# such noise is dense instead of around its mean; further off it need not be for that.
_CLEAR_OF_BLACK, _FAR_FROM_BLACK = 4.0, 25.0
_NODES = 21  # of the quadrature
_LOWEST, _HIGHEST = -0.5, 1.5  # encoded values that the way back covers
_HIGHEST_COMPLETED = 3.0  # and where highlights were completed, whose light lies in this range
_COMPLETED = np.linspace(1.5, 6.0, 9_001)
_STEPS = 1 << 18  # of the way back, per unit


@dataclass(frozen=True, slots=True)
class Root:
    """The curve (√(x + c) − √c) / (√(1 + c) − √c): 0 at black, 1 at white, straight on far below black."""

    shift: float  # c

    def encode(self, light: Doubles) -> Doubles:
        """Encoded values of linear light."""
        bent = np.maximum(light, self._knee)
        beyond = (light - bent) * self._slope_of_root(self._knee)
        return (np.sqrt(bent + self.shift) + beyond - math.sqrt(self.shift)) / self._span

    def decode(self, code: Doubles) -> Doubles:
        """Linear light of encoded values."""
        root = code * self._span + math.sqrt(self.shift)
        lowest = math.sqrt(self._knee + self.shift)
        straight = self._knee + (root - lowest) / self._slope_of_root(self._knee)
        return np.where(root < lowest, straight, np.square(np.maximum(root, lowest)) - self.shift)

    def steepness(self, light: Doubles) -> Doubles:
        """The derivative of encoded values with respect to linear light."""
        return np.asarray(0.5 / np.sqrt(np.maximum(light, self._knee) + self.shift) / self._span)

    @property
    def _knee(self) -> float:
        return -_STRAIGHT * self.shift

    @property
    def _span(self) -> float:
        return math.sqrt(1 + self.shift) - math.sqrt(self.shift)

    def _slope_of_root(self, light: float) -> float:
        return 0.5 / math.sqrt(light + self.shift)


@dataclass(frozen=True, slots=True)
class Stabilised:
    """The noise of balanced light, R, G and B, with white at 1, and the curve that stabilises it."""

    slope: tuple[float, float, float]
    floor: tuple[float, float, float]
    curve: Root
    largest: float = 1.0  # light

    @classmethod
    def of(cls, noise: NoiseModel, photo: RawPhoto, exposure: Exposure) -> "Stabilised":
        """The noise of a photo's samples after levels and balance."""
        gains = [gain * photo.span for gain in exposure.gains[:3]]  # from raw light to balanced light
        red, green, blue = (gain * slope for gain, slope in zip(gains, noise.slope, strict=True))
        floors = [gain**2 * floor for gain, floor in zip(gains, noise.floor, strict=True)]
        shift = floors[1] / green + 3 / 8 * green if green > 0 else math.inf
        read = math.sqrt(max(floors))
        least = max(_LEAST_SHIFT, _CLEAR_OF_BLACK * read)
        curve = Root(max(min(shift, max(_LARGEST_SHIFT, _FAR_FROM_BLACK * read)), least))
        return cls((red, green, blue), (floors[0], floors[1], floors[2]), curve)

    def deviation(self, light: Doubles, channel: int) -> Doubles:
        """The standard deviation of balanced light."""
        return np.sqrt(self.slope[channel] * np.maximum(light, 0) + self.floor[channel])

    def levels(self) -> Doubles:
        """The standard deviation of encoded samples at equal steps from 0 to 1, (3, levels)."""
        light = self.curve.decode(np.linspace(0, 1, _LEVELS))
        return np.stack(
            [self.curve.steepness(light) * self.deviation(light, channel) for channel in range(3)]
        )

    def display_deviation(self, light: float = 0.18) -> float:
        """The standard deviation of green at some light under the curve of pictures, white 1."""
        at = np.array([light])
        return float(SRGB_CURVE.steepness(at.astype(np.float32))[0] * self.deviation(at, 1)[0])

    def invert(self, channel: int, removed: float) -> Float32:
        """Values under the sRGB curve at equal steps of values that were encoded, and averaged by the engine.

        ``removed`` is the share of the noise's variance that the average took off: what is still in a value
        must not be corrected for.
        """
        count = round((_HIGHEST - _LOWEST) * _STEPS) + 1
        table = self._invert_steps(channel, removed, np.linspace(-0.25, 2.25, 20_001), 0, count)
        if self.largest <= 1:
            return table
        more = round((_HIGHEST_COMPLETED - _HIGHEST) * _STEPS)
        return np.concatenate([table, self._invert_steps(channel, removed, _COMPLETED, count, more)])

    def _invert_steps(self, channel: int, removed: float, light: Doubles, first: int, count: int) -> Float32:
        """Return some of the steps, from what is expected of light in a range that holds theirs."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        spread = math.sqrt(removed) * self.deviation(light, channel)
        noisy = self.curve.encode(light[:, None] + spread[:, None] * nodes)
        expected = np.maximum.accumulate(noisy @ (weights / weights.sum()))

        def invert_part(step: Doubles) -> Doubles:
            return SRGB_CURVE.encode(np.interp(_LOWEST + (first + step) / _STEPS, expected, light))

        return tabulate(invert_part, count).astype(np.float32)


def convert_to_srgb_curve(stabilised: Stabilised, removed: float) -> Callable[[Float32], Float32]:
    """Return what takes the engine's values, (height, width, 3), to the sRGB curve."""
    tables = [stabilised.invert(channel, removed) for channel in range(3)]

    def convert(image: Float32) -> Float32:
        result = np.empty_like(image)
        for channel, table in enumerate(tables):
            index = (image[..., channel] - np.float32(_LOWEST)) * np.float32(_STEPS) + np.float32(0.5)
            result[..., channel] = np.take(table, index.astype(np.intp), mode="clip")
        return result

    return convert


def steepness_of_way(image: Float32, stabilised: Stabilised) -> Float32:
    """How much steeper the sRGB curve is than the engine's at its values, (height, width, 3)."""
    light = stabilised.curve.decode(image.astype(np.float64))
    steep = SRGB_CURVE.steepness(light.astype(np.float32)) / stabilised.curve.steepness(light)
    return np.asarray(steep, np.float32)
