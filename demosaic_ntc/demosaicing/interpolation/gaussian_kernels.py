"""Compiled guided regression in Gaussian windows over samples on any mask; short sums only.

In each window the samples r are explained by a line a g + b in the guide g: a = (cov(r, g) + ridge · prior) /
(var(g) + ridge) and b = mean(r) - a mean(g). A pixel takes the mean of the lines of all windows around it,
each with the weight one over its mean squared error. Loops are written as `regression_kernels` explains, rows
live in rings of as many rows as a window has, and beyond the border there are neither samples nor windows.
"""

import numpy as np
from numba import float32, float64
from numpy.typing import NDArray

from demosaic_ntc.demosaicing.interpolation.kernels import fill
from demosaic_ntc.demosaicing.interpolation.regression_kernels import copy, multiply
from demosaic_ntc.jit.compiled import kernel, precompile, step

Floats = NDArray[np.float32]

# Sums per window: samples, r, g, r², r g, g². Parts of a line: weight, weight × slope, weight × offset.
MOMENTS, LINE = 6, 3
SCRATCH = 3  # rows of room

ZERO, ONE, TWO = np.float32(0), np.float32(1), np.float32(2)
# The least mean squared error of a window, .01 on a scale of 255.
LEAST_ERROR = np.float32(0.01 / 255**2)


