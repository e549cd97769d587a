"""How far off a finished picture is expected to be, as a TIFF of floating-point numbers beside it.

An entry is the standard deviation of the error of the same pixel and channel, in code values of the picture;
zero where the picture holds what was measured. Errors of neighbouring pixels are correlated: the mean of a
region is less certain than the mean of as many independent errors would be.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32
from demosaic_ntc.errors import InputError
from demosaic_ntc.images.tiff_writing import BLACK_IS_ZERO, RGB, TiffForm, write_tiff
from demosaic_ntc.io.atomic import check_new, check_target, whole_file
from demosaic_ntc.io.exif import ORIENTATION
from demosaic_ntc.io.formats import format_of
from demosaic_ntc.io.pixels import ignore_share
from demosaic_ntc.io.tiff_tags import SHORT, Field

SUFFIXES = (".tif", ".tiff")

#: The methods that know how far off they may be.
METHODS = ("gaussian", "ntc")

# Rows summed at once.
_BAND = 64


@dataclass(frozen=True, slots=True)
class ErrorMap:
    """A map that was written."""

    target: Path
    rms: float  # root mean square of all its entries, in code values
    white: int | None  # the largest code value of the picture; None where its values are no integers


@dataclass(frozen=True, slots=True)
class Expected:
    """The errors expected of a finished picture."""

    deviations: Float32  # (height, width) or (height, width, 3), in the picture's code values, as it lies
    orientation: int  # EXIF's, of the picture's file
    white: int | None  # the largest code value; None where values are no integers

    @property
    def rms(self) -> float:
        """The root mean square over all entries, in code values."""
        entries = self.deviations
        bands = (entries[top : top + _BAND] for top in range(0, len(entries), _BAND))
        return float(
            np.sqrt(sum(float(np.square(band, dtype=np.float64).sum()) for band in bands) / entries.size)
        )


def is_within(target: Path, picture: Path) -> bool:
    """Whether a map is to be a part of its picture's file, which FITS has a place for."""
    return target == picture and format_of(picture) == "FITS"


def check_asked(target: Path, method: str, picture: Path | None = None) -> None:
    """Refuse a map that makes no sense by its name or by the method."""
    inside = picture is not None and is_within(target, picture)
    if target.suffix.lower() not in SUFFIXES and not inside:
        raise InputError(f"{target}: an error map is a TIFF; give a name that ends in .tif")
    if method not in METHODS:
        raise InputError(f"{method} does not know its errors; write error maps with `method=gaussian`")


def check_map(target: Path, method: str, *, overwrite: bool) -> None:
    """Refuse, before any work is done, a map that makes no sense or could not be written."""
    check_asked(target, method)
    check_new(target, overwrite=overwrite)
    check_target(target)


def white_of(dtype: np.dtype[Any]) -> int | None:
    """The largest value of an integer type; None for floats."""
    return None if dtype.kind == "f" else int(np.iinfo(dtype).max)


@contextmanager
def write_error_map(target: Path, expected: Expected, *, overwrite: bool) -> Iterator[ErrorMap]:
    """Write a map that appears when the block, in which its picture is written, ends without an error."""
    entries: NDArray[np.float32] = expected.deviations
    photometric = RGB if entries.ndim == 3 else BLACK_IS_ZERO
    form = TiffForm(photometric, fields={ORIENTATION: Field(SHORT, (expected.orientation,))})
    with whole_file(target, overwrite=overwrite) as file:
        write_tiff(file, entries, None, None, ignore_share, form)
        yield ErrorMap(target, expected.rms, expected.white)
