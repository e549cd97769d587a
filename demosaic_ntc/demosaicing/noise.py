"""How noisy the samples of a mosaic are: a model per colour, given or estimated from the samples themselves.

The variance of a sample is taken for a line in the light it measures, var(x) = slope·x + floor, in linear raw
light where black is 0 and white is 1: the first term is the photons' own, the second that of reading them out
(A. Foi et al., 2008, doi:10.1109/TIP.2008.2001399).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import SIGMA_OF_MAD, Flags, Float32, Float64
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.noise_patches import FEWEST_PATCHES, NoisePatches, find_clipping_levels
from demosaic_ntc.errors import InputError

MID_GREY = 0.18  # of white, in linear light

_FEWEST_TO_JUDGE = 2000  # patches, to say that a given model is wrong
_REFINEMENTS = 3  # patches are chosen again by what was measured
_DARK_ALONE = 1.3  # times the deviation of a level: where lines lie that far above it, it is that of the dark
_LARGEST_RISE = 1.2  # of the deviation by a refinement: patches are chosen better, not noisier
_SHARING_ROUNDS = 2  # the shape of the line from all colours, their factors from each
_DARKEST = 0.01  # of a line's largest variance: less is not compared between colours
_LARGEST_FACTOR = 16.0  # between the variances of colours: more is no sensor's
_FIT_ROUNDS = 8
_TOO_HIGH, _TOO_LOW = 0.25, 4.0  # standard errors from which a bin loses weight: texture only ever adds
_SIGNIFICANT = 3.0  # standard errors that a slope must differ from none
_TINY = 1e-12
_PARALLEL = 1e-12  # of the squares of two columns: less than that apart they are one


@dataclass(frozen=True, slots=True)
class NoiseModel:
    """Noise of red, green and blue samples: variance ``slope·x + floor`` at light x, black 0 and white 1."""

    slope: tuple[float, float, float]
    floor: tuple[float, float, float]

    @classmethod
    def from_user(cls, slope: float | Sequence[float], floor: float | Sequence[float]) -> "NoiseModel":
        """Return the model a user gives, one number for all colours or one for each, or raise."""
        return cls(_check_numbers("slope", slope), _check_numbers("floor", floor))

    @classmethod
    def of_pairs(cls, numbers: Sequence[float]) -> "NoiseModel":
        """Return the model written as slope and floor, one pair for all colours or one for each, or raise."""
        if len(numbers) not in (2, 6):
            raise InputError(
                f"noise has {len(numbers)} numbers; give a slope and a floor, or such a pair for R, G and B"
            )
        return cls.from_user(numbers[::2], numbers[1::2])

    @property
    def is_zero(self) -> bool:
        """Whether the samples are taken to be exact."""
        return not any(self.slope) and not any(self.floor)

    def variance(self, light: float | NDArray[Any], channel: int) -> Float64:
        """Return the variance of samples of a channel, white 1, that measured this light."""
        seen = np.maximum(np.asarray(light, np.float64), 0)
        return np.asarray(self.slope[channel] * seen + self.floor[channel])

    def deviation(self, light: float | NDArray[Any], channel: int) -> Float64:
        """Return the standard deviation of samples of a channel, white 1, that measured this light."""
        return np.asarray(np.sqrt(self.variance(light, channel)))

    def typical_deviation(self, light: float = MID_GREY) -> float:
        """Return the standard deviation at some light, the root mean square over the colours."""
        return math.sqrt(sum(float(self.variance(light, channel)) for channel in range(3)) / 3)

    def of_channel(self, channel: int) -> "NoiseModel":
        """Return the model of samples that all have the noise of one channel."""
        return NoiseModel.from_user(self.slope[channel], self.floor[channel])

    def scale(self, strength: float) -> "NoiseModel":
        """Return the model with every standard deviation times ``strength``."""
        return NoiseModel.from_user(
            [value * strength**2 for value in self.slope], [value * strength**2 for value in self.floor]
        )


def _check_numbers(what: str, values: float | Sequence[float]) -> tuple[float, float, float]:
    """Return a number for each colour, or raise when one is no variance."""
    flat = [float(value) for value in np.atleast_1d(np.asarray(values, np.float64))]
    if len(flat) not in (1, 3):
        raise InputError(f"noise has {len(flat)} numbers as its {what}; give one, or one per colour")
    for value in flat:
        if not (math.isfinite(value) and value >= 0):
            raise InputError(f"noise {what} {value:g} is not a variance; give numbers from zero up")
    red, green, blue = flat if len(flat) == 3 else flat * 3
    return red, green, blue


NOISELESS = NoiseModel((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def estimate_noise(
    mosaic: Float32, cfa: Cfa, *, low: float = -math.inf, high: float = math.inf
) -> NoiseModel:
    """Return the noise of a mosaic (height, width) of linear light, black 0 and white 1, negatives kept.

    Samples up to `low` and from `high` on were clipped. Where too little is left to tell, or nothing varies,
    there is no noise. Calm patches are measured at all lights (`noise_patches`), a line is laid through their
    variances, and patches are chosen again by how calm they are for noise of that line.
    """
    patches = NoisePatches.of(mosaic, cfa, *find_clipping_levels(mosaic, low, high))
    return NOISELESS if patches.light.shape[1] < FEWEST_PATCHES else _fit(patches, _lines)


def noise_factor(
    mosaic: Float32, cfa: Cfa, model: NoiseModel, *, low: float = -math.inf, high: float = math.inf
) -> float | None:
    """Return the ratio of the deviations of a mosaic's noise to a model's; None if it cannot be told.

    The mosaic and its levels are those of `estimate_noise`. One number is fitted instead of a line for each
    colour, which texture misleads far less. Texture adds to most bins, and lossy compression removes noise
    at some lights: of the numbers between the lower envelope of all bins and the lower quartile of those of
    the lights, the one nearest to the model is returned.
    """
    patches = NoisePatches.of(mosaic, cfa, *find_clipping_levels(mosaic, low, high))
    if patches.light.shape[1] < _FEWEST_TO_JUDGE or model.is_zero:
        return None
    envelope = _fit(patches, lambda bins: _scale_to(model, bins, _level))
    usual = _fit(patches, lambda bins: _scale_to(model, bins, _quartile), of_all=False)
    least, most = (fitted.typical_deviation() / model.typical_deviation() for fitted in (envelope, usual))
    return min(max(1.0, least), max(least, most))


def _fit(patches: NoisePatches, fit: Callable[[Float64], NoiseModel], *, of_all: bool = True) -> NoiseModel:
    """Return the model fitted to the bins of calm patches, which are chosen again by what was found."""
    model, usual = fit(np.array(list(patches.measure(of_all=of_all)))), middle(patches.light)
    for _ in range(_REFINEMENTS):
        if model.is_zero:
            break
        deviations = np.stack([model.deviation(patches.light[channel], channel) for channel in range(3)])
        refined = fit(np.array(list(patches.measure(deviations, of_all=of_all))))
        if refined.typical_deviation(usual) > _LARGEST_RISE * model.typical_deviation(usual):
            break  # texture that grows with the light was let in
        model = refined
    return model


def _scale_to(model: NoiseModel, bins: Float64, summarise: Callable[[Float64, Float64], float]) -> NoiseModel:
    """Return a model scaled by a summary of the ratios of the bins' variances to its own."""
    told = np.array([model.variance(light, int(channel)) for channel, light, *_ in bins])
    return model.scale(math.sqrt(summarise(bins[:, 2] / np.maximum(told, _TINY), bins[:, 3])))


