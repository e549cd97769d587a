"""What is seen around clipped samples: flags of clipped channels, and the mean of each channel.

Light is balanced, so that grey has equal channels; its cube root is called root here. A channel is flagged at
a pixel where a sample of it in the window around the pixel is clipped, or where none is known: bit c of the
flags stands for channel c.
"""

import numpy as np
from numba import boolean, float32, float64, int64, uint8, uint16
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.jit.compiled import kernel, precompile, step

#: The flags of a pixel of which all channels are clipped.
ALL_CHANNELS = 7

#: Pixels along the side of a cell of the grid that moments are summed on.
CELL = 8

#: Pixels along the side of a block: what is far from anything clipped is passed over by blocks.
BLOCK = 64

#: The moments of the roots of unclipped pixels: their weight, means, and products 00, 01, 02, 11, 12, 22.
MOMENTS = 10

#: Planes of what is seen at a pixel: the roots of its channels, and how even they are: the least sample
#: around it by the largest, of the channel where these differ most.
EVENNESS, SEEN_PLANES = 3, 4

#: A sample is clipped from this share of its channel's level on.
CLIPPED_SHARE = np.float32(0.985)

#: A sample from this share on counts as clipped where most of its channel around it are: lossy compression
#: and noise lower some samples of a clipped area.
LOWERED_SHARE = np.float32(0.93)

_MOST_AROUND = 0.6  # of the samples of a channel in a window
_AROUND = 2  # pixels to either side that the window reaches

_WINDOWS = (float32[:, ::1], boolean[:, ::1], uint8[:, ::1])

_LEAST_BRIGHT = np.float32(0.2)  # of the level: what is darker tells nothing of highlights


@precompile(float32[:, ::1], float32[:, ::1], boolean[::1])
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


@precompile(uint16[:, ::1], uint8[:, ::1], int64[:, ::1], int64[:, ::1], uint16[:, ::1])
@kernel
def raise_lowered(
    samples: NDArray[np.uint16],
    colours: NDArray[np.uint8],
    lowered: NDArray[np.int64],
    clipped: NDArray[np.int64],
    raised: NDArray[np.uint16],
) -> None:
    """Write samples, (height, width), with the lowered ones of clipped areas raised to where clipping begins.

    `colours`, and the numbers from which samples are `lowered` and `clipped`, are one period of the array.
    """
    down, across = clipped.shape
    for row in range(samples.shape[0]):
        for column in range(samples.shape[1]):
            y, x = row % down, column % across
            sample = samples[row, column]
            raised[row, column] = sample
            if lowered[y, x] <= sample < clipped[y, x] and _is_amid_clipped(
                samples, colours, clipped, row, column
            ):
                raised[row, column] = clipped[y, x]


@step
def _is_amid_clipped(
    samples: NDArray[np.uint16],
    colours: NDArray[np.uint8],
    clipped: NDArray[np.int64],
    row: int,
    column: int,
) -> bool:
    """Tell whether most samples around one, of its channel, are clipped."""
    down, across = clipped.shape
    own, count, those = colours[row % down, column % across], 0, 0
    for i in range(max(row - _AROUND, 0), min(row + _AROUND + 1, samples.shape[0])):
        for j in range(max(column - _AROUND, 0), min(column + _AROUND + 1, samples.shape[1])):
            if (i != row or j != column) and colours[i % down, j % across] == own:
                count += 1
                those += samples[i, j] >= clipped[i % down, j % across]
    return count > 0 and those >= _MOST_AROUND * count


@precompile(*_WINDOWS, float32[:, ::1], int64, int64, uint8[:, ::1])
@kernel
def flag_channels(
    light: Float32,
    missing: Flags,
    colours: NDArray[np.uint8],
    limits: Float32,
    reach: int,
    first: int,
    flags: NDArray[np.uint8],
) -> None:
    """Flag channels at the pixels whose windows have clipped samples.

    `light` and `missing` are rows with a margin; `colours` is a period of the array that begins at the first
    of them, and from its `limits` on light is clipped. `flags`, (rows, width), begin at the row `first`.
    """
    height, width = flags.shape
    down, across = limits.shape
    for row in range(light.shape[0]):
        for x in range(across):
            limit, bit = limits[row % down, x], np.uint8(1 << colours[row % down, x])
            for column in range(x, width, across):
                if light[row, column] < limit or missing[row, column]:
                    continue
                top, bottom = _pixels_around(row, reach, light.shape[0])
                left, right = _pixels_around(column, reach, width)
                for i in range(max(top - first, 0), min(bottom - first, height)):
                    for j in range(left, right):
                        flags[i, j] |= bit


