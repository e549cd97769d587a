"""Arrays in a temporary file without a name, which is gone when the process ends, however it ends.

It lies in the folder for temporary files (`TMPDIR`). Rows are read as they are wanted, so that memory holds
no more than those.
"""

import os
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.errors import NotWritable, OutputError, words
from demosaic_ntc.io.atomic import refusals_explained


class ScratchFile:
    """Arrays one after the other; it is closed when nothing refers to it or to them any more."""

    def __init__(self) -> None:
        with _explain_refusals():
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (open as long as this)
        weakref.finalize(self, self._file.close)
        self._end = 0

    def keep(self, array: NDArray[Any]) -> "StoredArray":
        """Write an array; return what reads it."""
        start, left = self._end, np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
        with _explain_refusals():
            while left:
                written = os.pwrite(self._file.fileno(), left, self._end)
                left, self._end = left[written:], self._end + written
        return StoredArray(self, start, array.shape, array.dtype)

    def read(self, start: int, into: NDArray[Any]) -> None:
        """Fill a contiguous array with what is written from a place on."""
        left = into.reshape(-1).view(np.uint8).data
        with _explain_refusals():
            while left:
                count = os.preadv(self._file.fileno(), [left], start)
                if not count:
                    raise NotWritable("the temporary file has lost its end; run again")
                left, start = left[count:], start + count


@dataclass(frozen=True, slots=True)
class StoredArray:
    """An array in a scratch file, of which some rows at a time are read."""

    file: ScratchFile
    start: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many entries it has."""
        return int(np.prod(self.shape))

    def __getitem__(self, place: slice | tuple[slice, ...], /) -> NDArray[Any]:
        """Return some rows, or a part of these."""
        rows, *others = place if isinstance(place, tuple) else (place,)
        first, last, step = rows.indices(self.shape[0])
        found = np.empty((max(last - first, 0), *self.shape[1:]), self.dtype)
        self.file.read(self.start + first * self.dtype.itemsize * int(np.prod(self.shape[1:])), found)
        return np.asarray(found[(slice(None, None, step), *others)])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return all of it."""
        return np.asarray(self[:], dtype)


@contextmanager
def _explain_refusals() -> Iterator[None]:
    """Say what the system refuses, and where temporary files could lie instead."""
    try:
        with refusals_explained(Path(tempfile.gettempdir())):
            yield
    except FileNotFoundError as error:
        raise NotWritable(f"{words(error)}; let TMPDIR name a folder that takes files") from error
    except OutputError as error:
        raise type(error)(f"{error} (frames are kept there; TMPDIR names another folder)") from error
