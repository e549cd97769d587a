"""Clipped samples of a mosaic: what is seen around them, and what they are completed to.

Light is balanced, so that grey has equal channels; its cube root is called root here. A channel is flagged at
a pixel where a sample of it in the window around the pixel is clipped, or where none is known: bit c of the
flags stands for channel c.
"""

import math

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.jit.compiled import kernel, step

#: The flags of a pixel of which all channels are clipped.
ALL_CHANNELS = 7

#: Pixels along the side of a cell of the grid that moments are summed on.
CELL = 8

#: Pixels along the side of a block: what is far from anything clipped is passed over by blocks.
BLOCK = 64

#: Planes of the grid of predictions: what is added to the mean of two channels, what their difference is
#: multiplied by, means of channels, and variances of what is left: by two channels, and by one.
OFFSET, SLOPE, MEAN, SPREAD, LONE_SPREAD, PREDICTIONS = 0, 3, 6, 9, 12, 15

#: The moments of the roots of unclipped pixels: their weight, means, and products 00, 01, 02, 11, 12, 22.
MOMENTS = 10

#: A sample is clipped from this share of its channel's level on.
CLIPPED_SHARE = np.float32(0.985)

_LEAST_BRIGHT = np.float32(0.2)  # of the level: what is darker tells nothing of highlights
_SOFT = 0.7  # of the deviation by which a prediction may miss: how soft the bound is
_LEAST_SPREAD = 1e-4
_FAR_BELOW = -6.0  # deviations: from here on the mean beyond a bound is a series
_VIVID_PAIR = 0.25  # how far two channels may lie from the third: more is drawn in
_VIVID_CORE = 0.12  # the same where nothing is known


