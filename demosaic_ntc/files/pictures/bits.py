"""Levels of fewer than eight bits, packed into bytes from the highest bit on, as PNG and TIFF store them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def packed_bits(levels: NDArray[Any], bits: int) -> NDArray[np.uint8]:
    """Rows of bytes that hold the lowest `bits` of each level; every row starts a new byte."""
    places = np.arange(bits - 1, -1, -1, dtype=np.uint8)
    single = (levels[..., None].astype(np.uint8) >> places) & 1
    return np.packbits(single.reshape(len(levels), -1), axis=1)
