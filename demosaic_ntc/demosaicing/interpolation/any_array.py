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
from demosaic_ntc.demosaicing.interpolation.direction_kernels import (
    Rows,
    add_estimates,
    divide_by_mass,
    square_misses,
)
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
Weights = tuple[Floats, Rows]

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

    @property
    def reach(self) -> int:
        """How many rows above and below a pixel it looks at."""
        return self.down.size // 2


@dataclass(frozen=True, slots=True)
class DiagonalBlur:
    """A Gaussian along diagonals: its taps around them and along each of them, down and right or left."""

    around: Floats
    along: Floats
    turn: int

    def __call__(self, plane: Floats) -> Floats:
        """Filter a plane, zeros beyond its border."""
        return filter_diagonally(filter_separably(plane, self.around, self.around), self.along, self.turn)

    @property
    def reach(self) -> int:
        """How many rows above and below a pixel it looks at."""
        return self.around.size // 2 + self.along.size // 2


Filter = Blur | DiagonalBlur


def halo(cfa: Cfa) -> int:
    """Return how far the values reach on which a pixel of either guess depends."""
    widths = (GREEN, LONG_DIFFERENCE, WINDOW)
    start = sum(radius_for(across, cfa) + radius_for(along, cfa) for along, across in widths)
    of_colours = refine_halo(cfa) // 2  # green is there already
    return start + max(radius_for(COLOUR, cfa), of_colours + ROUNDS * refine_halo(cfa))


def smooth_difference(mosaic: Floats, cfa: Cfa) -> Floats:
    """Interpolate colour differences, taken to be smooth along rows or along columns."""
    masks = float_masks(mosaic, cfa)
    green = _directional_green(mosaic, cfa, masks, LONG_DIFFERENCE)
    picture = np.empty((*mosaic.shape, 3), np.float32)
    picture[..., 1] = green
    blur = _blur(cfa, COLOUR, COLOUR)
    for channel in (0, 2):
        mask = masks[channel]
        difference = _mean((mosaic - green) * mask, mask, blur, cfa)
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
    widths, of_green = (GREEN, difference, WINDOW), mosaic * masks[1]
    total, weights = np.zeros_like(mosaic), masks[1].copy()
    for directed, share in _directions(cfa):
        near, far, window = (directed(along, across) for along, across in widths)
        apart = _mean(of_green, masks[1], near, cfa)
        apart -= mosaic
        whole = _weigh(np.ones_like(mosaic), window, cfa)
        for channel in (0, 2):
            _add_direction(
                apart * masks[channel], masks[channel], far, window, whole, cfa, share, total, weights
            )
    total /= weights
    total += mosaic
    return np.where(masks[1] > 0, mosaic, total)


def _directions(cfa: Cfa) -> Iterator[tuple[Callable[[float, float], Filter], np.float32]]:
    """The makers of filters of given widths along and across each direction, and what each counts."""
    yield lambda along, across: Blur(taps_for(across, cfa), taps_for(along, cfa)), STRAIGHT
    yield lambda along, across: Blur(taps_for(along, cfa), taps_for(across, cfa)), STRAIGHT
    yield lambda along, across: _diagonal_blur(cfa, along, across, 1), DIAGONAL
    yield lambda along, across: _diagonal_blur(cfa, along, across, -1), DIAGONAL


def _diagonal_blur(cfa: Cfa, along: float, across: float, turn: int) -> DiagonalBlur:
    """Return a Gaussian along a diagonal, whose steps are √2 pixels."""
    return DiagonalBlur(taps_for(across, cfa), taps_for(along / sqrt(2), cfa), turn)


def _add_direction(
    difference: Floats,
    mask: Floats,
    far: Filter,
    window: Filter,
    whole: Weights,
    cfa: Cfa,
    share: np.float32,
    total: Floats,
    weights: Floats,
) -> None:
    """Add what one direction says of green minus a colour at its samples.

    With s the smoothed difference, v its local variance and n the local mean of (s - d)², the estimate is
    (v d + n s) / (v + n) and its error variance v n / (v + n), as in zhang_wu2005.
    """
    smooth = _mean(difference, mask, far, cfa)
    square = smooth * smooth
    squares, means = window(square), window(smooth)
    square_misses(smooth, difference, mask, square)
    misses, mass = window(square), _weigh(mask, window, cfa)
    add_estimates(difference, smooth, squares, means, misses, *whole, *mass, mask, share, total, weights)


def _mean(masked: Floats, mask: Floats, blur: Filter, cfa: Cfa) -> Floats:
    """Return the weighted mean of the values on a mask; they are zero off it."""
    sums = blur(masked)
    divide_by_mass(sums, *_weigh(mask, blur, cfa))
    return sums


def _weigh(mask: Floats, blur: Filter, cfa: Cfa) -> Weights:
    """Return what a filter weighs a mask of the array by: a few rows, and which of them stands for each."""
    height, period, reach = len(mask), cfa.period[0], blur.reach
    kept = 2 * (reach + period)
    kept += (height - kept) % period
    rows = np.arange(height)
    if kept >= height:
        return blur(mask), rows
    inner = reach + (rows - reach) % period
    inner[: reach + period], inner[height - reach :] = rows[: reach + period], rows[kept - reach : kept]
    return blur(mask[:kept]), inner


def _blur(cfa: Cfa, sigma_down: float, sigma_right: float) -> Blur:
    """Return a Gaussian wide enough that every pixel sees all channels."""
    return Blur(taps_for(sigma_down, cfa), taps_for(sigma_right, cfa))
