"""Clipped channels of pixels, completed from what is known of them: predictions above bounds.

All values are cube roots of balanced light, called roots; flags and cells are those of
`window_kernels`.
"""

import math

import numpy as np
from numba import boolean, float32, float64, int64, uint8
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.demosaicing.highlights.window_kernels import ALL_CHANNELS, BLOCK, CELL, EVENNESS
from demosaic_ntc.jit.compiled import kernel, precompile, step

#: Planes of the grid of predictions: what is added to the mean of two channels, what their difference is
#: multiplied by, variances of what is left after that, and how far below both others green may be completed
#: to lie.
OFFSET, SLOPE, SPREAD, MAGENTA, PREDICTIONS = 0, 3, 6, 9, 10

#: Planes of the grid of tints: red and blue minus green, and the variances of red minus green, of blue minus
#: green and of red minus blue.
TINT_SPREAD, TINTS = 2, 5

#: Sums of the tints of pixels: their weight, the tints, and products 00, 01, 11.
TINT_SUMS = 6

_PARTLY = (float32[:, :, ::1], uint8[:, ::1], float32[:, :, ::1], boolean[::1], float32[:, :, ::1])

_SOFT = 0.7  # of the deviation by which a prediction may miss: how soft the bound is
_LEAST_SPREAD = 1e-4
_FAR_BELOW = -20.0  # deviations: from here on the mean above a bound is a series
_FITS, _UNFIT = 0.01, 0.1  # how far below its bound a prediction may lie; the weight of tints where it does
_VIVID_PAIR = 0.5  # how far two channels may lie from the third: more is drawn in
_VIVID_CORE = 0.3  # the same where nothing is known


