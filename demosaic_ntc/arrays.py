"""The types of arrays, by what they hold; docstrings give shapes, ranges and units."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Flags = NDArray[np.bool_]
Bits = NDArray[np.uint8]  # one bit per channel: bit c of a pixel stands for its entry in channel c
Depths = NDArray[np.uint8]
Places = NDArray[np.int64]  # (…, 2): row and column
Offsets = NDArray[np.int8]  # (…, 2): rows and columns relative to a reference patch
Sums = NDArray[np.int64]

Planes = Float32  # (channels, height, width), full scale 1

_UNSIGNED: dict[int, Any] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}  # by bytes

SIGMA_OF_MAD = 1.4826  # standard deviations of a normal distribution in its median absolute deviation


def select(flags: Flags, one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Return ``one`` where flags are set and ``other`` elsewhere: `numpy.where` for arrays of one type.

    The bits of both are mixed under masks of nothing but ones or zeros. That takes a quarter of the time
    where flags are scattered, because no processor can guess which way a choice goes.
    """
    kind = _UNSIGNED.get(other.dtype.itemsize)
    if kind is None:
        return np.where(flags, one, other)
    masks = np.negative(flags.astype(kind))  # of unsigned numbers: 0, or all bits
    bits = other.view(kind)
    mixed: NDArray[Any] = np.bitwise_xor(np.asarray(one, other.dtype).view(kind), bits)
    mixed &= masks
    mixed ^= bits
    return mixed.view(other.dtype)


def zero_where(flags: Flags, values: Float32) -> None:
    """Set values to zero where flags are set, NaN among them, in place."""
    masks = flags.astype(np.uint32)
    masks -= np.uint32(1)  # all bits, or none
    bits = values.view(np.uint32)
    bits &= masks
