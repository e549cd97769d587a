"""The nearest patches of a picture, and what patches say of the pixels they cover.

Patches are PATCH × PATCH pixels and are named by their centres. Pictures are (height, width, channels) with a
border of REACH pixels of weight zero. Each call reads the old state and writes a new one, so that neither the
order of targets nor the number of threads matters.
"""

import numpy as np
from numba import boolean, float32, float64, int32
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Float32, Float64
from demosaic_ntc.jit.compiled import fast_kernel, fast_step, precompile

REACH = 3  # pixels from a patch's centre to its border
PATCH = 2 * REACH + 1
NEVER = 1e30  # the cost of what cannot be; kernels that reorder sums may not meet infinity

Places = NDArray[np.int32]  # (…, 2): row and column

_NEIGHBOURS = np.array([(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)], np.int32)


@fast_step
def _weigh_patch(
    values: Float32, weight: Float32, row: int, column: int, own: Float32, trust: Float32
) -> float:
    """Write the entries of a patch and the weight of each; return the sum of the pixels' weights."""
    channels, total, entry = values.shape[2], 0.0, 0
    for i in range(row - REACH, row + REACH + 1):
        for j in range(column - REACH, column + REACH + 1):
            total += weight[i, j]
            for channel in range(channels):
                own[entry] = values[i, j, channel]
                trust[entry] = weight[i, j]
                entry += 1
    return total


@fast_step
def _compare(values: Float32, row: int, column: int, own: Float32, trust: Float32, most: float) -> float:
    """Return the weighted squared distance of a patch from another; what exceeds `most` is not finished."""
    wide = PATCH * values.shape[2]
    flat = values.reshape(values.size)
    total, entry = np.float32(0.0), 0
    place = ((row - REACH) * values.shape[1] + column - REACH) * values.shape[2]
    for _ in range(PATCH):
        part = np.float32(0.0)
        for j in range(wide):
            gap = own[entry + j] - flat[place + j]
            part += trust[entry + j] * gap * gap
        total += part
        if total > most:
            break
        entry += wide
        place += values.shape[1] * values.shape[2]
    return float(total)


@precompile(
    float32[:, :, ::1],
    float32[:, ::1],
    int32[:, ::1],
    int32[:, ::1],
    float64[::1],
    int32[:, ::1],
    float64[::1],
)
@fast_kernel
def search_all(
    values: Float32,
    weight: Float32,
    targets: Places,
    sources: Places,
    price: Float64,
    best: Places,
    cost: Float64,
) -> None:
    """Write for each target patch the source patch of the least cost, and that cost: all are tried.

    The cost is Σ w |u − u'|² / Σ w over the patch, plus price · (Δrow², Δcolumn²).
    """
    size = PATCH * PATCH * values.shape[2]
    own, trust = np.empty(size, np.float32), np.empty(size, np.float32)
    for number in range(len(targets)):
        row, column = targets[number]
        total = max(_weigh_patch(values, weight, row, column, own, trust), 1e-6)
        least = NEVER
        for k in range(len(sources)):
            y, x = sources[k]
            far = price[0] * (y - row) ** 2 + price[1] * (x - column) ** 2
            found = _compare(values, y, x, own, trust, (least - far) * total) / total + far
            if found < least:
                least = found
                best[number, 0], best[number, 1] = y, x
        cost[number] = least


@fast_step
def _candidate(field: Places, further: Places, row: int, column: int, k: int) -> tuple[int, int]:
    """Return the k-th source to try for a target; a negative row where there is none."""
    count = len(_NEIGHBOURS)
    if k == 0:
        return field[row, column, 0], field[row, column, 1]
    if k > 2 * count:
        return further[k - 2 * count - 1, 0], further[k - 2 * count - 1, 1]
    y, x = _NEIGHBOURS[(k - 1) % count]
    if k <= count and field[row + y, column + x, 0] >= 0:  # its neighbour's, one step back
        return field[row + y, column + x, 0] - y, field[row + y, column + x, 1] - x
    if k > count and field[row, column, 0] >= 0:
        return field[row, column, 0] + y, field[row, column, 1] + x
    return -1, -1


@precompile(
    float32[:, :, ::1],
    float32[:, ::1],
    boolean[:, ::1],
    int32[:, ::1],
    int32[:, :, ::1],
    int32[:, :, ::1],
    float64[::1],
    int32[:, ::1],
    float64[::1],
)
@fast_kernel
def search_candidates(
    values: Float32,
    weight: Float32,
    is_source: Flags,
    targets: Places,
    field: Places,
    further: Places,
    price: Float64,
    best: Places,
    cost: Float64,
) -> None:
    """Write for each target the best of some sources, with the cost of `search_all`.

    Tried are the source that `field` (height, width, 2) names for it, those next to that one, those that its
    neighbours' sources imply (coherence search: Ashikhmin 2001, doi:10.1145/364338.364405) and `further`
    ones, (targets, n, 2). Places with a negative row stand for none.
    """
    size = PATCH * PATCH * values.shape[2]
    own, trust = np.empty(size, np.float32), np.empty(size, np.float32)
    for number in range(len(targets)):
        row, column = targets[number]
        total = max(_weigh_patch(values, weight, row, column, own, trust), 1e-6)
        least = NEVER
        best[number, 0], best[number, 1] = -1, -1
        for k in range(1 + 2 * len(_NEIGHBOURS) + further.shape[1]):
            y, x = _candidate(field, further[number], row, column, k)
            if y < 0 or x < 0 or y >= is_source.shape[0] or x >= is_source.shape[1] or not is_source[y, x]:
                continue
            far = price[0] * (y - row) ** 2 + price[1] * (x - column) ** 2
            found = _compare(values, y, x, own, trust, (least - far) * total) / total + far
            if found < least:
                least = found
                best[number, 0], best[number, 1] = y, x
        cost[number] = least


@precompile(float32[:, :, ::1], int32[:, :, ::1], float64[:, ::1], float64, int32[:, ::1], float32[:, ::1])
@fast_kernel
def vote(
    values: Float32, field: Places, cost: Float64, spread: float, pixels: Places, voted: Float32
) -> None:
    """Write for each pixel the mean of what the patches that cover it say, (pixels, channels).

    A patch of cost c weighs exp(−(c − least)/spread), with the least cost among those that cover the pixel.
    Where none does, the value stays.
    """
    channels = values.shape[2]
    for number in range(len(pixels)):
        row, column = pixels[number]
        least = NEVER
        for i in range(row - REACH, row + REACH + 1):
            for j in range(column - REACH, column + REACH + 1):
                if field[i, j, 0] >= 0:
                    least = min(least, cost[i, j])
        total = 0.0
        for channel in range(channels):
            voted[number, channel] = 0.0
        for i in range(row - REACH, row + REACH + 1):
            for j in range(column - REACH, column + REACH + 1):
                if field[i, j, 0] < 0:
                    continue
                y, x = field[i, j, 0] + row - i, field[i, j, 1] + column - j
                share = np.exp((least - cost[i, j]) / spread)
                total += share
                for channel in range(channels):
                    voted[number, channel] += np.float32(share) * values[y, x, channel]
        for channel in range(channels):
            if total > 0.0:
                voted[number, channel] /= np.float32(total)
            else:
                voted[number, channel] = values[row, column, channel]
