"""Compiled cubic splines: a plane between its samples, at any places."""

import math

import numpy as np
from numba import float32, float64
from numpy.typing import NDArray

from demosaic_ntc.jit.compiled import kernel, precompile, step

_TAPS = 4


@step
def _weigh(share: float, weights: NDArray[np.float32]) -> None:
    """Write the weights of the four coefficients around a place that lies a share after the second."""
    rest = 1 - share
    weights[0] = rest * rest * rest / 6
    weights[1] = (4 - 3 * share * share * (1 + rest)) / 6
    weights[2] = (4 - 3 * rest * rest * (1 + share)) / 6
    weights[3] = share * share * share / 6


@step
def _mirror(place: int, length: int) -> int:
    """A row or column within a plane, for one that lies up to two beyond it."""
    if place < 0:
        place = -place
    if place >= length:
        place = 2 * length - 2 - place
    return max(place, 0)


@precompile(float32[:, ::1], float64[:, :, ::1], float32[:, ::1], is_rare=True)
@kernel
def read_splines(
    coefficients: NDArray[np.float32], places: NDArray[np.float64], result: NDArray[np.float32]
) -> None:
    """Write a plane at rows and columns, (2, height, width), from the coefficients of its cubic splines.

    Beyond the border its last samples go on.
    """
    height, width = coefficients.shape
    down, across = np.empty(_TAPS, np.float32), np.empty(_TAPS, np.float32)
    columns = np.empty(_TAPS, np.int64)
    for i in range(result.shape[0]):
        for j in range(result.shape[1]):
            y = min(max(places[0, i, j], 0.0), height - 1.0)
            x = min(max(places[1, i, j], 0.0), width - 1.0)
            top, left = math.floor(y), math.floor(x)
            _weigh(y - top, down)
            _weigh(x - left, across)
            for tap in range(_TAPS):
                columns[tap] = _mirror(left - 1 + tap, width)
            total = np.float32(0.0)
            for p in range(_TAPS):
                row = _mirror(top - 1 + p, height)
                along = np.float32(0.0)
                for q in range(_TAPS):
                    along += across[q] * coefficients[row, columns[q]]
                total += down[p] * along
            result[i, j] = total
