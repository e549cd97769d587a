"""What patches are told apart by: two more channels that describe texture, and a few numbers for trees."""

import numpy as np
from scipy.ndimage import correlate1d, uniform_filter

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.inpainting.texture.kernels import PATCH

_BUSYNESS = np.float32(30**0.5)  # what mean gradients count, beside colours
_FREQUENCIES = ((0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 0))
_MOST = 12  # numbers that describe a patch


def add_busyness(planes: Float32, shown: Flags, side: int) -> Float32:
    """Return a picture with two more channels: the mean |∂x| and |∂y| of brightness around each pixel.

    Planes are (channels, height, width), the result (height, width, channels + 2). Means are over boxes of
    some side, twice, and over what is shown.
    """
    light = planes.mean(axis=0)
    channels = list(planes)
    for axis in (1, 0):
        steps = np.abs(np.diff(light, axis=axis, append=np.take(light, [-1], axis=axis)))
        both = shown & _shift_back(shown, axis)
        steps, weight = np.where(both, steps, np.float32(0)), both.astype(np.float32)
        for _ in range(2):
            steps, weight = uniform_filter(steps, side), uniform_filter(weight, side)
        channels.append(_BUSYNESS * steps / np.maximum(weight, np.float32(1e-3)))
    return np.ascontiguousarray(np.stack(channels, axis=2), np.float32)


def describe_patches(values: Float32) -> Float32:
    """Return low frequencies of the patch around every pixel, (height, width, channels · frequencies).

    The cosines are orthonormal: the distance of two descriptions is at most that of the patches.
    """
    waves = [_cosine(frequency) for frequency in range(3)]
    found = []
    for channel in np.moveaxis(values, 2, 0):
        rows = [correlate1d(channel, wave, axis=0, mode="constant") for wave in waves]
        found += [correlate1d(rows[i], waves[j], axis=1, mode="constant") for i, j in _FREQUENCIES]
    return np.stack(found, axis=2)


def most_telling(described: Float32) -> list[int]:
    """Return which numbers vary most among descriptions, (patches, numbers)."""
    spread = described.astype(np.float64).var(axis=0)
    return sorted(np.argsort(-spread, kind="stable")[:_MOST].tolist())


def _cosine(frequency: int) -> Float32:
    """Return a wave of the discrete cosine transform over a patch, of length 1."""
    wave = np.cos(np.pi * frequency * (np.arange(PATCH) + 0.5) / PATCH)
    return np.asarray(wave / np.sqrt((wave**2).sum()), np.float32)


def _shift_back(flags: Flags, axis: int) -> Flags:
    """Return the flags of the next pixels along an axis."""
    return np.concatenate([np.delete(flags, 0, axis=axis), np.take(flags, [-1], axis=axis)], axis=axis)
