"""From where each pixel of a hole is copied: labels, moved to where seams between them do not show."""

import numpy as np
from numba import boolean, float32, float64, int32

from demosaic_ntc.arrays import Flags, Float32, Float64
from demosaic_ntc.inpainting.texture.kernels import NEVER, REACH, Places
from demosaic_ntc.jit.compiled import fast_kernel, fast_step, precompile

_AROUND = np.array(
    [(-1, 0), (0, -1), (0, 1), (1, 0), (-1, -1), (-1, 1), (1, -1), (1, 1)], np.int32
)  # the first four share a side
_UNKNOWN = 0.02  # the squared mismatch where a seam cannot be looked at


@fast_step
def _is_shown(shown: Flags, row: int, column: int) -> bool:
    """Tell whether a pixel lies in the picture and its value is known."""
    return bool(0 <= row < shown.shape[0] and 0 <= column < shown.shape[1] and shown[row, column])


@fast_step
def _differ(values: Float32, a: int, b: int, c: int, d: int) -> float:
    """Return the squared difference of two pixels."""
    total = 0.0
    for channel in range(values.shape[2]):
        gap = values[a, b, channel] - values[c, d, channel]
        total += gap * gap
    return total


@fast_step
def _mismatch(values: Float32, shown: Flags, row: int, column: int, one: Places, other: Places) -> float:
    """Return how much what two labels say of one pixel differs."""
    a, b, c, d = row + one[0], column + one[1], row + other[0], column + other[1]
    if one[0] == other[0] and one[1] == other[1]:
        return 0.0
    if not _is_shown(shown, a, b) or not _is_shown(shown, c, d):
        return _UNKNOWN
    return _differ(values, a, b, c, d)


@fast_step
def _seam(
    values: Float32, hole: Flags, shown: Flags, labels: Places, row: int, column: int, own: Places, step: int
) -> float:
    """Return the cost of a seam between a pixel of some label and one of its neighbours (Kwatra 2003)."""
    y, x = row + _AROUND[step, 0], column + _AROUND[step, 1]
    if hole[y, x]:
        other = labels[y, x]
        return _mismatch(values, shown, row, column, own, other) + _mismatch(values, shown, y, x, own, other)
    if not shown[y, x]:
        return 0.0
    return 2.0 * _mismatch(values, shown, y, x, own, labels[y, x])


@precompile(
    float32[:, :, ::1],
    float32[:, :, ::1],
    boolean[:, ::1],
    boolean[:, ::1],
    boolean[:, ::1],
    int32[:, :, ::1],
    float64,
    int32[:, ::1],
    int32[:, ::1],
)
@fast_kernel
def relabel(
    values: Float32,
    estimate: Float32,
    hole: Flags,
    shown: Flags,
    source: Flags,
    labels: Places,
    data: float,
    pixels: Places,
    chosen: Places,
) -> None:
    """Write for each pixel the best label among its own and its neighbours'.

    A label is the way to the source, (height, width, 2), zero where pixels are known. Its cost is that of the
    seams to the four neighbours, and ``data`` times the squared distance from the estimate. Labels that lead
    to what may not be copied are left out.
    """
    for number in range(len(pixels)):
        row, column = pixels[number]
        least = NEVER
        chosen[number, 0], chosen[number, 1] = labels[row, column]
        for k in range(-1, len(_AROUND)):
            near_y, near_x = row, column
            if k >= 0:
                near_y, near_x = row + _AROUND[k, 0], column + _AROUND[k, 1]
                if not hole[near_y, near_x]:
                    continue
            label = labels[near_y, near_x]
            y, x = row + label[0], column + label[1]
            if not _is_shown(source, y, x):
                continue
            cost = 0.0
            for channel in range(values.shape[2]):
                gap = estimate[row, column, channel] - values[y, x, channel]
                cost += data * gap * gap
            for step in range(4):
                cost += _seam(values, hole, shown, labels, row, column, label, step)
            if cost < least:
                least = cost
                chosen[number, 0], chosen[number, 1] = label


@precompile(int32[:, :, ::1], float64[:, ::1], int32[:, ::1], int32[:, ::1])
@fast_kernel
def best_labels(field: Places, cost: Float64, pixels: Places, labels: Places) -> None:
    """Write for each pixel the label of the patch of least cost that covers it."""
    for number in range(len(pixels)):
        row, column = pixels[number]
        least = NEVER
        for i in range(row - REACH, row + REACH + 1):
            for j in range(column - REACH, column + REACH + 1):
                if field[i, j, 0] >= 0 and cost[i, j] < least:
                    least = cost[i, j]
                    labels[number, 0], labels[number, 1] = field[i, j, 0] - i, field[i, j, 1] - j
