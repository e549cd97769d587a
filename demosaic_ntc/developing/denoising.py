"""How much noise is removed from a photo, under which curve, and how much is given back as grain.

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
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.noise import NoiseModel
from demosaic_ntc.demosaicing.quantised_planes import MosaicSamples
from demosaic_ntc.engine.checks import Quality
from demosaic_ntc.io.colour import SRGB_CURVE, tabulate
from demosaic_ntc.io.pixels import LazyImage
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


# The methods that remove noise; interpolations show it.
DENOISING_METHODS = ("gaussian", "ntc")

# How much more strongly colour noise is removed where nothing else is asked, and how many times the noise
# there is the engine is told of at strength 1. Chosen by `benchmark texture` on two charts: more smooths skin
# and fabric, and gains no decibels.
COLOUR_OVER_BRIGHTNESS = 1.1
_OF_NOISE = 0.77
_HARDLY_SEEN = 0.5 / 255  # under the sRGB curve at mid grey: less noise is left alone
_LEFT_BY_FAST = 1 / 255  # and so much is at that quality: to remove it takes a third of the time
_GLANCE, _GLANCE_ROWS = 96, 12  # of so many rows, so many first are looked at: whole periods of any array
_MOST_GLANCED = 2_000_000  # samples: of large pictures fewer rows are looked at


@dataclass(frozen=True, slots=True)
class Strengths:
    """How much noise is removed, in multiples of what is usual."""

    brightness: float = 1.0
    colour: float = COLOUR_OVER_BRIGHTNESS

    @property
    def engine(self) -> float:
        """How many times the noise there is the engine is told of."""
        return _OF_NOISE * self.strongest

    @property
    def strongest(self) -> float:
        """The larger of the two."""
        return max(self.brightness, self.colour)

    @property
    def luma_only(self) -> "Strengths | None":
        """The same for a photo that has no colours; None if no noise is removed."""
        return Strengths(self.brightness, self.brightness) if self.brightness > 0 else None

    @property
    def grain(self) -> float:
        """The share of what was removed that brightness gets back."""
        return 1 - self.brightness / self.strongest if self.strongest > 0 else 0.0

    @property
    def removed(self) -> float:
        """The share of the noise's variance that is taken off."""
        return 1 - self.grain**2 if self.strongest > 0 else 0.0


AS_IT_IS = Strengths(0.0, 0.0)
#: For those who want more texture, and take some grain with it.
FOR_TEXTURE = Strengths(0.7, 0.95)


def strengths_of(
    brightness: float | Literal["auto", "texture", "off"], colour: float | None = None
) -> Strengths | None:
    """Return the strengths asked for, that of colour along with brightness; None if no noise is removed."""
    if brightness == "off":
        return None
    named = {"auto": Strengths(), "texture": FOR_TEXTURE}
    if isinstance(brightness, str):
        asked = named[brightness]
    else:
        asked = Strengths(brightness, COLOUR_OVER_BRIGHTNESS * brightness)
    if colour is not None:
        asked = replace(asked, colour=colour)
    return asked if asked.strongest > 0 else None


def stabilise_noise(
    noise: NoiseModel, photo: RawPhoto, exposure: Exposure, *, always: bool
) -> Stabilised | None:
    """The noise of a photo's balanced light; None where there is none, or too little to be seen."""
    found = Stabilised.of(noise, photo, exposure)
    worth_while = found.display_deviation() > (0.0 if always else _HARDLY_SEEN)
    return found if worth_while and not noise.is_zero else None


def leave_hardly_seen(
    strengths: Strengths | None, stabilised: Stabilised | None, quality: Quality
) -> Strengths | None:
    """Return the strengths for a mosaic's noise where it is removed unasked: none, if that takes too long."""
    if stabilised is None or quality != "fast" or stabilised.display_deviation() > _LEFT_BY_FAST:
        return strengths
    return AS_IT_IS


def add_grain(
    image: LazyImage, samples: MosaicSamples, cfa: Cfa, share: float, deviations: NDArray[np.float64]
) -> LazyImage:
    """Give back, to all channels alike, a share of what samples lost.

    ``deviations`` are those of R, G and B at equal steps of the level, (3, levels), by which the loss is
    scaled to what green would have lost: else grain would show the pattern of the array. What the model
    misses of the ratio between the colours is measured: the middle loss of each, in deviations.
    """
    told: Float32 = np.maximum(deviations, 1e-12).astype(np.float32)

    def losses(part: Float32, rows: slice, columns: slice) -> tuple[Float32, NDArray[np.intp]]:
        channels = cfa.window(rows, columns).astype(np.intp)
        return _losses(part, samples.window(rows, columns), channels, told), channels

    middle = _middle_losses(image, losses)

    def add(part: Float32, rows: slice, columns: slice) -> Float32:
        loss, channels = losses(part, rows, columns)
        loss *= (middle[1] / middle)[channels]
        green = told[1, _level(part[..., 1], told)]
        return np.asarray(part + (np.float32(share) * loss * green)[..., None])

    return image.map(add)


def _losses(
    image: Float32, samples: Float32, channels: NDArray[np.intp], deviations: Float32
) -> NDArray[np.float32]:
    """Return what samples lost, (height, width), in deviations of their noise."""
    own = np.take_along_axis(image, channels[..., None], axis=2)[..., 0]
    return np.asarray((samples - own) / deviations[channels, _level(own, deviations)], np.float32)


def _middle_losses(
    image: LazyImage, losses: Callable[[Float32, slice, slice], tuple[Float32, NDArray[np.intp]]]
) -> NDArray[np.float32]:
    """Return the median size of what samples of each colour lost, from some of the rows."""
    lost: list[list[Float32]] = [[], [], []]
    height, width = image.shape[:2]
    apart = max(1, image.shape[0] * image.shape[1] * _GLANCE_ROWS // (_GLANCE * _MOST_GLANCED)) * _GLANCE
    for top in range(0, height, apart):
        rows, columns = slice(top, min(top + _GLANCE_ROWS, height)), slice(0, width)
        loss, which = losses(np.asarray(image[rows]), rows, columns)
        for channel in range(3):
            lost[channel].append(np.abs(loss[which == channel]))
    found = [np.concatenate(each) for each in lost]
    middle = [float(np.median(each)) if each.size else 0.0 for each in found]  # of a colour without samples
    return np.maximum(np.array(middle, np.float32), np.float32(1e-6))


def _level(values: Float32, deviations: Float32) -> NDArray[np.intp]:
    """Return the step of the level that values are closest to."""
    last = deviations.shape[1] - 1
    return np.asarray(np.clip(np.rint(values * last), 0, last), np.intp)
