"""Compiled filters of the first guesses.

Every output pixel is the same short sum in the same order wherever it lies, so a picture computed in
tiles equals the picture computed at once, bit for bit: no running sums, no reordering of floating point.
"""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.compiled import kernel

Floats = NDArray[np.float32]

HALF, QUARTER, NINTH = np.float32(1 / 2), np.float32(1 / 4), np.float32(1 / 9)
SMALL_VARIANCE = np.float32(1e-7)
GAUSSIAN_9 = np.exp(-(np.arange(-4, 5) ** 2) / 8)
GAUSSIAN_9 = (GAUSSIAN_9 / GAUSSIAN_9.sum()).astype(np.float32)


@kernel
def filter_rows(image: Floats, taps: Floats) -> Floats:
    """Correlate every row with an odd number of taps, zeros beyond the border."""
    height, width = image.shape
    reach = taps.size // 2
    out = np.zeros((height, width), np.float32)
    for i in range(height):
        source, target = image[i], out[i]
        for k in range(taps.size):
            shift = k - reach
            weight = taps[k]
            for j in range(max(0, -shift), min(width, width - shift)):
                target[j] += weight * source[j + shift]
    return out


@kernel
def filter_columns(image: Floats, taps: Floats) -> Floats:
    """Correlate every column with an odd number of taps, zeros beyond the border."""
    height, width = image.shape
    reach = taps.size // 2
    out = np.zeros((height, width), np.float32)
    for i in range(height):
        target = out[i]
        for k in range(max(0, reach - i), min(taps.size, height + reach - i)):
            source = image[i + k - reach]
            weight = taps[k]
            for j in range(width):
                target[j] += weight * source[j]
    return out


@kernel
def filter_image(image: Floats, taps: Floats) -> Floats:
    """Correlate an image with a matrix of odd sides; pixels too near the border for all taps stay zero."""
    height, width = image.shape
    reach = taps.shape[0] // 2
    out = np.zeros((height, width), np.float32)
    for i in range(reach, height - reach):
        target = out[i]
        for k in range(taps.shape[0]):
            source = image[i + k - reach]
            for m in range(taps.shape[1]):
                weight = taps[k, m]
                if weight != 0:
                    for j in range(reach, width - reach):
                        target[j] += weight * source[j + m - reach]
    return out


@kernel
def row_difference(mosaic: Floats, sign: Floats) -> Floats:
    """Estimate green minus colour at every pixel from its own row.

    The colour that is not measured at a pixel is interpolated by (-1, 2, 2, 2, -1) / 4, so measured minus
    interpolated is the difference up to the sign: +1 at green, -1 at red and blue pixels.
    """
    height, width = mosaic.shape
    out = np.zeros((height, width), np.float32)
    for i in range(height):
        y, s, d = mosaic[i], sign[i], out[i]
        for j in range(2, width - 2):
            far = QUARTER * (y[j - 2] + y[j + 2])
            d[j] = s[j] * (HALF * (y[j] - (y[j - 1] + y[j + 1])) + far)
    return out


@kernel
def shrink_rows(difference: Floats) -> tuple[Floats, Floats]:
    """Shrink a noisy difference towards its smoothed self, row by row; return it with its error variance.

    Over nine taps of the row let v be nine times the variance of the smoothed signal l and n nine times the
    mean square of l - d, the noise. The best linear estimate is (v d + n l) / (v + n), its error v n / (v + n).
    """
    height, width = difference.shape
    estimate, variance = np.zeros((height, width), np.float32), np.zeros((height, width), np.float32)
    mean, spread, noise = np.empty((3, width), np.float32)
    smooth_rows = filter_rows(difference, GAUSSIAN_9)
    for i in range(height):
        d, l = difference[i], smooth_rows[i]
        mean[:], spread[:], noise[:] = 0, SMALL_VARIANCE, SMALL_VARIANCE
        for k in range(9):
            for j in range(4, width - 4):
                mean[j] += NINTH * l[j + k - 4]
        for k in range(9):
            for j in range(4, width - 4):
                spread[j] += (l[j + k - 4] - mean[j]) ** 2
                noise[j] += (l[j + k - 4] - d[j + k - 4]) ** 2
        for j in range(4, width - 4):
            total = spread[j] + noise[j]
            estimate[i, j] = (d[j] * spread[j] + l[j] * noise[j]) / total
            variance[i, j] = spread[j] * noise[j] / total
    return estimate, variance


@kernel
def fuse_directions(across: Floats, across_variance: Floats, down: Floats, down_variance: Floats) -> Floats:
    """Return the mean of two estimates, each weighted by the other's variance."""
    out = np.zeros_like(across)
    for i in range(across.shape[0]):
        for j in range(across.shape[1]):
            total = across_variance[i, j] + down_variance[i, j]
            weighted = across[i, j] * down_variance[i, j] + down[i, j] * across_variance[i, j]
            out[i, j] = weighted / max(total, SMALL_VARIANCE)
    return out


@kernel
def complete_difference(samples: Floats) -> Floats:
    """Complete a colour difference known at red (or blue) sites and zero elsewhere.

    First the sites of the opposite colour, each from its four diagonal neighbours; then the green sites,
    each from its four direct neighbours. All other neighbours are zero, so both steps are plain filters.
    """
    height, width = samples.shape
    half = np.zeros((height, width), np.float32)
    out = np.zeros((height, width), np.float32)
    for i in range(1, height - 1):
        above, here, below = samples[i - 1], samples[i], samples[i + 1]
        for j in range(1, width - 1):
            diagonal = above[j - 1] + above[j + 1] + below[j - 1] + below[j + 1]
            half[i, j] = here[j] + QUARTER * diagonal
    for i in range(1, height - 1):
        above, here, below = half[i - 1], half[i], half[i + 1]
        for j in range(1, width - 1):
            out[i, j] = here[j] + QUARTER * (above[j] + here[j - 1] + here[j + 1] + below[j])
    return out
