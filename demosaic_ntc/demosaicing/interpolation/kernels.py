"""Compiled filters of the first guesses.

Every output pixel is the same short sum in the same order wherever it lies, so a picture computed in
tiles equals the picture computed at once, bit for bit: no running sums, no reordering of floating point.
Inner loops write one row and index from zero upwards: anything else is not vectorised, and
neither is a division with `/`, which checks for zero (`np.divide` does not), nor a row that was unpacked from
a matrix instead of taken by its index.
"""

import numpy as np
from numba import float32, int64
from numpy.typing import NDArray

from demosaic_ntc.jit.compiled import kernel, precompile

Floats = NDArray[np.float32]

ZERO, ONE, HALF, QUARTER = np.float32(0), np.float32(1), np.float32(1 / 2), np.float32(1 / 4)
NINTH = np.float32(1 / 9)
SMALL_VARIANCE = np.float32(1e-7)
# The least squared variation of a colour difference, .01 on a scale of 255.
LEAST_VARIATION = np.float32(0.01 / 255**2)


def gaussian(sigma: float, first: int, last: int) -> Floats:
    """Return the taps of a Gaussian from position `first` to `last`, with sum 1."""
    taps = np.exp(-(np.arange(first, last + 1) ** 2) / (2 * sigma**2))
    normalised: Floats = (taps / taps.sum()).astype(np.float32)
    return normalised


GAUSSIAN_9 = gaussian(2, -4, 4)
ONE_SIDED_5 = gaussian(1, 0, 4)
ONES_3 = np.ones(3, np.float32)
ONE_TAP = np.ones(1, np.float32)


@precompile(float32[:, ::1], float32[::1], float32[::1])
@kernel
def filter_separably(image: Floats, down: Floats, right: Floats) -> Floats:
    """Correlate every column, then every row, with odd numbers of taps, zeros beyond the border."""
    height, width = image.shape
    above, left = down.size // 2, right.size // 2
    out = np.zeros((height, width), np.float32)
    column = np.zeros(width + 2 * left, np.float32)
    middle = column[left : left + width]
    for i in range(height):
        fill(middle, ZERO)
        first, last = max(0, above - i), min(down.size, height + above - i)
        for k in range(first, last - 3, 4):
            top = i + k - above
            add_four(image[top], image[top + 1], image[top + 2], image[top + 3], down[k:], middle)
        for k in range(last - (last - first) % 4, last):
            add_scaled(image[i + k - above], down[k], middle)
        for k in range(0, right.size - 3, 4):
            add_four(column[k:], column[k + 1 :], column[k + 2 :], column[k + 3 :], right[k:], out[i])
        for k in range(right.size - right.size % 4, right.size):
            add_scaled(column[k:], right[k], out[i])
    return out


@kernel
def fill(out: Floats, value: np.float32) -> None:
    """Set every entry of a row; assignments to slices would take seconds to compile."""
    for j in range(out.size):
        out[j] = value


@kernel
def add_scaled(row: Floats, scale: float, out: Floats) -> None:
    """Add a multiple of a row."""
    for j in range(out.size):
        out[j] += scale * row[j]


@kernel
def add_four(a: Floats, b: Floats, c: Floats, d: Floats, taps: Floats, out: Floats) -> None:
    """Add multiples of four rows one after the other, as by `add_scaled`, with less reading and writing."""
    first, second, third, fourth = taps[0], taps[1], taps[2], taps[3]
    for j in range(out.size):
        out[j] = (((out[j] + first * a[j]) + second * b[j]) + third * c[j]) + fourth * d[j]


@precompile(float32[:, ::1], float32[::1], int64)
@kernel
def filter_diagonally(image: Floats, taps: Floats, turn: int) -> Floats:
    """Correlate every diagonal, down and to the right (1) or left (-1), zeros beyond the border."""
    height, width = image.shape
    reach = taps.size // 2
    out = np.zeros((height, width), np.float32)
    for i in range(height):
        for k in range(max(0, reach - i), min(taps.size, height + reach - i)):
            shift = turn * (k - reach)
            first, last = max(0, -shift), min(width, width - shift)
            if first < last:
                add_scaled(image[i + k - reach, first + shift : last + shift], taps[k], out[i, first:last])
    return out


@precompile(float32[:, ::1], float32[:, ::1])
@kernel
def filter_image(image: Floats, taps: Floats) -> Floats:
    """Correlate an image with a matrix of odd sides; pixels too near the border for all taps stay zero."""
    height, width = image.shape
    reach = taps.shape[0] // 2
    out = np.zeros((height, width), np.float32)
    for i in range(reach, height - reach):
        target = out[i, reach:]
        for k in range(taps.shape[0]):
            for m in range(taps.shape[1]):
                source = image[i + k - reach, m:]
                if taps[k, m] != 0:
                    for j in range(width - 2 * reach):
                        target[j] += taps[k, m] * source[j]
    return out


@precompile(float32[:, ::1], float32[:, ::1])
@kernel
def row_difference(mosaic: Floats, sign: Floats) -> Floats:
    """Estimate green minus colour at every pixel from its own row.

    The colour that is not measured at a pixel is interpolated by (-1, 2, 2, 2, -1) / 4, so measured minus
    interpolated is the difference up to the sign: +1 at green, -1 at red and blue pixels.
    """
    height, width = mosaic.shape
    out = np.zeros((height, width), np.float32)
    for i in range(height):
        y, s, d = mosaic[i], sign[i], out[i, 2:]
        for j in range(width - 4):
            bend = HALF * (y[j + 2] - (y[j + 1] + y[j + 3])) + QUARTER * (y[j] + y[j + 4])
            d[j] = s[j + 2] * bend
    return out


