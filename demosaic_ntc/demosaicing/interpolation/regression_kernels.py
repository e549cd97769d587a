"""Compiled window regressions of residual interpolation: short sums only, so tiles equal the whole.

A guide g explains samples r in each window by a line a g + b. The slope minimises the difference of the
Laplacians, a = Σ ∇²r ∇²g / Σ (∇²g)²; the offset b = mean(r) - a mean(g); the fit error e is the mean of
(a g + b - r)², and 1 / e is the weight of the window's line in the means that a pixel takes over all
windows around it. The seven sums per window are r, g, r², r g, g², ∇²r ∇²g, (∇²g)².

Values are centred, in [-1/2, 1/2], which keeps the variances accurate in single precision. Rows that are
needed for a few rows only live in rings of `RING` rows, so that they stay in the processor's cache. Inner
loops write one row, index from zero upwards, divide by `np.divide` and take rows by index (unpacking hides
that they are contiguous): anything else is not vectorised. Margins as wide as the windows hold no values of
meaning.
"""

import numpy as np
from numba import float32, int64
from numpy.typing import NDArray

from demosaic_ntc.demosaicing.interpolation.kernels import fill
from demosaic_ntc.jit.compiled import kernel, precompile

Floats = NDArray[np.float32]

MOMENTS = 7
# A line as it is averaged: weight, weight × slope, weight × offset.
LINE = 3
RING = 16

ONE, HALF, FOUR = np.float32(1), np.float32(1 / 2), np.float32(4)
# The least fit error, .01 on a scale of 255.
LEAST_ERROR = np.float32(0.01 / 255**2)
# What rounding leaves of the squared Laplacian of a ramp.
TINY = np.float32(1e-11)


@precompile(float32[:, ::1])
@kernel
def row_estimates(mosaic: Floats) -> Floats:
    """Return at each pixel the colour that its row measures at its neighbours, by residual interpolation.

    In a row of a Bayer mosaic two colours alternate. At the sites of each the guide, which is the other
    colour, is the mean of the two neighbours: nothing here needs to know which colours they are.
    """
    height, width = mosaic.shape
    out = np.zeros((height, width), np.float32)
    moments = np.zeros((MOMENTS, RING, width), np.float32)
    lines = np.zeros((4, LINE, RING, width), np.float32)
    means = np.zeros((2, LINE, width), np.float32)
    for i in range(height):
        take_row_moments(mosaic[i], moments, i % RING)
        if i >= 6:
            fit_row_windows(moments, i - 3, lines)
        if i >= 12:
            average_row_lines(lines, i - 6, means)
            interpolate_row(mosaic[i - 6], means, out[i - 6])
    return out


@kernel
def take_row_moments(y: Floats, moments: Floats, slot: int) -> None:
    """Fill the seven moments of each sample of a row and its guide, the mean of its two neighbours."""
    h, curve_r, curve_g = moments[1, slot], np.zeros(y.size, np.float32), np.zeros(y.size, np.float32)
    guide, inner_r, inner_g = h[1:], curve_r[3:], curve_g[3:]
    for j in range(y.size - 2):
        guide[j] = HALF * (y[j] + y[j + 2])
    for j in range(y.size - 6):
        inner_r[j] = (y[j + 3] + y[j + 3]) - (y[j + 1] + y[j + 5])
    for j in range(y.size - 6):
        inner_g[j] = (h[j + 3] + h[j + 3]) - (h[j + 1] + h[j + 5])
    take_products(y, h, curve_r, curve_g, moments, slot)


@kernel
def take_products(r: Floats, g: Floats, curve_r: Floats, curve_g: Floats, moments: Floats, slot: int) -> None:
    """Fill one row of the seven moments from the samples, their guide and the Laplacians of both."""
    copy(r, moments[0, slot])
    copy(g, moments[1, slot])
    multiply(r, r, moments[2, slot])
    multiply(r, g, moments[3, slot])
    multiply(g, g, moments[4, slot])
    multiply(curve_r, curve_g, moments[5, slot])
    multiply(curve_g, curve_g, moments[6, slot])


@kernel
def copy(row: Floats, out: Floats) -> None:
    """Copy a row; an assignment to a slice would take seconds to compile."""
    for j in range(out.size):
        out[j] = row[j]


@kernel
def multiply(a: Floats, b: Floats, out: Floats) -> None:
    """Multiply two rows."""
    for j in range(out.size):
        out[j] = a[j] * b[j]


@kernel
def add(a: Floats, b: Floats, out: Floats) -> None:
    """Add two rows."""
    for j in range(out.size):
        out[j] = a[j] + b[j]


