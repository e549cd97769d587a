"""The grid of cells that highlights are completed by: moments averaged by Gaussians, and lines through them.

Gaussians go from wide ones to narrow ones, each falling back on the wider one where it sees little.
"""

import numpy as np

from demosaic_ntc.arrays import Float32, Float64
from demosaic_ntc.demosaicing.highlights.kernels import (
    MAGENTA,
    OFFSET,
    PREDICTIONS,
    SLOPE,
    SPREAD,
    TINT_SPREAD,
    TINTS,
)

SEEN = 8.0  # pixels of full weight that count as much as all wider Gaussians

_LEVELS = 4  # of the pyramid: Gaussians of 8, 16, 32 and 64 pixels
_FLATNESS = 0.03  # the sum of squares that counts as much as the slope of wider Gaussians
_NEUTRAL = 0.1  # the weight of a grey pixel beside those that are seen: what is grey stays grey
_FIRST_SPREAD = 0.05  # the deviation of roots where nothing is seen
_LEAST_MAGENTA = 0.005  # how far green may lie below both others anyway
_SEEN_MAGENTA, _MORE_MAGENTA = 0.02, 1.5  # and so many times as far as it is seen to lie beyond a little
_WIDE = 2  # the level from which on magenta is looked for: narrow Gaussians see fringes of edges
_BINOMIAL = np.array([1, 4, 6, 4, 1]) / 16  # a Gaussian of one cell
_AREA = 2 * np.pi  # cells under such a Gaussian whose peak is one


def predict_channels(moments: Float64) -> Float32:
    """Return what predicts channels from each other in every cell, (rows, columns, PREDICTIONS).

    Channel k is the mean of the two others, plus the offset k, plus the slope k times their difference.
    ``moments`` are those of `add_moments`.
    """
    grid = np.zeros((1, 1, PREDICTIONS + 3))  # the last three are slopes before averaging
    grid[..., SPREAD:MAGENTA] = _FIRST_SPREAD**2
    grid[..., MAGENTA] = _LEAST_MAGENTA
    for level, sums in reversed(list(enumerate(_pyramid(moments)))):
        grid, seen = _resample(grid, sums.shape[:2]), _smooth(sums) * _AREA
        _update_predictions(grid, seen)
        if level >= _WIDE:
            _update_magenta(grid, seen)
    return grid[..., :PREDICTIONS].astype(np.float32)


def _update_predictions(grid: Float64, sums: Float64) -> None:
    """Mix what one Gaussian sees into the predictions by wider ones, in place."""
    weight = sums[..., 0]
    mean = sums[..., 1:4] / np.maximum(weight, 1e-12)[..., None]
    spread = _covariances(sums, mean)
    share, slopes = weight / (weight + SEEN), grid[..., PREDICTIONS:]
    for k in range(3):
        i, j = (channel for channel in range(3) if channel != k)
        x, y = mean[..., i] - mean[..., j], mean[..., k] - (mean[..., i] + mean[..., j]) / 2
        xx = np.maximum(spread[i, i] + spread[j, j] - 2 * spread[i, j], 0)
        xy = spread[k, i] - spread[k, j] - (spread[i, i] - spread[j, j]) / 2
        halves = (spread[i, i] + spread[j, j] + 2 * spread[i, j]) / 4
        yy = np.maximum(spread[k, k] + halves - spread[k, i] - spread[k, j], 0)
        pull = weight * (_NEUTRAL / (1 + _NEUTRAL))  # by the grey pixel, at which both x and y are 0
        xx, xy, yy = xx + pull * x * x, xy + pull * x * y, yy + pull * y * y
        slope = slopes[..., k] = (xy + _FLATNESS * slopes[..., k]) / (xx + _FLATNESS)
        left = np.maximum(yy - 2 * slope * xy + slope**2 * xx, 0)
        for place, value in ((OFFSET, (y - slope * x) / (1 + _NEUTRAL)), (SLOPE, slope)):
            grid[..., place + k] += share * (value - grid[..., place + k])
        grid[..., SPREAD + k] = (left + SEEN * grid[..., SPREAD + k]) / (weight + SEEN)


def _update_magenta(grid: Float64, sums: Float64) -> None:
    """Mix how far green lies below both others in the mean into how far it may, in place."""
    weight = sums[..., 0]
    red, green, blue = (sums[..., place] / np.maximum(weight, 1e-12) for place in (1, 2, 3))
    below = np.maximum(np.minimum(red, blue) - green - _SEEN_MAGENTA, 0)
    found = _LEAST_MAGENTA + _MORE_MAGENTA * below
    grid[..., MAGENTA] += weight / (weight + SEEN) * (found - grid[..., MAGENTA])