@precompile(
    float32[:, ::1],
    boolean[:, ::1],
    uint8[:, ::1],
    float32[::1],
    float32[::1],
    int64,
    boolean[::1],
    boolean,
    float32[:, :, ::1],
    uint8[:, ::1],
)
@kernel
def average_colours(
    light: Float32,
    missing: Flags,
    colours: NDArray[np.uint8],
    levels: Float32,
    window: Float32,
    first: int,
    blocks: Flags,
    only_flagged: bool,
    roots: Float32,
    flags: NDArray[np.uint8],
) -> None:
    """Write the root of the weighted mean of each channel around each pixel, and how even they are.

    `light`, `missing`, `colours` and `first` are as in `flag_channels`; a sample weighs
    ``window[|dy|] * window[|dx|]``. Written are `roots`, (rows, width, SEEN_PLANES), in the blocks (columns
    of blocks) that are wanted, and there, if that is wanted, at pixels with `flags` alone. Pixels without
    that are too dark to tell anything are 0, as is a channel of which nothing is known: it becomes flagged.
    """
    total, mass, least, most = np.empty((4, 3), np.float32)
    for row in range(flags.shape[0]):
        for column in range(flags.shape[1]):
            if not blocks[column // BLOCK] or (only_flagged and flags[row, column] == 0):
                continue
            _sum_window(light, missing, colours, window, first + row, column, total, mass, least, most)
            share, even = np.float32(0.0), np.float32(1.0)
            for channel in range(3):
                if mass[channel] > 0.0:
                    total[channel] = max(total[channel] / mass[channel], np.float32(0.0))
                else:
                    flags[row, column] |= np.uint8(1 << channel)
                share = max(share, total[channel] / levels[channel])
                if most[channel] > 0.0:
                    even = min(even, max(least[channel], np.float32(0.0)) / most[channel])
            roots[row, column, EVENNESS] = even
            is_used = flags[row, column] != 0 or share > _LEAST_BRIGHT
            for channel in range(3):
                roots[row, column, channel] = np.cbrt(total[channel]) if is_used else np.float32(0.0)


@step
def _pixels_around(place: int, reach: int, length: int) -> tuple[int, int]:
    """Return the first pixel along an axis whose window has a place, and the one after the last."""
    first, last = place - reach, place + reach
    return (0 if first <= reach else first), (length if last >= length - 1 - reach else last + 1)


@step
def _sum_window(
    light: Float32,
    missing: Flags,
    colours: NDArray[np.uint8],
    window: Float32,
    row: int,
    column: int,
    total: Float32,
    mass: Float32,
    least: Float32,
    most: Float32,
) -> None:
    """Write the weighted sums of samples of each channel around a pixel, their weights and extremes, all (3).

    A window that the border would cut is moved inwards: so all channels are seen.
    """
    height, width = light.shape
    down, across = colours.shape
    reach = window.shape[0] - 1
    middle, centre = max(min(row, height - 1 - reach), reach), max(min(column, width - 1 - reach), reach)
    left = centre - reach
    for channel in range(3):
        total[channel] = mass[channel] = most[channel] = 0.0
        least[channel] = np.inf
    for i in range(middle - reach, min(middle + reach + 1, height)):
        y, weight_down, x = i % down, window[abs(i - middle)], left % across
        for j in range(left, min(centre + reach + 1, width)):
            channel = colours[y, x]
            x = x + 1 if x + 1 < across else 0
            if missing[i, j]:
                continue
            weight = weight_down * window[abs(j - centre)]
            total[channel] += weight * light[i, j]
            mass[channel] += weight
            least[channel], most[channel] = min(least[channel], light[i, j]), max(most[channel], light[i, j])


@precompile(float32[:, :, ::1], uint8[:, ::1], float32[::1], boolean[::1], float64[:, :, ::1])
@kernel
def add_moments(
    roots: Float32, flags: NDArray[np.uint8], levels: Float32, blocks: Flags, moments: NDArray[np.float64]
) -> None:
    """Add the pixels without a flag to the moments of their cells, (rows, columns, MOMENTS).

    A pixel weighs ρ¹⁶ γ ε: ρ is the largest of its channels as a share of their levels, γ the least of its
    roots as a share of the largest, and ε how even they are. Bright neighbours tell most, vivid ones little
    of other colours, and edges little, where lenses have fringes.
    """
    for row in range(flags.shape[0]):
        for column in range(flags.shape[1]):
            if not blocks[column // BLOCK] or flags[row, column] != 0:
                continue
            red, green, blue = roots[row, column, 0], roots[row, column, 1], roots[row, column, 2]
            share = max(red**3 / levels[0], green**3 / levels[1], blue**3 / levels[2])
            if share == 0.0:
                continue
            grey = min(red, green, blue) / max(red, green, blue)
            weight = float(share) ** 16 * float(grey) * float(roots[row, column, EVENNESS])
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
