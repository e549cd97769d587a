"""What every room says of finished pixels: their types, who hears of rows done, and which way is up."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.io.lazy_image import LazyImage

Pixels = NDArray[np.uint16] | NDArray[np.uint8]  # (height, width, 3), codes of a picture's depth
ReportRows = Callable[[int, int], None]  # rows done, and of how many


def ignore_share(_done: int, _total: int) -> None:
    """Report nothing."""


def orient(pixels: NDArray[Any] | LazyImage, orientation: int) -> NDArray[Any]:
    """A view of the pixels turned the way EXIF's orientation (1 to 8) says."""
    swapped, upside_down, mirrored = (
        orientation >= 5,
        orientation in (3, 4, 7, 8),
        orientation in (2, 3, 6, 7),
    )
    if isinstance(pixels, LazyImage):
        turned = pixels.turn(lambda part: orient(part, orientation), swapped, upside_down, mirrored)
        return cast(NDArray[Any], turned)
    transposed = pixels.swapaxes(0, 1) if swapped else pixels
    return transposed[:: -1 if upside_down else 1, :: -1 if mirrored else 1]


def unorient_point(place: tuple[int, int], size: tuple[int, int], orientation: int) -> tuple[int, int]:
    """Row and column, in pixels of this size, of what `orient` shows at a row and column."""
    row, column = place
    height, width = size[::-1] if orientation >= 5 else size
    if orientation in (3, 4, 7, 8):
        row = height - 1 - row
    if orientation in (2, 3, 6, 7):
        column = width - 1 - column
    return (column, row) if orientation >= 5 else (row, column)


def pack_bits(levels: NDArray[Any], bits: int) -> NDArray[np.uint8]:
    """Rows of bytes that hold the lowest `bits` of each level, from the highest bit on, as PNG and TIFF do.

    Every row starts a new byte.
    """
    places = np.arange(bits - 1, -1, -1, dtype=np.uint8)
    single = (levels[..., None].astype(np.uint8) >> places) & 1
    return np.packbits(single.reshape(len(levels), -1), axis=1)
