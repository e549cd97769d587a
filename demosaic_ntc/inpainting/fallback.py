"""Inpainting without time: every row is read once and written once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Float64, Planes
from demosaic_ntc.engine.tiles import row_bands
from demosaic_ntc.inpainting.scaling import Scale, planes_of
from demosaic_ntc.inpainting.smooth_fill import plainly_filled
from demosaic_ntc.run import Run


@dataclass(frozen=True, slots=True)
class _KnownRows:
    """What is known in some rows of a picture: count, sum and sum of squares of every channel."""

    counts: NDArray[np.int64]
    sums: Float64
    squares: Float64


def plainly_restored(
    picture: NDArray[Any], holes: Flags, scale: Scale, run: Run
) -> tuple[NDArray[Any], Planes]:
    """Return a picture with means of what is known close by in its holes, and the squared errors expected.

    ``holes`` are (channels, height, width); so are the errors, with full scale 1, or empty when they are not
    wanted. Rows of which a channel knows nothing get its mean. Every channel knows something.
    """
    restored = np.empty(picture.shape, picture.dtype)
    variance = np.zeros(holes.shape if run.want_error else (0, 0, 0), np.float32)
    channels, targets, parts = planes_of(picture), planes_of(restored), row_bands(len(picture))

    def fill(rows: slice) -> _KnownRows:
        restored[rows] = picture[rows]
        planes, hole = np.empty(channels[:, rows].shape, np.float32), holes[:, rows]
        scale.fill(planes, channels[:, rows], hole)
        if hole.any():
            filled = plainly_filled(planes, ~hole)
            scale.write(targets[:, rows], filled, hole)
            if run.want_error:
                variance[:, rows] = np.where(hole, filled.var(axis=(1, 2), keepdims=True), np.float32(0))
        return _measure_known(planes, hole, run.want_error)

    seen = list(run.map(fill, parts))
    mean, spread = _moments(seen)
    for rows, part in zip(parts, seen, strict=True):
        for channel in np.flatnonzero(part.counts == 0):
            targets[channel, rows] = scale.values(np.asarray(mean[channel]), picture.dtype)
            if run.want_error:
                variance[channel, rows] = spread[channel]
    return restored, variance


def _measure_known(planes: Planes, hole: Flags, squared: bool) -> _KnownRows:
    """Return what is known in planes that are zero where nothing is."""
    counts = np.array([each.size - np.count_nonzero(each) for each in hole])
    sums = np.array([plane.sum(dtype=np.float64) for plane in planes])
    squares = np.array([np.vdot(plane, plane) if squared else 0.0 for plane in planes])
    return _KnownRows(counts, sums, squares)


def _moments(parts: list[_KnownRows]) -> tuple[Float64, Float64]:
    """Return mean and variance of what is known of every channel."""
    counts = np.sum([part.counts for part in parts], axis=0)
    mean = np.sum([part.sums for part in parts], axis=0) / counts
    square = np.sum([part.squares for part in parts], axis=0) / counts
    return mean, np.maximum(square - mean**2, 0.0)
