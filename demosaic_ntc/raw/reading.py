"""Any file that holds a mosaic, read into a photo."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.noise import middle
from demosaic_ntc.errors import InputError, NotAnImage, Unsupported
from demosaic_ntc.io.exif import read_jpeg_exif
from demosaic_ntc.io.formats import Layout
from demosaic_ntc.io.header import FileHeader, FileKind, InputLimits, check_pixels, open_header, prefix_path
from demosaic_ntc.io.isolation.answers import PICTURES
from demosaic_ntc.io.isolation.decoder import decode_apart
from demosaic_ntc.io.isolation.process import Modules
from demosaic_ntc.raw.checks import check_raw
from demosaic_ntc.raw.containers import read_raw_exif, read_raw_xmp
from demosaic_ntc.raw.fits import ASTROPY, read_fits
from demosaic_ntc.raw.libraw import complete_from_header, decode_raw, read_preview
from demosaic_ntc.raw.linear import read_linear_photo
from demosaic_ntc.raw.photo import GREEN, NO_MATRIX, SECOND_GREEN, Box, RawPhoto
from demosaic_ntc.raw.plain import read_headerless, read_plain
from demosaic_ntc.raw.preview import decode_preview

_AS_THE_FILE_SAYS = Layout()
_NAMED_BY = {"camera", "lens", "date", "iso"}  # what names of files may ask for
_JPEG_HEAD = 1 << 18  # bytes, in which its EXIF lies

# From this share of constant rows on, a file is probably damaged: cameras have noise in every row.
_SUSPICIOUS_ROWS = 0.05

# The two greens of a sensor differ by a percent; from this ratio on, one of them is no green.
_SUSPICIOUS_GREENS = 1.1


def read_photo(
    source: Path | FileHeader, layout: Layout = _AS_THE_FILE_SAYS, limits: InputLimits | None = None
) -> RawPhoto:
    """Read a raw file, a one-channel picture with a given colour array, or headerless data."""
    with open_header(source, limits or InputLimits()) as header, prefix_path(header.path):
        loads = _needed_modules(header, layout)
        photo = decode_apart(read_fits if loads == ASTROPY else _read, header, layout, loads=loads)
        check_photo(photo, header.limits)
        if photo.cfa is not None:
            photo.cfa.check_shape(photo.size)
        return replace(photo, isolated=header.limits.isolate)


def _needed_modules(header: FileHeader, layout: Layout) -> Modules:
    """What a process that reads the file has to load; few raws are like pictures."""
    if header.kind is FileKind.FITS and layout.width is None:
        return ASTROPY
    return PICTURES if header.is_picture or (header.is_dng and header.is_linear) else ()


def check_photo(photo: RawPhoto, limits: InputLimits) -> None:
    """Refuse what no decoder makes unless a file has taken it over: kernels trust sizes and channels."""
    check_pixels(*photo.size[::-1], limits)
    planes = (3,) if photo.is_linear else ()
    holds = (
        photo.mosaic.shape == (*photo.size, *planes),
        photo.channels.shape[2:] == planes == photo.black.shape[2:] or photo.black.shape == (1, 1),
        min(photo.channels.size, photo.black.size) > 0,
        int(photo.channels.max(initial=0)) <= SECOND_GREEN,
        photo.orientation in range(1, 9),
        photo.camera_crop is None or _is_inside(photo.camera_crop, photo.size),
    )
    if not all(holds):
        raise NotAnImage("decodes to something that is not a photo; the file is damaged, or made to do harm")


def _is_inside(crop: Box, size: tuple[int, int]) -> bool:
    """Whether a part of a picture of some size has pixels, and no others."""
    return (
        min(crop.top, crop.left) >= 0
        and min(crop.height, crop.width) > 0
        and crop.top + crop.height <= size[0]
        and crop.left + crop.width <= size[1]
    )


def read_embedded(path: Path, limits: InputLimits, side: int = 512) -> NDArray[np.uint8] | None:
    """The camera's own picture in a raw, (height, width, 3), sRGB and small; None where there is none."""
    with open_header(path, limits) as header, prefix_path(path):
        if header.is_picture:
            return None
        return decode_preview(decode_apart(read_preview, header), side, isolate=limits.isolate)


def read_facts(path: Path) -> dict[str, Any]:
    """What the header of a raw or picture tells of how it was taken, as plain values; maybe nothing."""
    with suppress(InputError), open_header(path, InputLimits()) as header:
        if header.kind is FileKind.JPEG:
            return read_jpeg_exif(header.read(0, _JPEG_HEAD)).facts
        exif = read_raw_exif(header)
        complete = exif.facts.keys() >= _NAMED_BY or header.is_picture
        return exif.facts if complete else decode_apart(complete_from_header, header, exif).facts
    return {}


def _read(header: FileHeader, layout: Layout) -> RawPhoto:
    """Choose the reader by what the user said and what the header says."""
    if layout.width is not None:
        return read_headerless(header, layout)
    if layout.cfa is not None and header.is_picture:
        return read_plain(header, layout)
    check_raw(header)
    read = read_linear_photo if header.is_dng and header.is_linear else decode_raw
    photo = read(header, read_raw_exif(header))
    if layout.cfa is not None:
        photo = _replace_cfa(photo, layout.cfa)
    notices = (*_warn_of_rows(photo), *photo.notices, *photo.opcodes.notices, *_warn_of_greens(photo))
    return replace(photo, xmp=read_raw_xmp(header), notices=notices)


def _replace_cfa(photo: RawPhoto, cfa: Cfa) -> RawPhoto:
    """The photo under another colour array, for raws whose own is wrong, or was taken off."""
    if photo.is_linear:
        raise Unsupported("is a linear raw with no colour filter array; leave out `cfa`")
    changed = replace(photo, channels=cfa.pattern)
    if not cfa.is_mono:
        return changed
    return replace(changed, camera_balance=None, daylight_balance=None, matrix=NO_MATRIX, stated={})


def _warn_of_rows(photo: RawPhoto) -> Iterator[str]:
    """A warning where many rows are constant and not clipped."""
    mosaic = photo.mosaic
    constant = (mosaic.min(axis=1) == mosaic.max(axis=1)) & (mosaic[:, 0] < photo.white)
    share = constant.reshape(len(mosaic), -1).all(axis=1).mean()
    if share >= _SUSPICIOUS_ROWS:
        yield f"constant rows: {share:.0%} of the picture; the file may be damaged"


def _warn_of_greens(photo: RawPhoto) -> Iterator[str]:
    """A warning where the two greens of a Bayer array differ more than any sensor's do."""
    if photo.cfa is None or not photo.cfa.is_bayer or photo.black.shape != (2, 2):
        return
    (y, x), (v, u) = np.argwhere((photo.channels == GREEN) | (photo.channels == SECOND_GREEN))
    first = middle(photo.mosaic[y::8, x::8]) - photo.black[y, x]
    second = middle(photo.mosaic[v::8, u::8]) - photo.black[v, u]
    if min(first, second) > 0 and max(first, second) / min(first, second) > _SUSPICIOUS_GREENS:
        difference = max(first, second) / min(first, second) - 1
        others = "RGGB or BGGR" if y == x else "GRBG or GBRG"
        yield f"the two greens differ by {difference:.0%}; the colour array may be wrong, try `cfa={others}`"
