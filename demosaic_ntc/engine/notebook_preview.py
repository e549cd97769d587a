"""A small PNG of a picture in any scale, for notebooks."""

from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

#: Larger pictures are shown smaller: a notebook keeps every one of them.
LARGEST_SIDE = 1024

# What completion or interpolation adds beyond white says nothing about the scale.
_OVERSHOOT, _SHARE = 1.02, 99.9
_MOST_BITS = 1023  # of the largest float


def preview(image: NDArray[Any]) -> bytes | None:
    """The picture as 8-bit PNG; None where it is neither grey nor RGB."""
    pixels = image[..., 0] if image.ndim == 3 and image.shape[2] == 1 else image
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] != 3) or not pixels.size:
        return None
    step = -(-max(pixels.shape[:2]) // LARGEST_SIDE)
    shares = pixels[::step, ::step].astype(np.float64) / find_white(pixels)
    buffer = BytesIO()
    Image.fromarray(np.rint(np.clip(shares, 0, 1) * 255).astype(np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


def find_white(image: NDArray[Any]) -> float:
    """The value shown as white: 1, or full scale at the fewest bits that nearly all pixels need."""
    if image.dtype.kind == "b":
        return 1.0
    numbers = image[np.isfinite(image)]  # a file may hold anything
    bright = float(np.percentile(numbers, _SHARE)) / _OVERSHOOT if numbers.size else 0.0
    if image.dtype.kind == "f" and bright <= 1:
        return 1.0
    return float(2.0 ** np.clip(np.ceil(np.log2(bright + 1)), 8, _MOST_BITS) - 1)
