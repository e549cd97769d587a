"""Where the samples of a frame lie in the reference picture, and what their misfit says about that.

A sample at q = (row, column) of a frame lies at A q + t + f(q): an affine map, and where a scene or a shutter
moves by parts, a flow that is stored at every FLOW_CELL-th pixel and interpolated between.
"""

import numpy as np
from numba import boolean, float32, float64, int64, uint8

from demosaic_ntc.arrays import Bits, Flags, Float32, Float64, Planes
from demosaic_ntc.jit.compiled import fast_step, kernel, precompile

FLOW_CELL = 16  # pixels between the places at which a flow is stored
PARAMETERS = 6  # of an affine map: t, the rows' and the columns' factors, of the row, then of the column
_APART = np.float32(
    0.7
)  # pixels between which slopes are taken: they are those of a picture slightly blurred
_ZERO, _ONE, _HALF = np.float32(0.0), np.float32(1.0), np.float32(0.5)


@fast_step
def flow_at(flow: Float32, axis: int, y: int, x: int) -> np.float32:
    """Return the flow of a pixel, linear between the places at which it is stored; zero without any."""
    rows, columns = flow.shape[1], flow.shape[2]
    if rows == 0:
        return _ZERO
    v, u = np.float32(y) / np.float32(FLOW_CELL), np.float32(x) / np.float32(FLOW_CELL)
    i, j = min(int(v), rows - 2), min(int(u), columns - 2)
    a, b = v - np.float32(i), u - np.float32(j)
    top = flow[axis, i, j] + b * (flow[axis, i, j + 1] - flow[axis, i, j])
    bottom = flow[axis, i + 1, j] + b * (flow[axis, i + 1, j + 1] - flow[axis, i + 1, j])
    return np.float32(top + a * (bottom - top))


@fast_step
def place_of_sample(affine: Float64, flow: Float32, axis: int, y: int, x: int) -> float:
    """Return the row (``axis`` 0) or the column (1) of the reference at which a sample of a frame lies."""
    straight = affine[axis, 0] + affine[axis, 1] * y + affine[axis, 2] * x
    return float(straight + flow_at(flow, axis, y, x))


@fast_step
def read_linear(plane: Float32, row: np.float32, column: np.float32) -> np.float32:
    """Return a plane between its pixels, linear; its border goes on outside."""
    height, width = plane.shape
    row = min(max(row, _ZERO), np.float32(height - 1))
    column = min(max(column, _ZERO), np.float32(width - 1))
    i, j = min(int(row), max(height - 2, 0)), min(int(column), max(width - 2, 0))
    down, right = min(i + 1, height - 1), min(j + 1, width - 1)
    a, b = row - np.float32(i), column - np.float32(j)
    top = plane[i, j] + b * (plane[i, right] - plane[i, j])
    bottom = plane[down, j] + b * (plane[down, right] - plane[down, j])
    return np.float32(top + a * (bottom - top))


