"""Two first guesses for any colour array: X-Trans, Quad-Bayer, or what a user writes down.

Both carry a Bayer method over to arbitrary sampling by normalised convolution, the weighted mean of the
samples that are there (Knutsson and Westin 1993, doi:10.1109/CVPR.1993.341081); beyond the border there are
none. `smooth_difference` follows directional LMMSE (Zhang and Wu 2005, doi:10.1109/TIP.2005.857260):
differences green minus colour along rows, columns and both diagonals, shrunk and fused by their local
variances; it wins where colour differences are smooth. Without the diagonals, slanted edges between black and
white would be tinted by a percent. `interpolate_residuals` starts from the same with short filters and then
alternates guided residual interpolations (Kiku et al. 2016, doi:10.1109/TIP.2016.2518082; iterated as by
Ye and Ma 2015, doi:10.1109/TIP.2015.2482899) of red and blue from green, and of green from red and blue.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.interpolation.kernels import filter_diagonally, filter_separably
from demosaic_ntc.demosaicing.interpolation.refine import (
    ROUGH_AND_SPARSE,
    colours_from_green,
    float_masks,
    next_round,
    radius_for,
    taps_for,
)
from demosaic_ntc.demosaicing.interpolation.refine import halo as refine_halo

Floats = NDArray[np.float32]
Filter = Callable[[Floats], Floats]

SMALL_VARIANCE = np.float32(1e-7)

# Standard deviations in pixels, along and across a direction.
GREEN = (1.0, 0.3)
LONG_DIFFERENCE, SHORT_DIFFERENCE = (3.0, 1.4), (1.5, 0.9)
WINDOW = (2.0, 1.0)
COLOUR = 0.9
ROUNDS = 2

# What a direction's estimate counts besides its variance: edges along rows and columns are commoner.
STRAIGHT, DIAGONAL = np.float32(1.0), np.float32(0.3)


@dataclass(frozen=True, slots=True)
class Blur:
    """A separable Gaussian: its taps along each column and along each row."""

    down: Floats
    right: Floats

    def __call__(self, plane: Floats) -> Floats:
        """Filter a plane, zeros beyond its border."""
        return filter_separably(plane, self.down, self.right)


@dataclass(frozen=True, slots=True)
class DiagonalBlur:
    """A Gaussian along diagonals: its taps around them and along each of them, down and right or left."""

    around: Floats
    along: Floats
    turn: int

    def __call__(self, plane: Floats) -> Floats:
        """Filter a plane, zeros beyond its border."""
        return filter_diagonally(filter_separably(plane, self.around, self.around), self.along, self.turn)


def halo(cfa: Cfa) -> int:
    """Return how far the values reach on which a pixel of either guess depends."""
    widths = (GREEN, LONG_DIFFERENCE, WINDOW)
    start = sum(radius_for(across, cfa) + radius_for(along, cfa) for along, across in widths)
    return start + max(radius_for(COLOUR, cfa), (1 + ROUNDS) * refine_halo(cfa))


def smooth_difference(mosaic: Floats, cfa: Cfa) -> Floats:
    """Interpolate colour differences, taken to be smooth along rows or along columns."""
    masks = float_masks(mosaic, cfa)
    green = _directional_green(mosaic, cfa, masks, LONG_DIFFERENCE)
    picture = np.empty((*mosaic.shape, 3), np.float32)
    picture[..., 1] = green
    blur = _blur(cfa, COLOUR, COLOUR)
    for channel in (0, 2):
        mask = masks[channel]
        difference = _mean((mosaic - green) * mask, mask, blur)
        picture[..., channel] = np.where(mask > 0, mosaic, green + difference)
    return picture


def interpolate_residuals(mosaic: Floats, cfa: Cfa) -> Floats:
    """Interpolate the residuals of guided regressions between the channels, in turns."""
    green = _directional_green(mosaic, cfa, float_masks(mosaic, cfa), SHORT_DIFFERENCE)
    picture = colours_from_green(green, mosaic, cfa, ROUGH_AND_SPARSE)
    for _ in range(ROUNDS):
        picture = next_round(picture, mosaic, cfa, ROUGH_AND_SPARSE)
    return picture


def _directional_green(
    mosaic: Floats, cfa: Cfa, masks: list[Floats], difference: tuple[float, float]
) -> Floats:
    """Return green everywhere: the measured colour plus a difference fused from four directions.

    Each counts by the inverse of its squared error variance.
    """
    widths = (GREEN, difference, WINDOW)
    total, mass = np.zeros_like(mosaic), np.zeros_like(mosaic)
    for directed, share in _directions(cfa):
        estimate, variance = _along(mosaic, masks, *(directed(along, across) for along, across in widths))
        weight = share / np.square(variance)
        total += weight * estimate
        mass += weight
    return np.where(masks[1] > 0, mosaic, mosaic + total / mass)


def _directions(cfa: Cfa) -> Iterator[tuple[Callable[[float, float], Filter], np.float32]]:
    """The makers of filters of given widths along and across each direction, and what each counts."""
    yield lambda along, across: Blur(taps_for(across, cfa), taps_for(along, cfa)), STRAIGHT
    yield lambda along, across: Blur(taps_for(along, cfa), taps_for(across, cfa)), STRAIGHT
    yield lambda along, across: _diagonal_blur(cfa, along, across, 1), DIAGONAL
    yield lambda along, across: _diagonal_blur(cfa, along, across, -1), DIAGONAL


def _diagonal_blur(cfa: Cfa, along: float, across: float, turn: int) -> DiagonalBlur:
    """Return a Gaussian along a diagonal, whose steps are √2 pixels."""
    return DiagonalBlur(taps_for(across, cfa), taps_for(along / sqrt(2), cfa), turn)


def _along(
    mosaic: Floats, masks: list[Floats], near: Filter, far: Filter, window: Filter
) -> tuple[Floats, Floats]:
    """Return green minus the measured colour by one direction's filters, and its error variance.

    With s the smoothed difference, v its local variance and n the local mean of (s - d)², the estimate is
    (v d + n s) / (v + n) and its error variance v n / (v + n), as in zhang_wu2005.
    """
    green = _mean(mosaic * masks[1], masks[1], near)
    total = window(np.ones_like(mosaic))
    estimate, variance = np.zeros_like(mosaic), np.full_like(mosaic, SMALL_VARIANCE)
    for channel in (0, 2):
        mask = masks[channel]
        d = (green - mosaic) * mask
        s = _mean(d, mask, far)
        v = np.maximum(window(s * s) / total - (window(s) / total) ** 2, 0) + SMALL_VARIANCE
        n = _mean((s - d) ** 2 * mask, mask, window) + SMALL_VARIANCE
        estimate += mask * ((d * v + s * n) / (v + n))
        variance += mask * (v * n / (v + n))
    return estimate, variance


def _mean(masked: Floats, mask: Floats, blur: Filter) -> Floats:
    """Return the weighted mean of the values on a mask; they are zero off it."""
    return blur(masked) / blur(mask)


def _blur(cfa: Cfa, sigma_down: float, sigma_right: float) -> Blur:
    """Return a Gaussian wide enough that every pixel sees all channels."""
    return Blur(taps_for(sigma_down, cfa), taps_for(sigma_right, cfa))
