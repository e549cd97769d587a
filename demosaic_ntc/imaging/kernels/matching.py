"""Search for similar patches: least sums of squared differences in a window around each reference."""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.compiled import fast_kernel

Planes = NDArray[np.float32]  # (channels, height, width)
Offsets = NDArray[np.int8]  # (..., patches, 2): rows and columns relative to the reference patch

_FAR = np.float32(3e38)


@fast_kernel
def _add_row_of_differences(
    planes: Planes,
    row: int,
    column: int,
    other: int,
    first: int,
    count: int,
    size: int,
    sums: NDArray[np.float32],
) -> None:
    """Add Σ (difference)² between the reference patch and ``count`` patches of one row of candidates."""
    for channel in range(planes.shape[0]):
        for i in range(size):
            for j in range(size):
                value = planes[channel, row + i, column + j]
                candidates = planes[channel, other + i, first + j : first + j + count]
                for step in range(count):
                    difference = candidates[step] - value
                    sums[step] += difference * difference


@fast_kernel
def _insert(best: NDArray[np.float32], found: Offsets, error: np.float32, dy: int, dx: int) -> None:
    """Put a candidate in its place among the best so far; of equals the first found stays first."""
    place = best.shape[0] - 1
    while place > 0 and best[place - 1] > error:
        best[place] = best[place - 1]
        found[place, 0], found[place, 1] = found[place - 1, 0], found[place - 1, 1]
        place -= 1
    best[place] = error
    found[place, 0], found[place, 1] = dy, dx


@fast_kernel
def match_patches(
    planes: Planes, rows: NDArray[np.int64], columns: NDArray[np.int64], size: int, reach: int, found: Offsets
) -> None:
    """Write the offsets of the patches most like each reference patch, itself first, into ``found``.

    ``found`` is (references down, references across, patches, 2); where a picture holds fewer patches than
    that, the nearest ones are repeated.
    """
    _, height, width = planes.shape
    sums = np.empty(2 * reach + 1, np.float32)
    best = np.empty(found.shape[2], np.float32)
    for at_row in range(rows.shape[0]):
        row = rows[at_row]
        for at_column in range(columns.shape[0]):
            column = columns[at_column]
            group = found[at_row, at_column]
            group[:] = 0
            best[:] = _FAR
            best[0] = -1.0
            first = max(column - reach, 0)
            count = min(column + reach, width - size) - first + 1
            for other in range(max(row - reach, 0), min(row + reach, height - size) + 1):
                sums[:count] = 0.0
                _add_row_of_differences(planes, row, column, other, first, count, size, sums)
                for step in range(count):
                    dy, dx = other - row, first + step - column
                    if sums[step] < best[-1] and (dy != 0 or dx != 0):
                        _insert(best, group, sums[step], dy, dx)
