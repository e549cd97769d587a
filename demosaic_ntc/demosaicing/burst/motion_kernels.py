"""Where the samples of a frame lie in the reference picture, and what their misfit says about that.

A sample at q = (row, column) of a frame lies at A q + t + f(q): an affine map, and where a scene or a shutter
moves by parts, a flow that is stored at every FLOW_CELL-th pixel and interpolated between.
"""

from typing import NamedTuple

import numpy as np
from numba import boolean, float32, float64, int64, uint8

from demosaic_ntc.arrays import Bits, Flags, Float32, Float64, Planes
from demosaic_ntc.engine.kernels.gather import noise_at
from demosaic_ntc.jit.compiled import fast_step, kernel, named_tuple, precompile

CELL = 2  # pixels across the cells in which detail, errors and agreement are told
FLOW_CELL = 16  # pixels between the places at which a flow is stored
PARAMETERS = 6  # of an affine map: t and two factors of the row, then of the column
_APART = np.float32(
    0.7
)  # pixels between which slopes are taken: they are those of a slightly blurred picture
_ZERO, _ONE, _HALF = np.float32(0.0), np.float32(1.0), np.float32(0.5)


class FrameRows(NamedTuple):
    """Some rows of a frame, and where they lie."""

    samples: Float32  # (rows, width)
    missing: Flags  # (rows, width)
    top: int  # the first of the rows
    pattern: Bits  # (rows, columns) of the colour array's period
    noise: Float32  # (channels, levels): the variance, at equal steps from level 0 to 1
    affine: Float64  # (2, 3): t and A, of rows and of columns
    flow: Float32  # (2, rows, columns); empty without one


class ReferenceView(NamedTuple):
    """The picture that samples are compared with, with what is known of it in cells of CELL pixels."""

    planes: Planes
    detail: Planes  # (channels, rows, columns): G, the energy of detail
    error: Planes  # (channels, rows, columns): E², the expected squared error


FRAME = named_tuple(
    FrameRows,
    float32[:, ::1],
    boolean[:, ::1],
    int64,
    uint8[:, ::1],
    float32[:, ::1],
    float64[:, ::1],
    float32[:, :, ::1],
)
REFERENCE = named_tuple(ReferenceView, float32[:, :, ::1], float32[:, :, ::1], float32[:, :, ::1])


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
def _set_misfit(frame: FrameRows, reference: ReferenceView, i: int, x: int, out: Float32) -> np.float32:
    """Write the misfit of a sample, and the slopes of the picture there; return its weight, or zero.

    Where there is detail samples are trusted less, and those far off are trusted less and less.
    """
    y, (down, across) = frame.top + i, frame.pattern.shape
    row = place_of_sample(frame.affine, frame.flow, 0, y, x)
    column = place_of_sample(frame.affine, frame.flow, 1, y, x)
    inside = 1 <= row <= reference.planes.shape[1] - 2 and 1 <= column <= reference.planes.shape[2] - 2
    if frame.missing[i, x] or not inside:
        return _ZERO
    channel = frame.pattern[y % down, x % across]
    plane, r, c = reference.planes[channel], np.float32(row), np.float32(column)
    expected = read_linear(plane, r, c)
    out[0] = frame.samples[i, x] - expected
    out[1] = (read_linear(plane, r + _APART, c) - read_linear(plane, r - _APART, c)) / (_APART + _APART)
    out[2] = (read_linear(plane, r, c + _APART) - read_linear(plane, r, c - _APART)) / (_APART + _APART)
    detail = reference.detail[channel, int(row) // CELL, int(column) // CELL]
    weight = _ONE / (noise_at(frame.noise[channel], expected) + _HALF * detail)
    return np.float32(weight / (_ONE + np.float32(0.25) * out[0] * out[0] * weight))


@precompile(FRAME, REFERENCE, int64, float64[:, ::1], is_rare=True)
@kernel
def add_affine_equations(frame: FrameRows, reference: ReferenceView, step: int, normal: Float64) -> None:
    """Add up the normal equations of a better affine map over some rows of a frame.

    ``normal`` is (PARAMETERS + 1, PARAMETERS + 1), on and below the diagonal: JᵀWJ, in its last row JᵀWr, and
    Σ W r². Every ``step``-th cell of the array's period is looked at, down and across.
    """
    down, across = frame.pattern.shape
    slopes, jacobian = np.empty(3, np.float32), np.empty(PARAMETERS + 1, np.float64)
    for i in range(frame.samples.shape[0]):
        y = frame.top + i
        if (y // down) % step:
            continue
        for x in range(frame.samples.shape[1]):
            weight = _ZERO if (x // across) % step else _set_misfit(frame, reference, i, x, slopes)
            if weight == _ZERO:
                continue
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


@precompile(FRAME, REFERENCE, float32[:, :, ::1], is_rare=True)
@kernel
def add_flow_equations(frame: FrameRows, reference: ReferenceView, normal: Float32) -> None:
    """Add up the equations of how far places have moved besides, in cells of FLOW_CELL pixels of a frame.

    ``normal`` is (5, rows, columns): the three of JᵀWJ, then JᵀWr of rows and of columns.
    """
    slopes = np.empty(3, np.float32)
    for i in range(frame.samples.shape[0]):
        for x in range(frame.samples.shape[1]):
            weight = _set_misfit(frame, reference, i, x, slopes)
            if weight == _ZERO:
                continue
            at, to = (frame.top + i) // FLOW_CELL, x // FLOW_CELL
            normal[0, at, to] += weight * slopes[1] * slopes[1]
            normal[1, at, to] += weight * slopes[1] * slopes[2]
            normal[2, at, to] += weight * slopes[2] * slopes[2]
            normal[3, at, to] += weight * slopes[1] * slopes[0]
            normal[4, at, to] += weight * slopes[2] * slopes[0]