def _level(values: Float64, freedoms: Float64) -> float:
    """Return the lower envelope of values, a line without a slope."""
    return _line(np.zeros(len(values)), values, freedoms)[1]


def _quartile(values: Float64, _freedoms: Float64) -> float:
    """Return what a quarter of the values lies below."""
    return float(np.quantile(values, 0.25))


def middle(values: NDArray[Any]) -> float:
    """Return the median of some numbers; numpy's own loads its masked arrays, which takes far longer."""
    places = (values.size - 1) // 2, values.size // 2
    parted = np.partition(values, places, axis=None)
    return (float(parted[places[0]]) + float(parted[places[1]])) / 2


def _lines(bins: Float64) -> NoiseModel:
    """Return the lines through bins (channel, light, variance, degrees of freedom).

    Sensors amplify all colours alike, but for a factor: all bins together tell the shape of the line, and
    those of each colour its factor.
    """
    channel, light = bins[:, 0].astype(np.intp), np.maximum(bins[:, 1], 0)
    variance, freedoms, factors = bins[:, 2], bins[:, 3], np.ones(3)
    slope = floor = 0.0
    for _ in range(_SHARING_ROUNDS):
        slope, floor = _line(light, variance / factors[channel], freedoms)
        if slope == floor == 0:
            return NOISELESS
        shape = slope * light + floor
        factors = np.array([_factor(shape, variance, freedoms, channel == each) for each in range(3)])
    return NoiseModel.from_user(list(slope * factors), list(floor * factors))


