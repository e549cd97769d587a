"""Compiled resampling: every channel of every pixel from a place of its own, by a few around that."""

import math

import numpy as np
from numba import float32, float64, int64
from numpy.typing import NDArray

from demosaic_ntc.jit.compiled import kernel, precompile, step

TAPS = 10  # pixels in each direction that a value is made of
_BEFORE = TAPS // 2 - 1  # of them lie before the one that a place belongs to
PHASES = 1024  # steps from one pixel to the next at which weights are known


@step
def _place_between(grid: NDArray[np.float64], y: float, x: float) -> float:
    """The coordinate at a place between the nodes of a grid, bilinear."""
    top, left = min(int(y), grid.shape[0] - 2), min(int(x), grid.shape[1] - 2)
    v, u = y - top, x - left
    above = grid[top, left] + u * (grid[top, left + 1] - grid[top, left])
    below = grid[top + 1, left] + u * (grid[top + 1, left + 1] - grid[top + 1, left])
    return float(above + v * (below - above))


@precompile(
    float32[:, :, ::1],
    int64[::1],
    float64[:, :, :, ::1],
    float64[::1],
    float32[:, ::1],
    float32[:, :, ::1],
)
@kernel
def resample(
    source: NDArray[np.float32],
    frame: NDArray[np.int64],
    grid: NDArray[np.float64],
    steps: NDArray[np.float64],
    weights: NDArray[np.float32],
    result: NDArray[np.float32],
) -> None:
    """Write a part of a picture, (rows, columns, 3), whose pixels come from elsewhere in another.

    `source` is a window of that, (height, width, 3); `frame` is its first row and column, and the height and
    width of the whole, beyond which the pixels of the border go on. `grid` holds rows and columns of the
    whole for each channel at nodes, (3, 2, down, across); `steps` are the place of the first pixel of the
    result among the nodes, and nodes per pixel, each down and across. `weights` are those of the ten pixels
    around a place, for each phase between the fifth and the sixth.
    """
    top, left, height, width = frame[0], frame[1], frame[2], frame[3]
    rows, columns = np.empty(TAPS, np.int64), np.empty(TAPS, np.int64)
    for i in range(result.shape[0]):
        v = steps[0] + i * steps[2]
        for j in range(result.shape[1]):
            u = steps[1] + j * steps[3]
            for channel in range(3):
                y = min(max(_place_between(grid[channel, 0], v, u), -TAPS), height - 1.0 + TAPS)
                x = min(max(_place_between(grid[channel, 1], v, u), -TAPS), width - 1.0 + TAPS)
                first_row, first_column = math.floor(y), math.floor(x)
                down = int((y - first_row) * PHASES + 0.5)
                across = int((x - first_column) * PHASES + 0.5)
                for tap in range(TAPS):
                    rows[tap] = min(max(first_row - _BEFORE + tap, 0), height - 1) - top
                    columns[tap] = min(max(first_column - _BEFORE + tap, 0), width - 1) - left
                total = np.float32(0.0)
                for p in range(TAPS):
                    along = np.float32(0.0)
                    for q in range(TAPS):
                        along += weights[across, q] * source[rows[p], columns[q], channel]
                    total += weights[down, p] * along
                result[i, j, channel] = total
