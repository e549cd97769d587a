"""Where copied pixels of a repaired picture came from, as a TIFF of whole numbers beside it.

An entry is the row and the column, both from 0, of the pixel of the file that the same pixel was copied from;
-1 where nothing was copied. Where EXIF says that a picture is to be turned, rows and columns are those of the
pixels as they are stored.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from demosaic_ntc.engine.result import CopiedPixels
from demosaic_ntc.errors import InputError
from demosaic_ntc.images.error_map import SUFFIXES
from demosaic_ntc.images.picture import DecodedImage
from demosaic_ntc.images.tiff_writing import BLACK_IS_ZERO, TiffForm, write_tiff
from demosaic_ntc.io.atomic import check_new, check_target, whole_file
from demosaic_ntc.io.exif import ORIENTATION
from demosaic_ntc.io.pixels import ignore_share
from demosaic_ntc.io.tiff_tags import SHORT, Field

_UNSPECIFIED = 0  # the kind of a second channel: no alpha


def check_asked(target: Path, fill: str) -> None:
    """Refuse a map that makes no sense by its name or by how holes are filled."""
    if target.suffix.lower() not in SUFFIXES:
        raise InputError(f"{target}: a source map is a TIFF; give a name that ends in .tif")
    if fill == "smooth":
        raise InputError(
            "nothing is copied with `fill=smooth`; write source maps with `fill=auto` or `texture`"
        )


def check_source_map(target: Path, fill: str, *, overwrite: bool) -> None:
    """Refuse, before any work is done, a map that makes no sense or could not be written."""
    check_asked(target, fill)
    check_new(target, overwrite=overwrite)
    check_target(target)


@contextmanager
def write_source_map(
    target: Path, copied: CopiedPixels, picture: DecodedImage, *, overwrite: bool
) -> Iterator[None]:
    """Write a map that appears when the block, in which its picture is written, ends without an error."""
    turned = {ORIENTATION: Field(SHORT, (picture.orientation,))}
    form = TiffForm(BLACK_IS_ZERO, extra=(_UNSPECIFIED,), fields=turned)
    with whole_file(target, overwrite=overwrite) as file:
        write_tiff(file, copied.as_map(picture.size), None, None, ignore_share, form)
        yield