@kernel
def fit_row_windows(moments: Floats, i: int, lines: Floats) -> None:
    """Fit the lines of the 7×7 windows centred on row i to the samples of each of the four parities.

    Samples may share the parity of the window's centre in both axes (lines[0]), in the row only (1), in the
    column only (2) or in neither (3). Like parities lie at -2, 0, 2; unlike ones at -3, -1, 1, 3.
    """
    width = moments.shape[2]
    column, share = np.empty(width, np.float32), np.empty(width, np.float32)
    like, unlike = np.zeros((MOMENTS, width), np.float32), np.zeros((MOMENTS, width), np.float32)
    for unlike_row in range(2):
        for m in range(MOMENTS):
            if unlike_row:
                add_unlike_rows(moments[m], i, column)
            else:
                add_like_rows(moments[m], i, column)
            add_columns(column, like[m], unlike[m])
        fill(share, np.float32(1 / (9 + 3 * unlike_row)))
        fit_lines(like, share, lines[2 * unlike_row], i % RING)
        fill(share, np.float32(1 / (12 + 4 * unlike_row)))
        fit_lines(unlike, share, lines[2 * unlike_row + 1], i % RING)


@kernel
def add_like_rows(ring: Floats, i: int, out: Floats) -> None:
    """Add the rows of like parity in a window of seven rows."""
    a, b, c = ring[(i - 2) % RING], ring[i % RING], ring[(i + 2) % RING]
    for j in range(out.size):
        out[j] = (a[j] + c[j]) + b[j]


@kernel
def add_unlike_rows(ring: Floats, i: int, out: Floats) -> None:
    """Add the rows of unlike parity in a window of seven rows."""
    a, b, c, d = ring[(i - 3) % RING], ring[(i - 1) % RING], ring[(i + 1) % RING], ring[(i + 3) % RING]
    for j in range(out.size):
        out[j] = (a[j] + d[j]) + (b[j] + c[j])


@kernel
def add_columns(row: Floats, like: Floats, unlike: Floats) -> None:
    """Add the entries at -2, 0, 2 into `like` and those at -3, -1, 1, 3 into `unlike`."""
    near, far = like[3:], unlike[3:]
    for j in range(row.size - 6):
        near[j] = (row[j + 1] + row[j + 5]) + row[j + 3]
    for j in range(row.size - 6):
        far[j] = (row[j] + row[j + 6]) + (row[j + 2] + row[j + 4])


@kernel
def fit_lines(sums: Floats, share: Floats, lines: Floats, slot: int) -> None:
    """Turn the moments of a row of windows into weighted lines; `share` is one over the samples of each."""
    r, g, rr, rg, gg, curve_rg, curve_gg = sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6]
    weights, slopes, offsets = lines[0, slot], lines[1, slot], lines[2, slot]
    for j in range(slopes.size):
        slopes[j] = np.divide(curve_rg[j], curve_gg[j] + TINY)
    for j in range(weights.size):
        mean_r, mean_g = r[j] * share[j], g[j] * share[j]
        var_r = rr[j] * share[j] - mean_r * mean_r
        cov = rg[j] * share[j] - mean_r * mean_g
        var_g = gg[j] * share[j] - mean_g * mean_g
        error = slopes[j] * (slopes[j] * var_g - (cov + cov)) + var_r
        weights[j] = np.divide(ONE, max(error, LEAST_ERROR))
    for j in range(offsets.size):
        offsets[j] = weights[j] * (share[j] * (r[j] - slopes[j] * g[j]))
    multiply(weights, slopes, slopes)


@kernel
def average_row_lines(lines: Floats, i: int, means: Floats) -> None:
    """Add at row i the lines of all windows around each pixel: means[0] for its own colour, [1] the other's.

    A window at an even distance has the pixel's parity, so its like lines are about the pixel's own samples;
    at an odd distance its unlike lines are. The same holds for rows and for columns.
    """
    width = means.shape[2]
    column = np.empty((2, width), np.float32)
    near, far = np.empty(width, np.float32), np.empty(width, np.float32)
    like, unlike = np.zeros((2, width), np.float32), np.zeros((2, width), np.float32)
    for part in range(LINE):
        for side in range(2):
            add_like_rows(lines[side, part], i, near)
            add_unlike_rows(lines[2 + side, part], i, far)
            add(near, far, column[side])
            add_columns(column[side], like[side], unlike[side])
        add(like[0], unlike[1], means[0, part])
        add(like[1], unlike[0], means[1, part])


@kernel
def interpolate_row(y: Floats, means: Floats, out: Floats) -> None:
    """Estimate the other colour along a row by its line, plus the mean residual of the two neighbours."""
    residual, tentative = np.zeros(y.size, np.float32), np.zeros(y.size, np.float32)
    weight, slope, offset = means[0, 0], means[0, 1], means[0, 2]
    inner, target = residual[1:], out[1:]
    for j in range(y.size - 2):
        guide = HALF * (y[j] + y[j + 2])
        line = np.divide(slope[j + 1] * guide + offset[j + 1], weight[j + 1])
        inner[j] = y[j + 1] - min(max(line, -HALF), HALF)
    evaluate_line(y, means[1], tentative)
    for j in range(y.size - 2):
        target[j] = tentative[j + 1] + HALF * (residual[j] + residual[j + 2])