@precompile(float32[:, ::1])
@kernel
def shrink_rows(difference: Floats) -> tuple[Floats, Floats]:
    """Shrink a noisy difference towards its smoothed self, row by row; return it with its error variance.

    Over nine taps of the row let v be nine times the variance of the smoothed signal s and n nine times the
    mean square of s - d, the noise. The best linear estimate is (v d + n s) / (v + n), its error variance
    v n / (v + n).
    """
    height, width = difference.shape
    estimate, variance = np.zeros((height, width), np.float32), np.zeros((height, width), np.float32)
    smoothed = filter_separably(difference, ONE_TAP, GAUSSIAN_9)
    spread, noise = np.empty(width - 8, np.float32), np.empty(width - 8, np.float32)
    for i in range(height):
        d, s = difference[i], smoothed[i]
        sum_squares_around_mean(s, spread)
        sum_square_differences(s, d, noise)
        d_inner, s_inner, e, v = d[4:], s[4:], estimate[i, 4:], variance[i, 4:]
        for j in range(spread.size):
            e[j] = np.divide(d_inner[j] * spread[j] + s_inner[j] * noise[j], spread[j] + noise[j])
        for j in range(spread.size):
            v[j] = np.divide(spread[j] * noise[j], spread[j] + noise[j])
    return estimate, variance


@kernel
def sum_squares_around_mean(row: Floats, out: Floats) -> None:
    """Fill nine times the variance of each nine neighbouring entries, and a little more."""
    mean = np.zeros(out.size, np.float32)
    for k in range(9):
        entry = row[k:]
        for j in range(out.size):
            mean[j] += NINTH * entry[j]
    fill(out, SMALL_VARIANCE)
    for k in range(9):
        entry = row[k:]
        for j in range(out.size):
            out[j] += (entry[j] - mean[j]) * (entry[j] - mean[j])


@kernel
def sum_square_differences(a: Floats, b: Floats, out: Floats) -> None:
    """Fill the sum of squared differences of each nine neighbouring entries, and a little more."""
    fill(out, SMALL_VARIANCE)
    for k in range(9):
        a_entry, b_entry = a[k:], b[k:]
        for j in range(out.size):
            out[j] += (a_entry[j] - b_entry[j]) * (a_entry[j] - b_entry[j])


@precompile(float32[:, ::1])
@kernel
def complete_difference(samples: Floats) -> Floats:
    """Complete a colour difference known at red (or blue) sites and zero elsewhere.

    First the sites of the opposite colour, each from its four diagonal neighbours; then the green sites,
    each from its four direct neighbours. All other neighbours are zero, so both steps are plain filters.
    """
    height, width = samples.shape
    half, out = np.zeros((height, width), np.float32), np.zeros((height, width), np.float32)
    for i in range(1, height - 1):
        above, here, below, target = samples[i - 1], samples[i], samples[i + 1], half[i, 1:]
        for j in range(width - 2):
            target[j] = here[j + 1] + QUARTER * ((above[j] + above[j + 2]) + (below[j] + below[j + 2]))
    for i in range(1, height - 1):
        above, here, below, target = half[i - 1], half[i], half[i + 1], out[i, 1:]
        for j in range(width - 2):
            target[j] = here[j + 1] + QUARTER * ((above[j + 1] + below[j + 1]) + (here[j] + here[j + 2]))
    return out


@precompile(float32[:, ::1], float32[:, ::1])
@kernel
def steer_difference(across: Floats, down: Floats) -> Floats:
    """Combine colour differences estimated along rows and along columns from the sides where they vary least.

    Towards each of the four sides the difference is smoothed by a one-sided Gaussian, five taps with the
    pixel itself. Its weight is one over the squared variation next to the pixel on that side.
    """
    height, width = across.shape
    out = np.zeros((height, width), np.float32)
    row_variation, column_variation = variation(across, 0, 1), variation(down, 1, 0)
    side, total = np.empty(width - 8, np.float32), np.empty(width - 8, np.float32)
    weights = np.empty(width - 8, np.float32)
    for i in range(4, height - 4):
        fill(total, ZERO)
        fill(weights, ZERO)
        for toward in (-1, 1):
            fill(side, ZERO)
            for k in range(5):
                add_scaled(across[i, 4 + toward * k :], ONE_SIDED_5[k], side)
            add_weighted(side, row_variation[i, 4 + toward :], total, weights)
            fill(side, ZERO)
            for k in range(5):
                add_scaled(down[i + toward * k, 4:], ONE_SIDED_5[k], side)
            add_weighted(side, column_variation[i + toward, 4:], total, weights)
        target = out[i, 4:]
        for j in range(total.size):
            target[j] = np.divide(total[j], weights[j])
    return out


@kernel
def variation(plane: Floats, down: int, right: int) -> Floats:
    """Return the 3×3 sum of |next - previous| along the direction (down, right)."""
    height, width = plane.shape
    steps = np.zeros((height, width), np.float32)
    for i in range(1, height - 1):
        after, before, target = plane[i + down, 1 + right :], plane[i - down, 1 - right :], steps[i, 1:]
        for j in range(width - 2):
            target[j] = abs(after[j] - before[j])
    return filter_separably(steps, ONES_3, ONES_3)


@kernel
def add_weighted(estimate: Floats, spread: Floats, total: Floats, weights: Floats) -> None:
    """Add an estimate with the weight one over its squared spread."""
    for j in range(total.size):
        total[j] += np.divide(estimate[j], spread[j] * spread[j] + LEAST_VARIATION)
    for j in range(weights.size):
        weights[j] += np.divide(ONE, spread[j] * spread[j] + LEAST_VARIATION)
