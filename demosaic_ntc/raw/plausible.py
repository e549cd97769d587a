"""Whether samples look like a photo: what LibRaw knows by its length alone may be anything."""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.raw.photo import Mosaic

# Next samples of one colour are nearly alike in any photo, down and across; in other data they are not, or
# only in one direction, or in some columns, as where each sample has two bytes.
_LEAST_CORRELATION = 0.7
_LARGEST_RATIO = 4.0


def looks_like_photo(mosaic: Mosaic) -> bool:
    """Whether each of the four samples of 2×2 is like the next of its kind, about alike down and across."""
    return all(_is_smooth(mosaic[y::2, x::2].astype(np.float32)) for y in range(2) for x in range(2))


def _is_smooth(plane: NDArray[np.float32]) -> bool:
    """Whether neighbours are much closer than any two samples, and as close down as across."""
    variance = float(plane.var())
    down, across = (float(np.square(np.diff(plane, axis=axis)).mean()) for axis in (0, 1))
    farthest = 2 * variance * (1 - _LEAST_CORRELATION)
    return 0 < max(down, across) < min(farthest, _LARGEST_RATIO**2 * min(down, across))