@precompile(*_PARTLY, int64, float64, float64[:, :, ::1])
@kernel
def complete_single(
    roots: Float32,
    flags: NDArray[np.uint8],
    bounds: Float32,
    blocks: Flags,
    grid: Float32,
    top: int,
    weight: float,
    sums: NDArray[np.float64],
) -> None:
    """Complete the roots of pixels with one flag in place, and add their tints to the sums of their cells.

    `bounds`, (rows, columns, 3), are the roots of the levels at the cells of the whole mosaic, `grid` its
    predictions, (rows, columns, PREDICTIONS), and `top` the row of the mosaic that the first one here is.
    `sums`, (rows, columns, TINT_SUMS), are of the cells of these rows; a pixel has a `weight`.
    """
    bound = np.empty(3)
    for row in range(flags.shape[0]):
        for column in range(flags.shape[1]):
            flag = flags[row, column]
            if not blocks[column // BLOCK] or not (flag == 1 or flag == 2 or flag == 4):
                continue
            pixel = roots[row, column]
            _read_bounds(bounds, top + row, column, bound)
            k = 0 if flag == 1 else (1 if flag == 2 else 2)
            i, j = _others(k)
            predicted = _predict(grid, top + row, column, k, pixel[i], pixel[j])
            trusted = weight * _trust(predicted - bound[k], max(pixel[i] / bound[i], pixel[j] / bound[j]))
            variance = _interpolate(grid, top + row, column, SPREAD + k)
            pixel[k] = _mean_above(predicted, bound[k], variance)
            _limit_magenta(pixel, flag, _interpolate(grid, top + row, column, MAGENTA))
            _add_tint(pixel, trusted, sums[row // CELL, column // CELL])


@precompile(*_PARTLY, float32[:, :, ::1], int64, float64[:, :, ::1])
@kernel
def complete_pairs(
    roots: Float32,
    flags: NDArray[np.uint8],
    bounds: Float32,
    blocks: Flags,
    grid: Float32,
    tints: Float32,
    top: int,
    sums: NDArray[np.float64],
) -> None:
    """Complete the roots of pixels with two flags in place; all as in `complete_single`.

    `tints`, (rows, columns, TINTS), are those of the cells of the whole mosaic.
    """
    bound = np.empty(3)
    for row in range(flags.shape[0]):
        for column in range(flags.shape[1]):
            flag = flags[row, column]
            if not blocks[column // BLOCK] or not (flag == 3 or flag == 5 or flag == 6):
                continue
            pixel = roots[row, column]
            _read_bounds(bounds, top + row, column, bound)
            known = 0 if flag == 6 else (1 if flag == 5 else 2)
            trusted = _complete_pair(grid, tints, top + row, column, known, pixel, bound)
            _limit_magenta(pixel, flag, _interpolate(grid, top + row, column, MAGENTA))
            _add_tint(pixel, trusted, sums[row // CELL, column // CELL])


@precompile(*_PARTLY, int64)
@kernel
def complete_cores(
    roots: Float32,
    flags: NDArray[np.uint8],
    bounds: Float32,
    blocks: Flags,
    tints: Float32,
    top: int,
) -> None:
    """Write the roots of pixels with all flags: of the tint of their surroundings, above every bound.

    `tints`, (rows, columns, TINTS), and `bounds`, (rows, columns, 3), are those of the cells of the whole
    mosaic.
    """
    bound = np.empty(3)
    for row in range(flags.shape[0]):
        for column in range(flags.shape[1]):
            if not blocks[column // BLOCK] or flags[row, column] != ALL_CHANNELS:
                continue
            _read_bounds(bounds, top + row, column, bound)
            red = _interpolate(tints, top + row, column, 0)
            blue = _interpolate(tints, top + row, column, 1)
            kept = _soften(red, blue, _VIVID_CORE)
            red, blue = red * kept, blue * kept
            green = max(bound[0] - red, bound[1], bound[2] - blue)
            roots[row, column, 0] = green + red
            roots[row, column, 1] = green
            roots[row, column, 2] = green + blue


@precompile(float32[:, :, ::1], float32[:, :, ::1], boolean[::1], int64, boolean)
@kernel
def scale_roots(roots: Float32, scales: Float32, blocks: Flags, top: int, is_inverse: bool) -> None:
    """Multiply roots, or divide them, by the scales of their channels, (rows, columns of cells, 3), in place.

    All is as in `complete_single`.
    """
    for row in range(roots.shape[0]):
        for column in range(roots.shape[1]):
            if not blocks[column // BLOCK]:
                continue
            for channel in range(3):
                scale = np.float32(_interpolate(scales, top + row, column, channel))
                if is_inverse:
                    roots[row, column, channel] /= scale
                else:
                    roots[row, column, channel] *= scale


@step
def _read_bounds(bounds: Float32, row: int, column: int, bound: NDArray[np.float64]) -> None:
    """Write the bounds of the channels at a pixel."""
    for channel in range(3):
        bound[channel] = _interpolate(bounds, row, column, channel)


@step
def _others(channel: int) -> tuple[int, int]:
    """Return the two other channels."""
    return (1 if channel == 0 else 0), (1 if channel == 2 else 2)


@step
def _interpolate(grid: Float32, row: int, column: int, plane: int) -> float:
    """Return a plane of a grid of cells at a pixel, by lines between the middles of cells."""
    y, x = (row + 0.5) / CELL - 0.5, (column + 0.5) / CELL - 0.5
    up, left = max(math.floor(y), 0), max(math.floor(x), 0)
    down, right = min(up + 1, grid.shape[0] - 1), min(left + 1, grid.shape[1] - 1)
    v, u = max(y - up, 0.0), max(x - left, 0.0)
    above = grid[up, left, plane] * (1.0 - u) + grid[up, right, plane] * u
    below = grid[down, left, plane] * (1.0 - u) + grid[down, right, plane] * u
    return float(above * (1.0 - v) + below * v)


@step
def _soften(first: float, second: float, most: float) -> float:
    """Return what two differences to a third channel are multiplied by, so that none is too vivid."""
    length = first * first + second * second - first * second
    return 1.0 / math.sqrt(1.0 + length / (most * most))


@step
def _mean_above(predicted: float, bound: float, variance: float) -> float:
    """Return the mean of a normal variable that is known to lie above a bound."""
    spread = max(_SOFT * math.sqrt(max(variance, 0.0)), _LEAST_SPREAD)
    z = (predicted - bound) / spread
    if z < _FAR_BELOW:
        return bound - spread * z / (z * z + 2.0)
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return max(predicted + spread * density / (0.5 * math.erfc(-z / math.sqrt(2.0))), bound)


@step
def _predict(grid: Float32, row: int, column: int, k: int, first: float, second: float) -> float:
    """Return the root of channel k from those of the two others, in their order, whatever its bound."""
    added = _interpolate(grid, row, column, OFFSET + k)
    added += _interpolate(grid, row, column, SLOPE + k) * (first - second)
    return (first + second) / 2.0 + added


@step
def _complete_pair(
    grid: Float32,
    tints: Float32,
    row: int,
    column: int,
    known: int,
    pixel: Float32,
    bounds: NDArray[np.float64],
) -> float:
    """Write the roots of two channels of a pixel from that of the third, and return what its tint weighs.

    By the tint of the surroundings one of them lies nearer to its bound, or further below: it is what the
    tint makes it, if less vivid, above the bound, and the other is predicted from both, as where it alone is
    clipped: no edge shows where the second one clips. The bound is as soft as tints vary there: where they
    do not, nothing shows where the channel was clipped.
    """
    i, j = _others(known)
    red, blue = _interpolate(tints, row, column, 0), _interpolate(tints, row, column, 1)
    own = red if known == 0 else (blue if known == 2 else 0.0)
    first = (red if i == 0 else 0.0) - own
    second = (blue if j == 2 else 0.0) - own
    is_first = pixel[known] + first - bounds[i] <= pixel[known] + second - bounds[j]
    kept = _soften(first, second, _VIVID_PAIR)
    first, second = pixel[known] + first * kept, pixel[known] + second * kept
    near, other, value = (i, j, first) if is_first else (j, i, second)
    one, two = _others(other)
    pixel[near] = value
    pixel[other] = _predict(grid, row, column, other, pixel[one], pixel[two])
    excess = min(value - bounds[near], pixel[other] - bounds[other])
    pair = 0 if near + known == 1 else (1 if near + known == 3 else 2)
    variance = _interpolate(tints, row, column, TINT_SPREAD + pair)
    pixel[near] = _mean_above(value, bounds[near], variance)
    predicted = _predict(grid, row, column, other, pixel[one], pixel[two])
    pixel[other] = _mean_above(predicted, bounds[other], _interpolate(grid, row, column, SPREAD + other))
    return _trust(excess, pixel[known] / bounds[known])


@step
def _trust(excess: float, share: float) -> float:
    """Return what the tint of a pixel weighs whose predictions exceed their bounds by so much.

    Those that stay below do not fit what was measured: their windows lie on edges. The nearer the largest
    unclipped channel is to its bound, of which it has a share, the more it tells of where that is clipped.
    """
    fits = 1.0 if excess > -_FITS else _UNFIT
    return float(fits * share**12)


@step
def _limit_magenta(pixel: Float32, flag: int, most: float) -> None:
    """Raise green where it was completed to lie far below both others: light is seldom magenta."""
    if flag & 2:
        pixel[1] = max(pixel[1], min(pixel[0], pixel[2]) - most)


@step
def _add_tint(pixel: Float32, weight: float, sums: NDArray[np.float64]) -> None:
    """Add the tint of a pixel to sums: its weight, red and blue minus green, and their products.

    Edges tell little: lenses have fringes there, and the samples of channels lie on different sides of them.
    """
    weight *= float(pixel[EVENNESS]) ** 4
    red, blue = pixel[0] - pixel[1], pixel[2] - pixel[1]
    sums[0] += weight
    sums[1] += weight * red
    sums[2] += weight * blue
    sums[3] += weight * red * red
    sums[4] += weight * red * blue
    sums[5] += weight * blue * blue
