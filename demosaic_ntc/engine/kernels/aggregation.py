"""Adding up what groups say about a picture, and the next estimate that comes of it.

Sums are kept in whole numbers, so that they do not depend on the order of their terms: results are the
same bit for bit whatever the bands and the number of threads. A weight and the value it belongs to share one
number of 64 bits, since most of the time goes into reading and writing sums: the weights take the lower
WEIGHT_BITS of them, values those above.
"""

import numpy as np
from numba import boolean, float32, float64, int64, uint8
from numpy.typing import NDArray

from demosaic_ntc.arrays import Bits, Flags, Float32, Planes, Sums
from demosaic_ntc.engine.kernels.gather import PatchGroup, noise_at
from demosaic_ntc.engine.kernels.products import VALUE_UNIT, WEIGHT_BITS, weigh_row
from demosaic_ntc.jit.compiled import fast_step, kernel, precompile

Whole = NDArray[np.int64]

SPREAD_UNIT = 2.0**27  # weighted squares are whole multiples of 1 / SPREAD_UNIT
_WEIGHT = (1 << WEIGHT_BITS) - 1


@fast_step
def _add_rows(units: Whole, row: int, column: int, size: int, sums: Sums) -> None:
    """Add the rows of a patch to the sums; indices are unsigned, since signed ones may count from the end."""
    _, channels, height, width = sums.shape
    flat, entry = sums.reshape(sums.size), np.uint64(0)
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    for channel in range(channels):
        place = np.uint64((channel * height + row) * width + column)
        for _ in range(size):
            if size >= 4:  # all are read before any is written, which lets them be added at once
                a, b = flat[place] + units[entry], flat[place + one] + units[entry + one]
                c, d = flat[place + two] + units[entry + two], flat[place + three] + units[entry + three]
                flat[place], flat[place + one], flat[place + two], flat[place + three] = a, b, c, d
            for j in range(4 if size >= 4 else 0, size):
                flat[place + np.uint64(j)] += units[entry + np.uint64(j)]
            entry += np.uint64(size)
            place += np.uint64(width)


@fast_step
def add_patch(
    group: PatchGroup, k: int, floor: float, row: int, column: int, size: int, units: Whole, sums: Sums
) -> None:
    """Add a patch of the fit to the sums at its place, each entry weighted by the inverse of its error.

    The first of ``sums``, (sum, channel, row, column), is that of the weights and the weighted values.
    ``units`` is room for those of the patch.
    """
    weigh_row(group.fit, group.error, k, group.fit.shape[1], np.float32(floor), units)
    if size == 4:  # the usual sizes are known to the compiler
        _add_rows(units, row, column, 4, sums)
    elif size == 5:
        _add_rows(units, row, column, 5, sums)
    else:
        _add_rows(units, row, column, size, sums)


@fast_step
def add_spread(
    group: PatchGroup,
    k: int,
    estimate: Planes,
    row: int,
    column: int,
    size: int,
    top: int,
    units: Whole,
    sums: Sums,
) -> None:
    """Add what errors are estimated from: the count of patches, and their distance from the estimate.

    ``sums`` are (3, channel, row, column) from row ``top`` on. The second counts the patches, the third adds
    up the weighted squares of their distance from the present estimate. ``units`` are those of the patch.
    """
    entry = 0
    for channel in range(sums.shape[1]):
        for i in range(row, row + size):
            for j in range(column, column + size):
                far = group.fit[k, entry] - estimate[channel, i, j]
                sums[1, channel, i - top, j] += 1
                sums[2, channel, i - top, j] += np.int64(
                    np.float32(units[entry] & _WEIGHT) * far * far * np.float32(SPREAD_UNIT)
                )
                entry += 1


@precompile(int64[:, :, :, ::1], float32[:, :, ::1])
@kernel
def write_means(sums: Sums, planes: Planes) -> None:
    """Write the weighted means of what was added up; entries to which nothing was added stay as they are."""
    for channel in range(planes.shape[0]):
        for i in range(planes.shape[1]):
            for j in range(planes.shape[2]):
                both = sums[0, channel, i, j]
                if both != 0:
                    planes[channel, i, j] = (both >> WEIGHT_BITS) / ((both & _WEIGHT) * VALUE_UNIT)


@precompile(
    int64[:, :, :, ::1], float32[:, :, ::1], float32[:, :, ::1], float32[:, :, ::1], float32[:, :, ::1]
)
@kernel
def write_errors(sums: Sums, estimate: Planes, means: Planes, expected: Planes, spread: Planes) -> None:
    """Write the mean expected squared error of what was added up, and its spread; nothing where nothing was.

    The expected error is the harmonic mean over the patches, the spread their weighted variance.
    """
    for channel in range(means.shape[0]):
        for i in range(means.shape[1]):
            for j in range(means.shape[2]):
                weight = sums[0, channel, i, j] & _WEIGHT
                if weight > 0:
                    moved = means[channel, i, j] - estimate[channel, i, j]
                    square = sums[2, channel, i, j] / (weight * SPREAD_UNIT)
                    expected[channel, i, j] = sums[1, channel, i, j] / weight
                    spread[channel, i, j] = max(square - moved * moved, 0.0)


@precompile(
    float32[:, :, ::1],
    float32[:, :, ::1],
    uint8[:, ::1],
    boolean[:, ::1],
    float32[::1],
    float32[::1],
    float64,
)
@kernel
def relax_update(
    estimate: Planes, said: Planes, known: Bits, wanted: Flags, low: Float32, high: Float32, relaxed: float
) -> None:
    """Turn what groups say into the next estimate, in place: x + ω (g − x) at wanted entries, x elsewhere.

    ``relaxed`` is ω; known entries are kept, the others held between the least and the largest known value.
    """
    step = np.float32(relaxed)
    for channel in range(said.shape[0]):
        for i in range(said.shape[1]):
            before, after = estimate[channel, i], said[channel, i]
            for j in range(said.shape[2]):
                value = before[j] + step * (after[j] - before[j])
                value = min(max(value, low[channel]), high[channel])
                kept = not wanted[i, j] or (known[i, j] >> channel) & 1
                after[j] = before[j] if kept else value


@precompile(float32[:, :, ::1], uint8[:, ::1], boolean[:, ::1], float32[:, :, ::1], float32[:, ::1], float64)
@kernel
def enforce_data_consistency(
    planes: Planes, known: Bits, wanted: Flags, measured: Planes, noise: Float32, least: float
) -> None:
    """Move wanted estimates of noisy entries towards what was measured, all the way where that is exact.

    With the variance s² of a measurement y, x becomes y + (x − y) s² / (s² + least): where measurements are
    worse than ``least``, models know better.
    """
    for channel in range(planes.shape[0]):
        values = measured[min(channel, measured.shape[0] - 1)]
        for i in range(planes.shape[1]):
            for j in range(planes.shape[2]):
                if wanted[i, j] and (known[i, j] >> channel) & 1:
                    estimate, sample = planes[channel, i, j], values[i, j]
                    variance = noise_at(noise[channel], estimate)
                    share = variance / (variance + np.float32(least))
                    planes[channel, i, j] = sample + share * (estimate - sample)
