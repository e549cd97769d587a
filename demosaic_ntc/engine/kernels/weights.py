"""Samples of unequal worth: several frames tell of one picture, each entry as well as it was measured.

Of an entry whose estimate is p, samples y with the weights w, the inverses of their variances, tell the
information Σ w (y − p) and its weight Σ w. Patterns of weights repeat with the period of Bayer's array, two
pixels: patches of a group whose corners have the same parity form a class, and share one elimination, with
the mean of their weights W. A patch that knows less than its class, w < W, shows p + w/W (ȳ − p), which has
the same information; one that knows more shows ȳ itself, as if it were no better than its class.
"""

import numpy as np
from numba import boolean, float32, float64

from demosaic_ntc.arrays import Flags, Offsets, Planes
from demosaic_ntc.engine.kernels.gather import CLASS_SHIFT, PatchGroup
from demosaic_ntc.jit.compiled import fast_step, kernel, precompile

CLASSES = 4  # parities of rows and columns
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_NOTHING = np.float32(1e-3)  # a weight, of full scale 1, that is none


@fast_step
def _class_of(row: int, column: int) -> int:
    """Return the class of a patch by its corner."""
    return 2 * (row & 1) + (column & 1)


@fast_step
def _add_weights(
    measured: Planes, row: int, column: int, offsets: Offsets, size: int, channels: int, group: PatchGroup
) -> None:
    """Copy information and weights of patches; write the mean weights of each class in place of its noise.

    Information stands in what is seen, weights in the trust.
    """
    pixels, entries = size * size, group.data.shape[1]
    for e in range(group.noise.shape[0]):
        group.noise[e] = _ZERO
    for k in range(offsets.shape[0]):
        top, left = row + offsets[k, 0], column + offsets[k, 1]
        total = group.noise[_class_of(top, left) * entries :]
        for channel in range(channels):
            for i in range(size):
                for j in range(size):
                    e = channel * pixels + i * size + j
                    weight = measured[channels + channel, top + i, left + j]
                    group.seen[k, e] = measured[channel, top + i, left + j]
                    group.trust[k, e] = weight
                    total[e] += weight
    for own in range(CLASSES):
        count, total = 0, group.noise[own * entries :]
        for k in range(offsets.shape[0]):
            count += 1 if _class_of(row + offsets[k, 0], column + offsets[k, 1]) == own else 0
        for e in range(channels * pixels):
            total[e] /= np.float32(max(count, 1))


@fast_step
def gather_weighted(
    measured: Planes,
    row: int,
    column: int,
    offsets: Offsets,
    size: int,
    channels: int,
    least: float,
    group: PatchGroup,
) -> None:
    """Write what patches show, which entries that are, and the variances of each class, ``least`` added.

    ``measured`` is (2 · channels, height, width): information, then weights.
    """
    pixels, entries = size * size, group.data.shape[1]
    _add_weights(measured, row, column, offsets, size, channels, group)
    for k in range(offsets.shape[0]):
        own = _class_of(row + offsets[k, 0], column + offsets[k, 1])
        shared, seen, trust, data = group.noise[own * entries :], group.seen[k], group.trust[k], group.data[k]
        for q in range(pixels):
            bits = own << CLASS_SHIFT
            for channel in range(channels):
                e = channel * pixels + q
                if shared[e] > _NOTHING:
                    bits |= 1 << channel
                    seen[e] = data[e] + seen[e] / max(shared[e], trust[e])
                else:
                    seen[e] = data[e]
            group.known[k, q] = bits
    for own in range(CLASSES):
        shared = group.noise[own * entries :]
        for e in range(channels * pixels):
            shared[e] = (_ONE / shared[e] if shared[e] > _NOTHING else _ZERO) + np.float32(least)


@precompile(float32[:, :, ::1], float32[:, :, ::1], boolean[:, ::1], float32[:, :, ::1], float64)
@kernel
def enforce_weighted_consistency(
    before: Planes, planes: Planes, wanted: Flags, measured: Planes, least: float
) -> None:
    """Move wanted estimates towards what was measured, all the way where that is exact, in place.

    ``measured`` tells of the estimate ``before``: information, then weights. With y = p + Σ w (y − p) / Σ w
    and s² = 1 / Σ w, x becomes y + (x − y) s² / (s² + least).
    """
    channels = planes.shape[0]
    for channel in range(channels):
        for i in range(planes.shape[1]):
            for j in range(planes.shape[2]):
                weight = measured[channels + channel, i, j]
                if wanted[i, j] and weight > _NOTHING:
                    sample = before[channel, i, j] + measured[channel, i, j] / weight
                    share = _ONE / (_ONE + np.float32(least) * weight)
                    planes[channel, i, j] = sample + share * (planes[channel, i, j] - sample)
