"""About where a frame lies: phase correlation of small grey pictures, then affine maps from size to size."""

from collections.abc import Callable
from typing import Any

import numpy as np

from demosaic_ntc.arrays import Float32, Float64
from demosaic_ntc.demosaicing.burst.alignment import start_equations, step_affine
from demosaic_ntc.demosaicing.burst.motion import IDENTITY, NO_FLOW, Motion, pool, view_picture
from demosaic_ntc.demosaicing.burst.motion_kernels import FrameRows, add_affine_equations
from demosaic_ntc.demosaicing.group_demosaic import MeasuredMosaic
from demosaic_ntc.engine.tiles import row_bands

_SMALLEST = 48  # pixels across the smallest picture that is compared
_CORRELATED = 2  # sizes above the smallest: noise is averaged out there, and detail is left
_ROUNDS = 6
_VARIANCE = np.full((1, 1), (1 / 255) ** 2, np.float32)  # of grey pixels, which are means


def draw_grey(frame: MeasuredMosaic) -> Float32:
    """Return a frame as a grey picture: the means of its colour array's cells."""
    side = max(frame.cfa.period)
    bands = row_bands(frame.samples.shape[1], side)
    return np.concatenate([pool(frame.samples.window(rows, slice(None)), side) for rows in bands])


def align_coarsely(frame: Float32, reference: Float32, side: int) -> Motion:
    """Return about where a frame lies, from grey pictures of both whose pixels are ``side`` across."""
    pyramid = [(frame, reference)]
    while min(pyramid[-1][0].shape) >= 2 * _SMALLEST:
        pyramid.append((pool(pyramid[-1][0], 2), pool(pyramid[-1][1], 2)))
    level = max(0, len(pyramid) - 1 - _CORRELATED)
    affine = IDENTITY.copy()
    affine[:, 0] = _find_shift(*pyramid[level]) * 2.0**level
    for depth in range(level, -1, -1):
        small = _refine(*pyramid[depth], scale_affine(affine, 2**depth))
        affine = _enlarge(small, 2**depth)
    return Motion(_enlarge(affine, side))


def _find_shift(frame: Float32, reference: Float32) -> Float64:
    """Return by how many rows and columns a frame is shifted, or none if that fits better."""
    from skimage.registration import phase_cross_correlation  # noqa: PLC0415 (slow to load)

    correlate: Callable[..., Any] = phase_cross_correlation
    shift, _, _ = correlate(_fade(reference), _fade(frame), upsample_factor=4, normalization="phase")
    found = np.asarray(shift, np.float64)
    return min((np.zeros(2), found), key=lambda each: _compare(frame, reference, each))


def _fade(picture: Float32) -> Float32:
    """Return a picture without its mean that fades out at the border."""
    rows, columns = (np.hanning(length + 2)[1:-1] for length in picture.shape)
    return np.asarray((picture - picture.mean()) * np.outer(rows, columns), np.float32)


def _compare(frame: Float32, reference: Float32, shift: Float64) -> float:
    """Return how far two pictures differ where they overlap; infinite where they hardly do."""
    (dy, dx), (height, width) = np.rint(shift).astype(int), reference.shape
    fixed = reference[max(dy, 0) : height + min(dy, 0), max(dx, 0) : width + min(dx, 0)]
    moved = frame[max(-dy, 0) : height - max(dy, 0), max(-dx, 0) : width - max(dx, 0)]
    return float(np.mean(np.abs(fixed - moved))) if fixed.size > reference.size / 4 else np.inf


def _refine(frame: Float32, reference: Float32, affine: Float64) -> Float64:
    """Return a better map between grey pictures."""
    view = view_picture(reference[None])
    missing, pattern = np.zeros(frame.shape, np.bool_), np.zeros((1, 1), np.uint8)
    for _ in range(_ROUNDS):
        normal = start_equations()
        rows = FrameRows(frame, missing, 0, pattern, _VARIANCE, affine, NO_FLOW)
        add_affine_equations(rows, view, 1, normal)
        affine = affine + step_affine(normal)
    return affine


def scale_affine(affine: Float64, side: int) -> Float64:
    """Return a map between pixels as one between cells, whose centres lie (side − 1) / 2 further in."""
    inner = (side - 1) / 2
    start = affine[:, 0] + inner * affine[:, 1:].sum(axis=1) - inner
    return np.column_stack([start / side, affine[:, 1:]])


def _enlarge(affine: Float64, side: int) -> Float64:
    """Return a map between cells as one between pixels."""
    inner = (side - 1) / 2
    start = affine[:, 0] * side + inner - inner * affine[:, 1:].sum(axis=1)
    return np.column_stack([start, affine[:, 1:]])
