"""Normalised convolution over a few pixels, computed only where something is missing."""

import numpy as np
from numba import boolean, float32
from numpy.typing import NDArray

from demosaic_ntc.jit.compiled import fast_kernel, precompile

_TINY = np.float32(1e-6)


@precompile(float32[:, ::1], boolean[:, ::1], float32[::1])
@fast_kernel
def fill_from_nearby(
    plane: NDArray[np.float32], missing: NDArray[np.bool_], falling: NDArray[np.float32]
) -> None:
    """Write the weighted mean of the known pixels around each missing one, in place; zero where none is near.

    A pixel weighs ``falling[|dy|] * falling[|dx|]``, and nothing beyond.
    """
    height, width = plane.shape
    reach = falling.shape[0] - 1
    for row in range(height):
        for column in range(width):
            if not missing[row, column]:
                continue
            total, mass = np.float32(0.0), _TINY
            for i in range(max(row - reach, 0), min(row + reach + 1, height)):
                for j in range(max(column - reach, 0), min(column + reach + 1, width)):
                    if not missing[i, j]:
                        weight = falling[abs(i - row)] * falling[abs(j - column)]
                        total += weight * plane[i, j]
                        mass += weight
            plane[row, column] = total / mass