@precompile(float32[:, ::1], float32[:, ::1], float32[:, ::1], float32[::1], float64, float64)
@kernel
def explain(samples: Floats, guide: Floats, mask: Floats, taps: Floats, ridge: float, prior: float) -> Floats:
    """Return at each pixel the value that the guide predicts from the samples around it."""
    height, width = samples.shape
    wide, ring = width + 2 * (taps.size // 2), taps.size
    out = np.zeros((height, width), np.float32)
    moments, lines = np.zeros((MOMENTS, ring, wide), np.float32), np.zeros((LINE, ring, wide), np.float32)
    room = np.zeros((MOMENTS + LINE + SCRATCH, wide), np.float32)
    explain_rows(samples, guide, mask, taps, np.float32(ridge), np.float32(prior), moments, lines, room, out)
    return out


@step
def explain_rows(
    samples: Floats,
    guide: Floats,
    mask: Floats,
    taps: Floats,
    ridge: np.float32,
    prior: np.float32,
    moments: Floats,
    lines: Floats,
    room: Floats,
    out: Floats,
) -> None:
    """Write what the guide predicts, row by row; rings and room are zero at first."""
    height, radius, ring = samples.shape[0], taps.size // 2, taps.size
    sums, means, scratch = room[:MOMENTS], room[MOMENTS : MOMENTS + LINE], room[MOMENTS + LINE :]
    for i in range(height + 2 * radius):
        for part in range(MOMENTS):
            fill(moments[part, i % ring], ZERO)
        for part in range(LINE):
            fill(lines[part, (i - radius) % ring], ZERO)
        if i < height:
            take_moments(samples[i], guide[i], mask[i], moments, i % ring)
        if radius <= i < height + radius:
            blur_rows(moments, i - radius, taps, scratch[0], sums)
            fit_ridge_lines(sums, ridge, prior, scratch, lines, (i - radius) % ring)
        if i >= 2 * radius:
            blur_rows(lines, i - 2 * radius, taps, scratch[0], means)
            predict(guide[i - 2 * radius], means, out[i - 2 * radius])


@step
def take_moments(samples: Floats, guide: Floats, mask: Floats, moments: Floats, slot: int) -> None:
    """Fill a row of the six moments, zero off the mask."""
    first = moments.shape[1] // 2
    last = first + mask.size
    r, g = moments[1, slot, first:last], moments[2, slot, first:last]
    copy(mask, moments[0, slot, first:last])
    multiply(samples, mask, r)
    multiply(guide, mask, g)
    multiply(r, samples, moments[3, slot, first:last])
    multiply(r, guide, moments[4, slot, first:last])
    multiply(g, guide, moments[5, slot, first:last])


@step
def blur_rows(rings: Floats, i: int, taps: Floats, column: Floats, out: Floats) -> None:
    """Fill the sums around row i of each ring, weighted by taps that are symmetric; ``column`` is room."""
    ring, radius = taps.size, taps.size // 2
    width = rings.shape[2] - 2 * radius
    for part in range(rings.shape[0]):
        plane, target = rings[part], out[part, :width]
        if ring == 9:  # the usual length is known to the compiler
            blur_nine_rows(plane, i, taps, column)
            blur_nine_columns(column, taps, target)
            continue
        scale(plane[i % ring], taps[radius], column)
        for k in range(radius):
            add_scaled_pair(plane[(i + k - radius) % ring], plane[(i - k + radius) % ring], taps[k], column)
        scale(column[radius:], taps[radius], target)
        for k in range(radius):
            add_scaled_pair(column[k:], column[2 * radius - k :], taps[k], target)


@step
def blur_nine_rows(plane: Floats, i: int, taps: Floats, out: Floats) -> None:
    """Fill the sum of the nine rows of a ring around row i, weighted by symmetric taps."""
    first, second, third, fourth = taps[0], taps[1], taps[2], taps[3]
    a, b, c, d = plane[(i - 4) % 9], plane[(i - 3) % 9], plane[(i - 2) % 9], plane[(i - 1) % 9]
    e, f, g, h = plane[(i + 4) % 9], plane[(i + 3) % 9], plane[(i + 2) % 9], plane[(i + 1) % 9]
    middle, here = taps[4], plane[i % 9]
    for j in range(out.size):
        far = first * (a[j] + e[j]) + second * (b[j] + f[j])
        out[j] = middle * here[j] + far + third * (c[j] + g[j]) + fourth * (d[j] + h[j])


@step
def blur_nine_columns(row: Floats, taps: Floats, out: Floats) -> None:
    """Fill the sum of nine neighbouring entries, weighted by symmetric taps."""
    first, second, third, fourth, middle = taps[0], taps[1], taps[2], taps[3], taps[4]
    for j in range(out.size):
        far = first * (row[j] + row[j + 8]) + second * (row[j + 1] + row[j + 7])
        near = third * (row[j + 2] + row[j + 6]) + fourth * (row[j + 3] + row[j + 5])
        out[j] = middle * row[j + 4] + far + near


@step
def scale(row: Floats, factor: float, out: Floats) -> None:
    """Fill a multiple of a row."""
    for j in range(out.size):
        out[j] = factor * row[j]


@step
def add_scaled_pair(a: Floats, b: Floats, factor: float, out: Floats) -> None:
    """Add a multiple of the sum of two rows."""
    for j in range(out.size):
        out[j] += factor * (a[j] + b[j])


@step
def fit_ridge_lines(
    sums: Floats, ridge: np.float32, prior: np.float32, scratch: Floats, lines: Floats, slot: int
) -> None:
    """Turn the sums of a row of windows into weighted lines; ``scratch`` is room for three rows."""
    first = lines.shape[1] // 2
    width = lines.shape[2] - 2 * first
    slope, weight, offset = scratch[0, :width], scratch[1, :width], scratch[2, :width]
    n, r, g, rr, rg, gg = sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]
    pull = ridge * prior
    for j in range(width):
        share = np.divide(ONE, n[j])
        variance = max(share * gg[j] - (share * g[j]) * (share * g[j]), ZERO)
        covariance = share * rg[j] - (share * r[j]) * (share * g[j])
        slope[j] = np.divide(covariance + pull, variance + ridge)
    for j in range(width):
        share = np.divide(ONE, n[j])
        mean_r, mean_g = share * r[j], share * g[j]
        variance = max(share * gg[j] - mean_g * mean_g, ZERO)
        explained = slope[j] * (slope[j] * variance - TWO * (share * rg[j] - mean_r * mean_g))
        weight[j] = np.divide(ONE, max(explained + (share * rr[j] - mean_r * mean_r), LEAST_ERROR))
    for j in range(width):
        offset[j] = np.divide(r[j] - slope[j] * g[j], n[j])
    last = first + width
    copy(weight, lines[0, slot, first:last])
    multiply(weight, slope, lines[1, slot, first:last])
    multiply(weight, offset, lines[2, slot, first:last])


@step
def predict(guide: Floats, means: Floats, out: Floats) -> None:
    """Apply the mean line of each pixel of a row to its guide."""
    weight, slope, offset = means[0], means[1], means[2]
    for j in range(out.size):
        out[j] = np.divide(slope[j] * guide[j] + offset[j], weight[j])
