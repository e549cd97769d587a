"""Alignment of frames on their raw samples, each compared with the reference picture in its own colour.

Gauss and Newton's method finds an affine map (Lucas and Kanade, 1981). Where a frame still disagrees, a flow
is added that varies slowly.
"""

from dataclasses import replace

import numpy as np

from demosaic_ntc.arrays import Float32, Float64
from demosaic_ntc.demosaicing.burst.motion import Motion, read_frame
from demosaic_ntc.demosaicing.burst.motion_kernels import (
    FLOW_CELL,
    PARAMETERS,
    ReferenceView,
    add_affine_equations,
    add_flow_equations,
)
from demosaic_ntc.demosaicing.group_demosaic import MeasuredMosaic
from demosaic_ntc.run import Run

_ROWS = 128  # of a frame that are worked on together: always as many, whatever the threads
_ROUNDS = 4
_SAMPLES = 1_500_000  # of a frame that tell where it lies: more change nothing
_FLOW_ROUNDS = 3
_FLOW_PRIOR = 0.3  # pixels: the deviation expected of a flow
_FLOW_WINDOW = 0.7  # cells over which a flow is even


def align(frame: MeasuredMosaic, view: ReferenceView, start: Motion, run: Run) -> Motion:
    """Return where the samples of a frame lie, from a start that is off by a pixel or two."""
    _, height, width = frame.samples.shape
    step, motion = max(1, round((height * width / _SAMPLES) ** 0.5)), start
    for _ in range(_ROUNDS):

        def tell(rows: slice, motion: Motion = motion) -> Float64:
            normal = start_equations()
            add_affine_equations(read_frame(frame, motion, rows), view, step, normal)
            return normal

        total = sum(run.map(tell, _cut_rows(height)), start_equations())
        motion = replace(motion, affine=motion.affine + step_affine(total))
    return motion


def start_equations() -> Float64:
    """Return room for the normal equations of an affine map."""
    return np.zeros((PARAMETERS + 1, PARAMETERS + 1))


def step_affine(normal: Float64) -> Float64:
    """Return the step of Gauss and Newton's method, (2, 3); hardly any where the equations tell nothing."""
    lower = np.tril(normal[:PARAMETERS, :PARAMETERS])
    matrix = lower + np.tril(lower, -1).T
    scale = np.sqrt(np.maximum(np.diag(matrix), 1e-30))
    matrix = matrix / np.outer(scale, scale) + 1e-9 * np.eye(PARAMETERS)
    found = np.linalg.solve(matrix, normal[PARAMETERS, :PARAMETERS] / scale) / scale
    return np.asarray(found.reshape(2, 3))


def _cut_rows(height: int) -> list[slice]:
    """Cut the rows of a frame into bands."""
    return [slice(start, min(start + _ROWS, height)) for start in range(0, height, _ROWS)]


def add_flow(frame: MeasuredMosaic, view: ReferenceView, motion: Motion, run: Run) -> Motion:
    """Return where the samples of a frame lie if parts of it moved by themselves, a little."""
    _, height, width = frame.samples.shape
    grid = (-(-height // FLOW_CELL) + 1, -(-width // FLOW_CELL) + 1)
    flow = motion.flow if motion.flow.size else np.zeros((2, *grid), np.float32)
    for _ in range(_FLOW_ROUNDS):
        current = replace(motion, flow=flow)

        def tell(rows: slice, current: Motion = current) -> Float32:
            normal = np.zeros((5, *grid), np.float32)
            add_flow_equations(read_frame(frame, current, rows), view, normal)
            return normal

        total = sum(run.map(tell, _cut_rows(height)), np.zeros((5, *grid), np.float32))
        flow = np.ascontiguousarray(flow + _step_flow(total, flow), np.float32)
    return replace(motion, flow=flow)


def _step_flow(normal: Float32, flow: Float32) -> Float32:
    """Return the step of a flow whose cells hang together with their neighbours, and with zero."""
    from scipy.ndimage import gaussian_filter  # noqa: PLC0415 (slow to load)

    prior = 1 / _FLOW_PRIOR**2
    a, b, c, r, s = (_average_around(gaussian_filter(each, _FLOW_WINDOW)) for each in normal)
    a, c = a + prior, c + prior
    r, s = r - prior * flow[0], s - prior * flow[1]
    determinant = a * c - b * b
    return np.stack([(c * r - b * s) / determinant, (a * s - b * r) / determinant])


def _average_around(cells: Float32) -> Float32:
    """Return the means of the four cells around each corner: what cells tell, at their corners."""
    padded = np.pad(cells[:-1, :-1], 1, mode="edge")
    return np.asarray((padded[1:, 1:] + padded[:-1, 1:] + padded[1:, :-1] + padded[:-1, :-1]) / 4, np.float32)