def _covariances(sums: Float64, mean: Float64) -> dict[tuple[int, int], Float64]:
    """Return the sums of products of deviations from the means, by channels."""
    found = dict[tuple[int, int], Float64]()
    for place, (a, b) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)), 4):
        found[a, b] = found[b, a] = sums[..., place] - sums[..., 0] * mean[..., a] * mean[..., b]
    return found


def tints_of(moments: Float64) -> Float64:
    """Return the sums of tints, (rows, columns, TINT_SUMS), of the pixels that moments are of."""
    weight, red, green, blue, rr, rg, rb, gg, gb, bb = np.moveaxis(moments, -1, 0)
    products = (rr + gg - 2 * rg, rb - rg - gb + gg, bb + gg - 2 * gb)
    return np.stack([weight, red - green, blue - green, *products], -1)


def spread_tints(sums: Float64, magenta: Float32, seen: float, growth: float) -> Float32:
    """Return the mean tint around every cell and its variances, (rows, columns, TINTS).

    ``sums``, (rows, columns, TINT_SUMS), are of tints in every cell. Pixels of a weight ``seen``, times
    ``growth`` at every wider Gaussian, count as much as all wider ones; where nothing is seen, all is grey.
    Green lies no further below both others than ``magenta``, (rows, columns), allows.
    """
    tints = np.zeros((1, 1, TINTS))
    tints[..., TINT_SPREAD:] = _FIRST_SPREAD**2
    for level, cells in reversed(list(enumerate(_pyramid(sums)))):
        tints = _resample(tints, cells.shape[:2])
        around, wider = _smooth(cells) * _AREA, seen * growth**level
        weight = around[..., :1]
        mean = around[..., 1:3] / np.maximum(weight, 1e-12)
        tints[..., :TINT_SPREAD] += weight / (weight + wider) * (mean - tints[..., :TINT_SPREAD])
        squares = _square_deviations(around, mean)
        tints[..., TINT_SPREAD:] = (squares + wider * tints[..., TINT_SPREAD:]) / (weight + wider)
    excess = np.maximum(tints[..., :TINT_SPREAD].min(axis=-1) - magenta, 0)
    tints[..., :TINT_SPREAD] -= excess[..., None]
    return tints.astype(np.float32)


def _square_deviations(sums: Float64, mean: Float64) -> Float64:
    """Return the sums of squares of red minus green, blue minus green and red minus blue."""
    weight, (red, blue) = sums[..., 0], np.moveaxis(mean, -1, 0)
    rr, rb, bb = (
        sums[..., 3] - weight * red**2,
        sums[..., 4] - weight * red * blue,
        sums[..., 5] - weight * blue**2,
    )
    return np.asarray(np.maximum(np.stack([rr, bb, rr + bb - 2 * rb], -1), 0))


def _pyramid(cells: Float64) -> list[Float64]:
    """Return sums by cells, and by ever larger cells of twice the side."""
    levels = [cells]
    for _ in range(_LEVELS - 1):
        below = levels[-1]
        odd = ((0, below.shape[0] % 2), (0, below.shape[1] % 2), (0, 0))
        even = np.pad(below, odd)
        levels.append(even[::2, ::2] + even[1::2, ::2] + even[::2, 1::2] + even[1::2, 1::2])
    return levels


def _smooth(cells: Float64) -> Float64:
    """Return cells averaged with a Gaussian of one cell; beyond the border lies nothing."""
    reach = len(_BINOMIAL) // 2
    for axis in (0, 1):
        length, around = cells.shape[axis], np.moveaxis(cells, axis, 0)
        smooth = np.zeros_like(cells)
        into = np.moveaxis(smooth, axis, 0)
        for step, weight in enumerate(_BINOMIAL, -reach):
            first, last = max(-step, 0), max(min(length - step, length), 0)
            into[first:last] += around[first + step : last + step] * weight
        cells = smooth
    return cells


def _resample(cells: Float64, shape: tuple[int, ...]) -> Float64:
    """Return cells of half the side, as many as wanted, by lines between the middles of the larger ones."""
    for axis in (0, 1):
        place = (np.arange(shape[axis]) + 0.5) / 2 - 0.5
        last = cells.shape[axis] - 1
        before = np.clip(np.floor(place).astype(np.intp), 0, last)
        share = np.clip(place - before, 0, 1).reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
        lower, upper = np.take(cells, before, axis), np.take(cells, np.minimum(before + 1, last), axis)
        lower *= 1 - share
        upper *= share
        cells = np.add(lower, upper, out=lower)
    return cells