@kernel
def flag_blocks(light: Float32, limits: Float32, blocks: Flags) -> None:
    """Flag the blocks, (columns of blocks), in which rows of light (rows, width) have a clipped sample.

    `limits` is a period of the array that begins at the first of the rows: from there on light is clipped.
    """
    down, across = limits.shape
    for row in range(light.shape[0]):
        for x in range(across):
            limit = limits[row % down, x]
            for column in range(x, light.shape[1], across):
                if light[row, column] >= limit:
                    blocks[column // BLOCK] = True


@kernel
def average_colours(
    light: Float32,
    missing: Flags,
    colours: NDArray[np.uint8],
    limits: Float32,
    window: Float32,
    first: int,
    blocks: Flags,
    roots: Float32,
    flags: NDArray[np.uint8],
) -> None:
    """Write the root of the weighted mean of each channel around each pixel, and the flags of channels.

    `light` and `missing` are rows with a margin; `colours` is a period of the array that begins at the first
    of them, and from its `limits` on light is clipped. A sample weighs ``window[|dy|] * window[|dx|]``.
    Written are the rows from `first` on that `roots`, (rows, width, 3), and `flags`, (rows, width), have, in
    the blocks (columns of blocks) that are wanted. A channel of which nothing is known is 0.
    """
    height, width = light.shape
    reach = window.shape[0] - 1
    total, mass = np.empty(3, np.float32), np.empty(3, np.float32)
    for row in range(flags.shape[0]):
        for column in range(width):
            if not blocks[column // BLOCK]:
                continue
            for channel in range(3):
                total[channel] = mass[channel] = 0.0
            flag, left = 0, max(column - reach, 0)
            phase = left % colours.shape[1]
            for i in range(max(first + row - reach, 0), min(first + row + reach + 1, height)):
                y, down, x = i % colours.shape[0], window[abs(i - first - row)], phase - 1
                for j in range(left, min(column + reach + 1, width)):
                    x = x + 1 if x + 1 < colours.shape[1] else 0
                    if missing[i, j]:
                        continue
                    channel = colours[y, x]
                    weight = down * window[abs(j - column)]
                    total[channel] += weight * light[i, j]
                    mass[channel] += weight
                    if light[i, j] >= limits[y, x]:
                        flag |= 1 << channel
            for channel in range(3):
                roots[row, column, channel] = 0.0
                if mass[channel] > 0.0:
                    mean = max(total[channel] / mass[channel], np.float32(0.0))
                    roots[row, column, channel] = np.cbrt(mean)
                else:
                    flag |= 1 << channel
            flags[row, column] = flag


@kernel
def add_moments(
    roots: Float32, flags: NDArray[np.uint8], levels: Float32, blocks: Flags, moments: NDArray[np.float64]
) -> None:
    """Add the pixels without a flag to the moments of their cells, (rows, columns, MOMENTS).

    A pixel weighs ρ¹⁶, ρ being the largest of its channels as a share of their levels.
    """
    for row in range(flags.shape[0]):
        for column in range(flags.shape[1]):
            if not blocks[column // BLOCK] or flags[row, column] != 0:
                continue
            red, green, blue = roots[row, column, 0], roots[row, column, 1], roots[row, column, 2]
            share = max(red**3 / levels[0], green**3 / levels[1], blue**3 / levels[2])
            if share <= _LEAST_BRIGHT:
                continue
            weight = float(share) ** 16
            sums = moments[row // CELL, column // CELL]
            sums[0] += weight
            sums[1] += weight * red
            sums[2] += weight * green
            sums[3] += weight * blue
            sums[4] += weight * red * red
            sums[5] += weight * red * green
            sums[6] += weight * red * blue
            sums[7] += weight * green * green
            sums[8] += weight * green * blue
            sums[9] += weight * blue * blue


@kernel
def complete_partly(
    roots: Float32,
    flags: NDArray[np.uint8],
    bounds: NDArray[np.float64],
    blocks: Flags,
    grid: Float32,
    top: int,
    rim: NDArray[np.float64],
) -> None:
    """Complete the roots of pixels with one or two flags in place, and add their tints to the rim's moments.

    `bounds` are the roots of the levels, `grid` the predictions of the whole mosaic, (rows, columns,
    PREDICTIONS), and `top` the row of the mosaic that the first one here is. `rim`, (rows, columns, 3), is of
    the cells of these rows: weights, and sums of red and of blue minus green.
    """
    for row in range(flags.shape[0]):
        for column in range(flags.shape[1]):
            flag = flags[row, column]
            if not blocks[column // BLOCK] or flag == 0 or flag == ALL_CHANNELS:
                continue
            pixel = roots[row, column]
            if flag == 1 or flag == 2 or flag == 4:
                k = 0 if flag == 1 else (1 if flag == 2 else 2)
                i, j = _others(k)
                pixel[k] = _predict(grid, top + row, column, k, pixel[i], pixel[j], bounds[k])
            else:
                known = 0 if flag == 6 else (1 if flag == 5 else 2)
                _complete_pair(grid, top + row, column, known, pixel, bounds)
            cell_row, cell_column = row // CELL, column // CELL
            rim[cell_row, cell_column, 0] += 1.0
            rim[cell_row, cell_column, 1] += pixel[0] - pixel[1]
            rim[cell_row, cell_column, 2] += pixel[2] - pixel[1]


@kernel
def complete_cores(
    roots: Float32,
    flags: NDArray[np.uint8],
    bounds: NDArray[np.float64],
    blocks: Flags,
    tints: Float32,
    top: int,
) -> None:
    """Write the roots of pixels with all flags: of the tint of their surroundings, above every bound.

    `tints`, (rows, columns, 2), are those of the cells of the whole mosaic: red and blue minus green.
    """
    for row in range(flags.shape[0]):
        for column in range(flags.shape[1]):
            if not blocks[column // BLOCK] or flags[row, column] != ALL_CHANNELS:
                continue
            red = _interpolate(tints, top + row, column, 0)
            blue = _interpolate(tints, top + row, column, 1)
            kept = _soften(red, blue, _VIVID_CORE)
            red, blue = red * kept, blue * kept
            green = max(bounds[0] - red, bounds[1], bounds[2] - blue)
            roots[row, column, 0] = green + red
            roots[row, column, 1] = green
            roots[row, column, 2] = green + blue


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
        return bound - spread / z
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return max(predicted + spread * density / (0.5 * math.erfc(-z / math.sqrt(2.0))), bound)


@step
def _predict(
    grid: Float32, row: int, column: int, k: int, first: float, second: float, bound: float
) -> float:
    """Return the root of channel k from those of the two others, in their order, above its bound."""
    added = _interpolate(grid, row, column, OFFSET + k)
    added += _interpolate(grid, row, column, SLOPE + k) * (first - second)
    variance = _interpolate(grid, row, column, SPREAD + k)
    return _mean_above((first + second) / 2.0 + added, bound, variance)


@step
def _complete_pair(
    grid: Float32, row: int, column: int, known: int, pixel: Float32, bounds: NDArray[np.float64]
) -> None:
    """Write the roots of two channels of a pixel from that of the third.

    If either lies below its bound by the means of its surroundings, the one further below is taken to be at
    its bound, and the other is predicted from both.
    """
    i, j = _others(known)
    own = _interpolate(grid, row, column, MEAN + known)
    first = _interpolate(grid, row, column, MEAN + i) - own
    second = _interpolate(grid, row, column, MEAN + j) - own
    kept = _soften(first, second, _VIVID_PAIR)
    first, second = pixel[known] + first * kept, pixel[known] + second * kept
    below_i, below_j = first - bounds[i], second - bounds[j]
    pixel[i] = _mean_above(first, bounds[i], _interpolate(grid, row, column, LONE_SPREAD + j))
    pixel[j] = _mean_above(second, bounds[j], _interpolate(grid, row, column, LONE_SPREAD + i))
    if min(below_i, below_j) >= 0.0:
        return
    other = j if below_i <= below_j else i
    one, two = _others(other)
    pixel[other] = _predict(grid, row, column, other, pixel[one], pixel[two], bounds[other])
