"""Compiled guided regression in Gaussian windows over samples on any mask; short sums only.

In each window the samples r are explained by a line a g + b in the guide g: a = (cov(r, g) + ridge · prior) /
(var(g) + ridge) and b = mean(r) - a mean(g). A pixel takes the mean of the lines of all windows around it,
each with the weight one over its mean squared error. Loops are written as `regression_kernels` explains, rows
live in rings of as many rows as a window has, and beyond the border there are neither samples nor windows.
"""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.compiled import kernel
from demosaic_ntc.imaging.first_guess.kernels import fill
from demosaic_ntc.imaging.first_guess.regression_kernels import copy, multiply

Floats = NDArray[np.float32]

# Sums per window: samples, r, g, r², r g, g². Parts of a line: weight, weight × slope, weight × offset.
MOMENTS, LINE = 6, 3

ZERO, ONE, TWO = np.float32(0), np.float32(1), np.float32(2)
# The least mean squared error of a window, .01 on a scale of 255.
LEAST_ERROR = np.float32(0.01 / 255**2)


@kernel
def explain(samples: Floats, guide: Floats, mask: Floats, taps: Floats, ridge: float, prior: float) -> Floats:
    """Return at each pixel the value that the guide predicts from the samples around it."""
    height, width = samples.shape
    radius, ring = taps.size // 2, taps.size
    out = np.zeros((height, width), np.float32)
    moments = np.zeros((MOMENTS, ring, width + 2 * radius), np.float32)
    lines = np.zeros((LINE, ring, width + 2 * radius), np.float32)
    sums, means = np.zeros((MOMENTS, width), np.float32), np.zeros((LINE, width), np.float32)
    for i in range(height + 2 * radius):
        for part in range(MOMENTS):
            fill(moments[part, i % ring], ZERO)
        for part in range(LINE):
            fill(lines[part, (i - radius) % ring], ZERO)
        if i < height:
            take_moments(samples[i], guide[i], mask[i], moments, i % ring)
        if radius <= i < height + radius:
            blur_rows(moments, i - radius, taps, sums)
            fit_ridge_lines(sums, ridge, prior, lines, (i - radius) % ring)
        if i >= 2 * radius:
            blur_rows(lines, i - 2 * radius, taps, means)
            predict(guide[i - 2 * radius], means, out[i - 2 * radius])
    return out


@kernel
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


@kernel
def blur_rows(rings: Floats, i: int, taps: Floats, out: Floats) -> None:
    """Fill the sums around row i of each ring, weighted by taps that are symmetric."""
    ring, radius = taps.size, taps.size // 2
    column = np.empty(rings.shape[2], np.float32)
    for part in range(rings.shape[0]):
        plane, target = rings[part], out[part]
        scale(plane[i % ring], taps[radius], column)
        for k in range(radius):
            add_scaled_pair(plane[(i + k - radius) % ring], plane[(i - k + radius) % ring], taps[k], column)
        scale(column[radius:], taps[radius], target)
        for k in range(radius):
            add_scaled_pair(column[k:], column[2 * radius - k :], taps[k], target)


@kernel
def scale(row: Floats, factor: float, out: Floats) -> None:
    """Fill a multiple of a row."""
    for j in range(out.size):
        out[j] = factor * row[j]


@kernel
def add_scaled_pair(a: Floats, b: Floats, factor: float, out: Floats) -> None:
    """Add a multiple of the sum of two rows."""
    for j in range(out.size):
        out[j] += factor * (a[j] + b[j])


@kernel
def fit_ridge_lines(sums: Floats, ridge: float, prior: float, lines: Floats, slot: int) -> None:
    """Turn the sums of a row of windows into weighted lines."""
    n, r, g, rr, rg, gg = sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]
    slope, weight = np.empty(n.size, np.float32), np.empty(n.size, np.float32)
    offset, keep, pull = np.empty(n.size, np.float32), np.float32(ridge), np.float32(ridge * prior)
    for j in range(n.size):
        share = np.divide(ONE, n[j])
        variance = max(share * gg[j] - (share * g[j]) * (share * g[j]), np.float32(0))
        covariance = share * rg[j] - (share * r[j]) * (share * g[j])
        slope[j] = np.divide(covariance + pull, variance + keep)
    for j in range(n.size):
        share = np.divide(ONE, n[j])
        mean_r, mean_g = share * r[j], share * g[j]
        variance = max(share * gg[j] - mean_g * mean_g, np.float32(0))
        explained = slope[j] * (slope[j] * variance - TWO * (share * rg[j] - mean_r * mean_g))
        weight[j] = np.divide(ONE, max(explained + (share * rr[j] - mean_r * mean_r), LEAST_ERROR))
    for j in range(n.size):
        offset[j] = np.divide(r[j] - slope[j] * g[j], n[j])
    first = lines.shape[1] // 2
    last = first + n.size
    copy(weight, lines[0, slot, first:last])
    multiply(weight, slope, lines[1, slot, first:last])
    multiply(weight, offset, lines[2, slot, first:last])


@kernel
def predict(guide: Floats, means: Floats, out: Floats) -> None:
    """Apply the mean line of each pixel of a row to its guide."""
    weight, slope, offset = means[0], means[1], means[2]
    for j in range(out.size):
        out[j] = np.divide(slope[j] * guide[j] + offset[j], weight[j])
