"""Compiled steps of colour differences along directions, on any colour array.

What a filter weighs a mask by repeats itself from period to period of the array, except at the border: it is
kept for few rows, and `rows` tells which of them stands for each row of the picture.
"""

import numpy as np
from numba import float32, int64
from numpy.typing import NDArray

from demosaic_ntc.jit.compiled import kernel, precompile

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]

ZERO = np.float32(0)
SMALL_VARIANCE = np.float32(1e-7)


@precompile(float32[:, ::1], float32[:, ::1], int64[::1], is_rare=True)
@kernel
def divide_by_mass(sums: Floats, mass: Floats, rows: Rows) -> None:
    """Divide weighted sums on a mask by the weights of that, in place."""
    for i in range(sums.shape[0]):
        row, own = sums[i], mass[rows[i]]
        for j in range(row.size):
            row[j] = np.divide(row[j], own[j])


@precompile(float32[:, ::1], float32[:, ::1], float32[:, ::1], float32[:, ::1], is_rare=True)
@kernel
def square_misses(smooth: Floats, difference: Floats, mask: Floats, out: Floats) -> None:
    """Fill the squares of what differences miss their smoothed selves by, zero off the mask."""
    for i in range(out.shape[0]):
        s, d, m, target = smooth[i], difference[i], mask[i], out[i]
        for j in range(target.size):
            target[j] = (s[j] - d[j]) * (s[j] - d[j]) * m[j]


@precompile(
    *(float32[:, ::1],) * 5,
    *(float32[:, ::1], int64[::1]) * 2,
    float32[:, ::1],
    float32,
    *(float32[:, ::1],) * 2,
    is_rare=True,
)
@kernel
def add_estimates(
    difference: Floats,
    smooth: Floats,
    squares: Floats,
    means: Floats,
    misses: Floats,
    whole: Floats,
    whole_rows: Rows,
    mass: Floats,
    mass_rows: Rows,
    mask: Floats,
    share: np.float32,
    total: Floats,
    weights: Floats,
) -> None:
    """Add the estimates of a direction and their weights at the samples of a colour.

    ``squares`` and ``means`` are sums of s² and s in a window, ``misses`` those of (s − d)² at samples; the
    weights of these windows are ``whole`` and ``mass``. With v the variance of s and n the mean of (s − d)²,
    the estimate is (v d + n s) / (v + n); its weight is a share of the inverse square of its error variance
    v n / (v + n).
    """
    for i in range(total.shape[0]):
        d, s, square, mean, miss, m = difference[i], smooth[i], squares[i], means[i], misses[i], mask[i]
        all_of, some_of = whole[whole_rows[i]], mass[mass_rows[i]]
        sums, own = total[i], weights[i]
        for j in range(sums.size):
            middle = np.divide(mean[j], all_of[j])
            v = max(np.divide(square[j], all_of[j]) - middle * middle, ZERO) + SMALL_VARIANCE
            n = np.divide(miss[j], some_of[j]) + SMALL_VARIANCE
            variance = SMALL_VARIANCE + np.divide(v * n, v + n)
            weight = m[j] * np.divide(share, variance * variance)
            sums[j] += weight * np.divide(d[j] * v + s[j] * n, v + n)
            own[j] += weight
