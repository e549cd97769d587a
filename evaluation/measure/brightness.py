"""How bright a finished picture is, and how much of it is clipped: 8-bit sRGB, (height, width, 3)."""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.io.colour import SPACES

Bytes = NDArray[np.uint8]

_LUMINANCE = SPACES["srgb"].to_xyz[1]
_WHITE = 255


def luma(pixels: Bytes) -> float:
    """The median luma of a picture, of 255."""
    return float(np.median(pixels @ _LUMINANCE))


def measure_clipping(pixels: Bytes) -> float:
    """The share of the pixels with any channel at its end."""
    return float((pixels == _WHITE).any(axis=-1).mean())


def newly_clipped(pixels: Bytes, neutral: Bytes) -> float:
    """The share of the pixels with a channel that is at its end and was not in the neutral picture."""
    return float(((pixels == _WHITE) & (neutral < _WHITE)).any(axis=-1).mean())