def _factor(shape: Float64, variance: Float64, freedoms: Float64, own: Flags) -> float:
    """Return the ratio of the variances of a colour's own bins to a line's; the darkest bins are left out."""
    own = own & (shape > _DARKEST * shape.max())
    if not own.any():
        return 1.0
    level = _level(variance[own] / shape[own], freedoms[own])
    return float(np.clip(level, 1 / _LARGEST_FACTOR, _LARGEST_FACTOR))


def _line(light: Float64, variance: Float64, freedoms: Float64) -> tuple[float, float]:
    """Return slope and floor, neither below zero, of a line through variances, robustly.

    The standard error of a variance v from n degrees of freedom is v·√(2/n), v being that of the line. What
    lies above by more than a part of it is texture and counts by its distance, not by the square of it, and
    far less than what lies below: the line is nearly the lower envelope, as of a quantile regression. Where
    a slope explains hardly more than none, there is none: it would be wrong at lights that were not seen.
    Hardly more is judged by how far the variances usually lie from the line, unless the level without a
    slope is far below the line: that is the noise of the dark alone.
    """
    columns = np.stack([light, np.ones(len(light))], axis=1)
    fitted = np.full(len(light), middle(variance) + _TINY)
    trust = np.ones(len(light))
    for _ in range(_FIT_ROUNDS):
        weight = np.sqrt(freedoms * trust) / fitted
        (slope, floor), left = _nonnegative_fit(columns * weight[:, None], variance * weight)
        fitted = slope * light + floor + _TINY
        away = (variance / fitted - 1) * np.sqrt(freedoms / 2)
        trust = 1 / np.maximum(1, np.where(away > 0, away / _TOO_HIGH, -away / _TOO_LOW))
    level = max(float((variance * weight) @ weight / (weight @ weight)), 0.0)
    _, left_by_level = _fit_with_squares(columns * weight[:, None], variance * weight, 0.0, level)
    is_dark_alone = middle(fitted) > _DARK_ALONE**2 * level
    usual = 1.0 if is_dark_alone else max(1.0, SIGMA_OF_MAD * middle(np.abs(away)))
    if (left_by_level - left) / 2 <= (_SIGNIFICANT * usual) ** 2:
        return 0.0, level
    return slope, floor


def _nonnegative_fit(columns: Float64, target: Float64) -> tuple[tuple[float, float], float]:
    """Return the two coefficients, neither below zero, of the least squares, and the sum of these.

    Of two, trying which are zero is simple, and the normal equations take a tenth of a library's time.
    """
    (one, both), (_, other) = columns.T @ columns
    wanted = columns.T @ target
    apart = one * other - both * both
    if apart > _PARALLEL * one * other:
        found = (wanted[0] * other - wanted[1] * both) / apart, (wanted[1] * one - wanted[0] * both) / apart
        if min(found) >= 0:
            return _fit_with_squares(columns, target, *found)
    slope = max(float(wanted[0] / one), 0.0) if one > 0 else 0.0
    floor = max(float(wanted[1] / other), 0.0) if other > 0 else 0.0
    fits = (_fit_with_squares(columns, target, *fit) for fit in ((slope, 0.0), (0.0, floor)))
    return min(fits, key=lambda fit: fit[1])


def _fit_with_squares(
    columns: Float64, target: Float64, slope: float, floor: float
) -> tuple[tuple[float, float], float]:
    """Return two coefficients, and the sum of the squares that they leave."""
    left = target - columns[:, 0] * slope - columns[:, 1] * floor
    return (float(slope), float(floor)), float(left @ left)