@fast_step
def _misfit(
    value: np.float32,
    plane: Float32,
    detail: Float32,
    cell: int,
    variance: np.float32,
    row: float,
    column: float,
    out: Float32,
) -> np.float32:
    """Write the misfit of a sample, and the slopes of the reference there; return its weight.

    Where there is detail samples are trusted less, and those far off are trusted less and less.
    """
    r, c = np.float32(row), np.float32(column)
    out[0] = value - read_linear(plane, r, c)
    out[1] = (read_linear(plane, r + _APART, c) - read_linear(plane, r - _APART, c)) / (_APART + _APART)
    out[2] = (read_linear(plane, r, c + _APART) - read_linear(plane, r, c - _APART)) / (_APART + _APART)
    i = min(int(row) // cell, detail.shape[0] - 1)
    j = min(int(column) // cell, detail.shape[1] - 1)
    weight = _ONE / (variance + _HALF * detail[i, j])
    return np.float32(weight / (_ONE + np.float32(0.25) * out[0] * out[0] * weight))


@precompile(
    float32[:, ::1],
    boolean[:, ::1],
    uint8[:, ::1],
    float32[:, :, ::1],
    float32[:, :, ::1],
    int64,
    float32[::1],
    float64[:, ::1],
    float32[:, :, ::1],
    int64,
    int64,
    float64[:, ::1],
    is_rare=True,
)
@kernel
def add_affine_equations(
    samples: Float32,
    missing: Flags,
    pattern: Bits,
    planes: Planes,
    detail: Planes,
    cell: int,
    variance: Float32,
    affine: Float64,
    flow: Float32,
    top: int,
    step: int,
    normal: Float64,
) -> None:
    """Add up the normal equations of a better affine map, over rows of a frame that start at row ``top``.

    ``normal`` is (PARAMETERS + 1, PARAMETERS + 1): J ᵀW J, its last row JᵀW r, its last entry Σ W r². Places
    are taken about the frame's origin. Every ``step``-th group of rows and columns of the array's period is
    looked at. ``detail`` is (channels, rows, columns) in cells of so many pixels.
    """
    down, across = pattern.shape
    height, width = planes.shape[1], planes.shape[2]
    slopes, jacobian = np.empty(3, np.float32), np.empty(PARAMETERS + 1, np.float64)
    for i in range(samples.shape[0]):
        y = top + i
        if (y // down) % step:
            continue
        for x in range(samples.shape[1]):
            if (x // across) % step or missing[i, x]:
                continue
            row = place_of_sample(affine, flow, 0, y, x)
            column = place_of_sample(affine, flow, 1, y, x)
            if not (1.0 <= row <= height - 2.0 and 1.0 <= column <= width - 2.0):
                continue
            channel = pattern[y % down, x % across]
            weight = _misfit(
                samples[i, x], planes[channel], detail[channel], cell, variance[channel], row, column, slopes
            )
            for axis in range(2):
                slope = float(slopes[1 + axis])
                jacobian[3 * axis] = slope
                jacobian[3 * axis + 1] = slope * y
                jacobian[3 * axis + 2] = slope * x
            jacobian[PARAMETERS] = slopes[0]
            for a in range(PARAMETERS + 1):
                left = float(weight) * jacobian[a]
                for b in range(a + 1):
                    normal[a, b] += left * jacobian[b]


@precompile(
    float32[:, ::1],
    boolean[:, ::1],
    uint8[:, ::1],
    float32[:, :, ::1],
    float32[:, :, ::1],
    int64,
    float32[::1],
    float64[:, ::1],
    float32[:, :, ::1],
    int64,
    int64,
    float32[:, :, ::1],
    is_rare=True,
)
@kernel
def add_flow_equations(
    samples: Float32,
    missing: Flags,
    pattern: Bits,
    planes: Planes,
    detail: Planes,
    cell: int,
    variance: Float32,
    affine: Float64,
    flow: Float32,
    top: int,
    coarse: int,
    normal: Float32,
) -> None:
    """Add up the equations of how far places have moved besides, in cells of ``coarse`` pixels of a frame.

    ``normal`` is (5, rows, columns): the three of JᵀW J, then JᵀW r of rows and columns.
    """
    down, across = pattern.shape
    height, width = planes.shape[1], planes.shape[2]
    slopes = np.empty(3, np.float32)
    for i in range(samples.shape[0]):
        y = top + i
        for x in range(samples.shape[1]):
            if missing[i, x]:
                continue
            row = place_of_sample(affine, flow, 0, y, x)
            column = place_of_sample(affine, flow, 1, y, x)
            if not (1.0 <= row <= height - 2.0 and 1.0 <= column <= width - 2.0):
                continue
            channel = pattern[y % down, x % across]
            weight = _misfit(
                samples[i, x], planes[channel], detail[channel], cell, variance[channel], row, column, slopes
            )
            at, to = y // coarse, x // coarse
            normal[0, at, to] += weight * slopes[1] * slopes[1]
            normal[1, at, to] += weight * slopes[1] * slopes[2]
            normal[2, at, to] += weight * slopes[2] * slopes[2]
            normal[3, at, to] += weight * slopes[1] * slopes[0]
            normal[4, at, to] += weight * slopes[2] * slopes[0]
