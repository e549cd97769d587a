"""Search for similar patches: least sums of squared differences in a window around each reference."""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.compiled import fast_kernel

Planes = NDArray[np.float32]  # (channels, height, width)
Offsets = NDArray[np.int8]  # (..., patches, 2): rows and columns relative to the reference patch

_FAR = np.float32(1e30)  # beyond all distances, and finite when multiplied by the mass of a patch


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


@fast_kernel
def _compare_rows(
    planes: Planes,
    confidence: NDArray[np.float32],
    row: int,
    column: int,
    dy: int,
    dx: int,
    error: NDArray[np.float32],
    mass: NDArray[np.float32],
) -> None:
    """Write c c′ Σ (x − x′)² and c c′ for a stretch of pixels and their fellows at an offset."""
    count = error.shape[0]
    here = confidence[row, column : column + count]
    there = confidence[row + dy, column + dx : column + dx + count]
    error[:] = np.float32(0.0)
    for channel in range(planes.shape[0]):
        values = planes[channel, row, column : column + count]
        others = planes[channel, row + dy, column + dx : column + dx + count]
        for x in range(count):
            difference = values[x] - others[x]
            error[x] += difference * difference
    for x in range(count):
        mass[x] = here[x] * there[x]
        error[x] *= mass[x]


@fast_kernel
def _add_row(above: NDArray[np.float32], row: NDArray[np.float32]) -> None:
    """Add the sums over the rows above to a row."""
    for x in range(row.shape[0]):
        row[x] += above[x]


@fast_kernel
def _sum_squares(
    above: NDArray[np.float32],
    below: NDArray[np.float32],
    size: int,
    sums: NDArray[np.float32],
    total: NDArray[np.float32],
) -> None:
    """Write the sums over all squares of size × size, given the sums of the columns down to two rows.

    Sums over 1, 2, 4, … neighbours follow from each other; those that make up the size are put together.
    """
    count = sums.shape[0]
    for x in range(count):
        sums[x] = below[x] - above[x]
    for x in range(total.shape[0]):
        total[x] = np.float32(0.0)
    width, taken = 1, 0
    while width <= size:
        if size & width:
            shifted = sums[taken:]
            for x in range(total.shape[0]):
                total[x] += shifted[x]
            taken += width
        count -= width
        for x in range(count):
            sums[x] += sums[x + width]
        width *= 2


@fast_kernel
def match_trusted(
    planes: Planes,
    confidence: NDArray[np.float32],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    size: int,
    offsets: NDArray[np.int64],
    found: Offsets,
) -> None:
    """Write the offsets of the patches most like each reference patch, itself first, into ``found``.

    The distance of two patches is Σ c c′ (x − x′)² / Σ c c′: what is not known counts little. References
    come sorted by rows and should lie close together, since the differences at one offset are computed for
    all of them at once and summed over squares. These sums are differences of sums down the columns, in which
    confidences below a thousandth would drown. ``found`` is (references, patches, 2).
    """
    _, height, width = planes.shape
    last, patches = rows.shape[0], found.shape[1]
    top, bottom, left, right = rows[0], rows[last - 1] + size, columns.min(), columns.max() + size
    errors = np.zeros((bottom - top + 1, right - left), np.float32)
    masses = np.zeros_like(errors)
    sums = np.empty(right - left, np.float32)
    error, mass = np.empty_like(sums), np.empty_like(sums)
    best = np.full((last, patches), _FAR, np.float32)
    best[:, 0] = -1.0
    found[:] = 0
    for offset in range(offsets.shape[0]):
        dy, dx = offsets[offset, 0], offsets[offset, 1]
        first, first_row = max(left, -dx), max(top, -dy)
        count, end_row = min(right, width - dx) - first, min(bottom, height - dy)
        squares = count - size + 1
        if squares < 1:
            continue
        for row in range(first_row, end_row):
            at = row - first_row
            error_here, mass_here = errors[at + 1, :count], masses[at + 1, :count]
            _compare_rows(planes, confidence, row, first, dy, dx, error_here, mass_here)
            _add_row(errors[at], error_here)
            _add_row(masses[at], mass_here)
        row = -1
        for reference in range(last):
            if rows[reference] < first_row or rows[reference] + size > end_row:
                continue
            if rows[reference] != row:
                row = rows[reference]
                above, below = row - first_row, row - first_row + size
                _sum_squares(errors[above], errors[below], size, sums[:count], error[:squares])
                _sum_squares(masses[above], masses[below], size, sums[:count], mass[:squares])
            x = columns[reference] - first
            if 0 <= x < squares and error[x] < best[reference, -1] * mass[x]:
                _insert(best[reference], found[reference], error[x] / mass[x], dy, dx)
