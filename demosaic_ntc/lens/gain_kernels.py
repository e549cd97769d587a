"""Compiled gains of sites: the light of a mosaic's samples multiplied, and encoded, as it is read."""

import math

import numpy as np
from numba import float32, int64
from numpy.typing import NDArray

from demosaic_ntc.jit.compiled import kernel, precompile

NODE = 16  # pixels from a node of the gains to the next

_ZERO, _ONE = np.float32(0), np.float32(1)


@precompile(
    float32[:, ::1],
    int64[::1],
    float32[:, :, :, ::1],
    float32[::1],
    float32[::1],
)
@kernel
def multiply_samples(
    light: NDArray[np.float32],
    corner: NDArray[np.int64],
    nodes: NDArray[np.float32],
    bounds: NDArray[np.float32],
    codes: NDArray[np.float32],
) -> None:
    """Replace the light of a window of a mosaic, (rows, columns), by codes of that light times gains.

    `corner` is the window's first row and column. `nodes` are the gains of each site of a period, (rows and
    columns of the period, rows and columns of nodes), bilinear in between. `bounds` are the light from which
    on gains fade, that at which they have become 1, the largest light that is kept, and the least that has a
    code. `codes` stand at equal steps of the root of what light exceeds the least by, up to the largest.
    """
    fading, saturated, most, least = bounds[0], bounds[1], bounds[2], bounds[3]
    down, across, columns = nodes.shape[0], nodes.shape[1], nodes.shape[3]
    line = np.empty((across, columns), np.float32)
    scale = np.float32((codes.size - 1) / math.sqrt(most - least))
    of_fade, of_node = np.float32(1 / (saturated - fading)), np.float32(1 / NODE)
    for i in range(light.shape[0]):
        row = corner[0] + i
        top, v = row // NODE, np.float32(row % NODE) * of_node
        for x in range(across):
            above, below = nodes[row % down, x, top], nodes[row % down, x, top + 1]
            for k in range(columns):
                line[x, k] = above[k] + v * (below[k] - above[k])
        x = corner[1] % across - 1
        for j in range(light.shape[1]):
            x = x + 1 if x + 1 < across else 0
            left, u = (corner[1] + j) // NODE, np.float32((corner[1] + j) % NODE) * of_node
            gain = line[x, left] + u * (line[x, left + 1] - line[x, left])
            fade = min(max((saturated - light[i, j]) * of_fade, _ZERO), _ONE)
            value = min(light[i, j] * (_ONE + (gain - _ONE) * fade), most)
            place = scale * np.sqrt(max(value - least, _ZERO))
            before = min(int(place), codes.size - 2)
            light[i, j] = codes[before] + (place - np.float32(before)) * (codes[before + 1] - codes[before])
