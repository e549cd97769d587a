"""Pixels: arrays, or pictures that are made as they are read and never stand in memory; which way is up."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Part: TypeAlias = NDArray[Any]  # (rows, columns, 3)
Read: TypeAlias = Callable[[slice, slice], Part]

_BAND = 64  # rows read at a time


class LazyImage:
    """A picture, (height, width, 3), read window by window.

    Indexed by one or two slices of step 1 it gives a smaller one; numpy turns it into an array.
    """

    ndim = 3

    def __init__(self, size: tuple[int, int], dtype: Any, read: Read) -> None:
        self.shape, self.dtype, self._read = (*size, 3), np.dtype(dtype), read
        self.itemsize = int(self.dtype.itemsize)  # bytes of an entry

    @property
    def nbytes(self) -> int:
        """Bytes of all entries."""
        return int(np.prod(self.shape)) * self.itemsize

    def __len__(self) -> int:
        """Return how many rows there are."""
        return self.shape[0]

    def __getitem__(self, place: slice | tuple[slice, ...]) -> "LazyImage":
        """Return a part of the picture, to be read later."""
        rows, columns = (*(place if isinstance(place, tuple) else (place,)), slice(None))[:2]
        (top, bottom, _), (left, right, _) = rows.indices(self.shape[0]), columns.indices(self.shape[1])

        def read(down: slice, across: slice) -> Part:
            rows, columns = (
                slice(down.start + top, down.stop + top),
                slice(across.start + left, across.stop + left),
            )
            return self._read(rows, columns)

        return LazyImage((bottom - top, right - left), self.dtype, read)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return all of it, read a few rows at a time: what the work on them takes besides stays small."""
        whole = np.empty(self.shape, self.dtype)
        for top in range(0, self.shape[0], _BAND):
            rows = slice(top, min(top + _BAND, self.shape[0]))
            whole[rows] = self._read(rows, slice(0, self.shape[1]))
        return np.asarray(whole, dtype)

    def map(self, work: Callable[[Part, slice, slice], Part], dtype: Any = None) -> "LazyImage":
        """Return the picture after some work on every part that is read: it is told rows and columns."""
        return LazyImage(
            (self.shape[0], self.shape[1]),
            self.dtype if dtype is None else dtype,
            lambda rows, columns: work(self._read(rows, columns), rows, columns),
        )

    def within(self, context: Callable[[], AbstractContextManager[None]]) -> "LazyImage":
        """Return the picture, read within a context."""

        def read(rows: slice, columns: slice) -> Part:
            with context():
                return self._read(rows, columns)

        return LazyImage((self.shape[0], self.shape[1]), self.dtype, read)

    def turn(
        self, turn: Callable[[Part], Part], swapped: bool, upside_down: bool, mirrored: bool
    ) -> "LazyImage":
        """Return the picture turned: axes swapped, then rows and columns from the other end.

        ``turn`` does so to an array.
        """
        height, width = (self.shape[1], self.shape[0]) if swapped else self.shape[:2]

        def read(rows: slice, columns: slice) -> Part:
            rows = _reverse_slice(rows, height) if upside_down else rows
            columns = _reverse_slice(columns, width) if mirrored else columns
            return turn(self._read(columns, rows) if swapped else self._read(rows, columns))

        return LazyImage((height, width), self.dtype, read)


def _reverse_slice(place: slice, length: int) -> slice:
    """Return the slice of what lies there counted from the other end."""
    return slice(length - place.stop, length - place.start)


ImageLike: TypeAlias = NDArray[Any] | LazyImage  # (height, width, 3), in memory or made as it is read
Image = TypeVar("Image", NDArray[Any], LazyImage, ImageLike)


Pixels = NDArray[np.uint16] | NDArray[np.uint8]  # (height, width, 3), codes of a picture's depth
ReportRows = Callable[[int, int], None]  # rows done, and of how many


def ignore_share(_done: int, _total: int) -> None:
    """Report nothing."""


def orient(pixels: Image, orientation: int) -> Image:
    """A view of the pixels turned the way EXIF's orientation (1 to 8) says."""
    if orientation == 1:
        return pixels
    swapped, upside_down, mirrored = (
        orientation >= 5,
        orientation in (3, 4, 7, 8),
        orientation in (2, 3, 6, 7),
    )
    if isinstance(pixels, LazyImage):
        return pixels.turn(lambda part: orient(part, orientation), swapped, upside_down, mirrored)
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
