"""What the entrances of this layer check alike, and the scale they read from data."""

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demosaic_ntc.arrays import Float32
from demosaic_ntc.errors import BadMask, InputError
from demosaic_ntc.imaging.restored import Progress

QUALITIES = ("fast", "normal", "best")
_FAR_OUT = 8.0  # standard deviations that no sample is off by


def check_choice(what: str, value: str, known: tuple[str, ...]) -> None:
    """Raise unless the value is one of the known ones."""
    if value not in known:
        raise InputError(f"unknown {what} {value!r}; use one of {', '.join(known)}")


def checked_threads(threads: int | None) -> int:
    """Return how many threads to use, or raise."""
    if threads is None:
        return os.cpu_count() or 1
    if threads < 1:
        raise InputError(f"{threads} threads cannot work; give a positive number or none for all processors")
    return threads


def checked_missing(
    missing: NDArray[Any], what: str, shape: tuple[int, ...], *others: tuple[int, ...]
) -> NDArray[np.bool_]:
    """Return the flags of what is missing, or raise when they have none of the shapes or leave nothing."""
    flags = np.asarray(missing)
    if flags.shape not in (shape, *others) or flags.dtype != np.bool_:
        raise BadMask(
            f"missing is {flags.dtype} of shape {flags.shape}; give booleans of the {what}'s shape {shape}"
            + "".join(f" or {other}" for other in others)
        )
    if flags.all():
        raise BadMask("every sample is missing: nothing is known, cannot complete; mask less")
    return flags


def checked_noise(noise: ArrayLike, scale: float, channels: int) -> Float32:
    """Return the variance of known entries with full scale 1, (channels, levels), or raise.

    ``noise`` are standard deviations where full scale is ``scale``: one, one for each channel, or for each
    channel those at equal steps of the level.
    """
    given = np.asarray(noise, np.float64)
    if given.ndim > 2 or (given.ndim and given.shape[0] != channels) or not given.size:
        raise InputError(
            f"noise of shape {given.shape} fits no picture of {channels} channels; give one standard "
            f"deviation, {channels} of them, or {channels} × levels"
        )
    if not (np.isfinite(given).all() and (given >= 0).all()):
        raise InputError("noise is negative, NaN or infinite; give standard deviations from 0 up")
    levels = given.reshape(channels, -1) if given.ndim else np.full((channels, 1), given)
    return np.square(levels / scale).astype(np.float32)


def full_scale(samples: NDArray[Any], noise: ArrayLike | None = None) -> float:
    """Return the value that stands for white.

    Floats up to 1, or as far above as noise may lift them, are taken as they are. Everything else is full
    scale at the smallest number of bits, eight or more, that holds the largest sample: 255 for 8 bit data,
    16383 for 14 bit data in 16 bit integers.
    """
    largest = float(samples.max())
    lifted = 0.0 if noise is None else _FAR_OUT * float(np.max(noise, initial=0.0))
    if samples.dtype.kind == "f" and largest <= 1 + min(lifted, 1.0):
        return 1.0
    bits = max(8, int(np.ceil(np.log2(largest + 1))))
    return float(2**bits - 1)


def silently(progress: Progress) -> None:
    """Report nothing."""