@kernel
def evaluate_line(guide: Floats, mean: Floats, out: Floats) -> None:
    """Apply the mean line of each pixel to its guide, within the range of the samples."""
    weight, slope, offset = mean[0], mean[1], mean[2]
    for j in range(out.size):
        line = np.divide(slope[j] * guide[j] + offset[j], weight[j])
        out[j] = min(max(line, -HALF), HALF)


@precompile(float32[:, ::1], float32[:, ::1], int64, int64)
@kernel
def regress_plane(samples: Floats, guide: Floats, first_row: int, first_column: int) -> tuple[Floats, Floats]:
    """Explain samples on every second row and column by a guide; return the explained plane and the residual.

    Windows are 11×11; the Laplacian is 4 at the centre and -1 at distance two in the four directions. The
    residual is zero off the sample sites, which start at (first_row, first_column).
    """
    height, width = samples.shape
    tentative, residual = np.zeros((height, width), np.float32), np.zeros((height, width), np.float32)
    mask, mean = np.zeros(width, np.float32), np.zeros((LINE, width), np.float32)
    moments, lines = np.zeros((MOMENTS, RING, width), np.float32), np.zeros((LINE, RING, width), np.float32)
    for j in range(first_column, width, 2):
        mask[j] = ONE
    for i in range(2, height - 2):
        if i % 2 == first_row:
            take_plane_moments(samples, guide, i, mask, moments)
        if i >= 12:
            fit_plane_windows(moments, i - 5, mask, (i - 5) % 2 == first_row, lines)
        if i >= 22:
            for part in range(LINE):
                add_window(lines[part], i - 15, 1, 11, mean[part])
            evaluate_line(guide[i - 10], mean, tentative[i - 10])
            if i % 2 == first_row:
                take_residual(samples[i - 10], tentative[i - 10], mask, residual[i - 10])
    return tentative, residual


@kernel
def take_residual(samples: Floats, explained: Floats, mask: Floats, out: Floats) -> None:
    """Fill what is left over of a row of samples, zero off the mask."""
    for j in range(out.size):
        out[j] = (samples[j] - explained[j]) * mask[j]


@kernel
def take_plane_moments(samples: Floats, guide: Floats, i: int, mask: Floats, moments: Floats) -> None:
    """Fill the seven moments of row i of the samples and their guide, zero off the sample sites."""
    r, g = np.zeros(mask.size, np.float32), np.zeros(mask.size, np.float32)
    curve_r, curve_g = np.zeros(mask.size, np.float32), np.zeros(mask.size, np.float32)
    multiply(samples[i], mask, r)
    multiply(guide[i], mask, g)
    take_curve(samples, i, mask, curve_r)
    take_curve(guide, i, mask, curve_g)
    take_products(r, g, curve_r, curve_g, moments, i % RING)


@kernel
def fit_plane_windows(moments: Floats, i: int, mask: Floats, on_samples: bool, lines: Floats) -> None:
    """Fit the lines of the 11×11 windows centred on row i, which holds samples itself or lies between them.

    Eleven rows hold five rows of samples when the middle one does, else six; likewise the columns.
    """
    rows = 5 if on_samples else 6
    sums, share = np.zeros((MOMENTS, mask.size), np.float32), np.empty(mask.size, np.float32)
    for j in range(mask.size):
        share[j] = ONE / (np.float32(rows) * (np.float32(6) - mask[j]))
    for m in range(MOMENTS):
        add_window(moments[m], i + 1 - rows, 2, rows, sums[m])
    fit_lines(sums, share, lines, i % RING)


@kernel
def take_curve(plane: Floats, i: int, mask: Floats, out: Floats) -> None:
    """Fill the Laplacian of every second pixel along row i, zero off the mask."""
    above, here, below = plane[i - 2], plane[i], plane[i + 2]
    inner = out[2:]
    for j in range(mask.size - 4):
        around = (above[j + 2] + below[j + 2]) + (here[j] + here[j + 4])
        inner[j] = mask[j + 2] * (FOUR * here[j + 2] - around)


@kernel
def add_window(ring: Floats, first: int, step: int, count: int, out: Floats) -> None:
    """Add `count` rows of a ring from `first` on, then eleven columns around each pixel."""
    column = np.zeros(out.size, np.float32)
    for k in range(count):
        row = ring[(first + k * step) % RING]
        for j in range(out.size):
            column[j] += row[j]
    inner = out[5:]
    for j in range(out.size - 10):
        left = (column[j] + column[j + 1]) + (column[j + 2] + column[j + 3]) + column[j + 4]
        right = (column[j + 10] + column[j + 9]) + (column[j + 8] + column[j + 7]) + column[j + 6]
        inner[j] = (left + right) + column[j + 5]
