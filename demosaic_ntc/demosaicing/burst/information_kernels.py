"""What the samples of a frame tell of the reference picture: information about its pixels, and agreement.

Every sample is used once, at the pixel of the reference that lies nearest. It is compared with the picture at
its own place, read by Lanczos's kernel; that the rest r belongs to a place at a distance d from the pixel
adds 2 d² G to its variance, G being the energy of detail there.
"""

import numpy as np
from numba import float32, int64, uint8

from demosaic_ntc.arrays import Bits, Float32, Planes
from demosaic_ntc.demosaicing.burst.motion_kernels import (
    CELL,
    FRAME,
    REFERENCE,
    FrameRows,
    ReferenceView,
    place_of_sample,
)
from demosaic_ntc.engine.kernels.gather import noise_at
from demosaic_ntc.jit.compiled import fast_step, kernel, precompile

TAPS, _STEPS = 6, 1024  # of Lanczos's kernel: pixels, and places between two of them
_ALIASED = np.float32(1.0)  # of the energy of detail that a single mosaic may show wrongly
_ZERO, _ONE, _TWO = np.float32(0.0), np.float32(1.0), np.float32(2.0)


def tabulate_lanczos() -> Float32:
    """Return the weights of six pixels for places between the third and the fourth, (steps + 1, taps)."""
    far = np.arange(-2, 4) - np.linspace(0, 1, _STEPS + 1)[:, None]
    weights = np.sinc(far) * np.sinc(far / 3)
    return np.ascontiguousarray(weights / weights.sum(axis=1, keepdims=True), np.float32)


LANCZOS = tabulate_lanczos()


@fast_step
def read_lanczos(plane: Float32, table: Float32, row: float, column: float) -> np.float32:
    """Return a plane between its pixels; its border goes on outside."""
    height, width = plane.shape
    i, j = int(np.floor(row)), int(np.floor(column))
    down, right = table[int((row - i) * _STEPS + 0.5)], table[int((column - j) * _STEPS + 0.5)]
    total = _ZERO
    for a in range(TAPS):
        y, across = min(max(i + a - 2, 0), height - 1), _ZERO
        for b in range(TAPS):
            across += right[b] * plane[y, min(max(j + b - 2, 0), width - 1)]
        total += down[a] * across
    return np.float32(total)


@precompile(FRAME, REFERENCE, float32[:, ::1], uint8[:, ::1], int64, float32[:, :, ::1], is_rare=True)
@kernel
def add_information(
    frame: FrameRows,
    reference: ReferenceView,
    lanczos: Float32,
    rejected: Bits,
    top: int,
    information: Planes,
) -> None:
    """Add what samples tell of the rows of the reference from ``top`` on: Σ w r, and its weight Σ w.

    ``information`` is (2 · channels, rows, width). Cells that are rejected, (rows, columns), are left out.
    """
    down, across = frame.pattern.shape
    channels, height, width = reference.planes.shape
    rows = information.shape[1]
    for i in range(frame.samples.shape[0]):
        y = frame.top + i
        for x in range(frame.samples.shape[1]):
            row = place_of_sample(frame.affine, frame.flow, 0, y, x)
            column = place_of_sample(frame.affine, frame.flow, 1, y, x)
            at, to = int(np.floor(row + 0.5)), int(np.floor(column + 0.5))
            inside = top <= at < top + rows and 0 <= at < height and 0 <= to < width
            if not inside or frame.missing[i, x] or rejected[at // CELL, to // CELL]:
                continue
            channel = frame.pattern[y % down, x % across]
            expected = read_lanczos(reference.planes[channel], lanczos, row, column)
            far = np.float32((row - at) * (row - at) + (column - to) * (column - to))
            detail = reference.detail[channel, at // CELL, to // CELL]
            variance = noise_at(frame.noise[channel], expected) + _TWO * far * detail
            weight = _ONE / variance
            information[channel, at - top, to] += weight * (frame.samples[i, x] - expected)
            information[channels + channel, at - top, to] += weight


@precompile(FRAME, REFERENCE, float32[:, ::1], int64, float32[:, :, ::1], is_rare=True)
@kernel
def add_agreement(
    frame: FrameRows, reference: ReferenceView, lanczos: Float32, top: int, sums: Planes
) -> None:
    """Add up in cells, from the row ``top`` of cells on, how far samples agree with the picture.

    With the variance s² of a sample and x = E² + 2 d² G, ``sums``, (2 + 4 · channels, rows, columns), are
    those of 1 and of r² / (s² + x); then for each channel those of 1, r, s² and x.
    """
    down, across = frame.pattern.shape
    _, height, width = reference.planes.shape
    for i in range(frame.samples.shape[0]):
        y = frame.top + i
        for x in range(frame.samples.shape[1]):
            row = place_of_sample(frame.affine, frame.flow, 0, y, x)
            column = place_of_sample(frame.affine, frame.flow, 1, y, x)
            at, to = int(np.floor(row + 0.5)), int(np.floor(column + 0.5))
            inside = CELL * top <= at < CELL * (top + sums.shape[1]) and 0 <= at < height and 0 <= to < width
            if not inside or frame.missing[i, x]:
                continue
            channel, v, u = frame.pattern[y % down, x % across], at // CELL, to // CELL
            expected = read_lanczos(reference.planes[channel], lanczos, row, column)
            far = np.float32((row - at) * (row - at) + (column - to) * (column - to))
            noise = noise_at(frame.noise[channel], expected)
            detail = reference.detail[channel, v, u]
            doubt = reference.error[channel, v, u] + (_TWO * far + _ALIASED) * detail
            rest = frame.samples[i, x] - expected
            v -= top
            sums[0, v, u] += _ONE
            sums[1, v, u] += rest * rest / (noise + doubt)
            own = 2 + 4 * channel
            sums[own, v, u] += _ONE
            sums[own + 1, v, u] += rest
            sums[own + 2, v, u] += noise
            sums[own + 3, v, u] += doubt
