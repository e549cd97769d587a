"""Any file that holds a mosaic, read into a photo."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.demosaicing.cfa import Cfa
from demosaic_ntc.errors import InputError, Unsupported
from demosaic_ntc.io.exif import read_jpeg_exif
from demosaic_ntc.io.identify import (
    FileKind,
    InputLimits,
    check_name,
    is_linear,
    is_xtrans,
    kind_of,
    main_directory,
    open_regular,
    picture_kind,
    prefix_path,
)
from demosaic_ntc.raw.containers import read_raw_exif, read_raw_xmp
from demosaic_ntc.raw.layout import Layout
from demosaic_ntc.raw.libraw import complete_from_header, read_preview, read_raw, warn_of_greens
from demosaic_ntc.raw.photo import NO_MATRIX, RawPhoto
from demosaic_ntc.raw.plain import read_headerless, read_plain
from demosaic_ntc.raw.preview import decode_preview

_AS_THE_FILE_SAYS = Layout()
_NAMED_BY = {"camera", "lens", "date", "iso"}  # what names of files may ask for
_JPEG_HEAD = 1 << 18  # bytes, in which its EXIF lies


def read_photo(path: Path, layout: Layout = _AS_THE_FILE_SAYS, limits: InputLimits | None = None) -> RawPhoto:
    """Read a raw file, a one-channel picture with a given colour array, or headerless data."""
    bounds = limits or InputLimits()
    with prefix_path(path), open_regular(path, bounds) as file:
        if not layout.is_headerless:
            check_name(file, path.suffix)
        photo = _read(file, layout, bounds)
        if photo.cfa is not None:
            photo.cfa.check_shape(photo.size)
        return photo


def read_embedded(path: Path, limits: InputLimits, side: int = 512) -> NDArray[np.uint8] | None:
    """The camera's own picture in a raw, (height, width, 3), sRGB and small; None where there is none."""
    with prefix_path(path), open_regular(path, limits) as file:
        return None if _is_picture(file) else decode_preview(read_preview(file), side)


def read_facts(path: Path) -> dict[str, Any]:
    """What the header of a raw or picture tells of how it was taken, as plain values; maybe nothing."""
    with suppress(InputError), open_regular(path, InputLimits()) as file:
        if kind_of(file) is FileKind.JPEG:
            file.seek(0)
            return read_jpeg_exif(file.read(_JPEG_HEAD)).facts
        exif = read_raw_exif(file)
        complete = exif.facts.keys() >= _NAMED_BY or _is_picture(file)
        return exif.facts if complete else complete_from_header(file, exif).facts
    return {}


def likely_array(path: Path, layout: Layout) -> Cfa:
    """Guess a file's colour array before anything is decoded, to tell how long that will take.

    A linear raw has none, and takes as long as a monochrome one.
    """
    if layout.cfa is not None:
        return layout.cfa
    with suppress(InputError, OSError), open_regular(path, InputLimits()) as file:
        if is_linear(main_directory(file) or {}):
            return Cfa.from_name("MONO")
        return Cfa.from_name("XTRANS" if is_xtrans(file) else "RGGB")
    return Cfa.from_name("RGGB")


def _read(file: BinaryIO, layout: Layout, limits: InputLimits) -> RawPhoto:
    """Choose the reader by what the user said and what the first bytes say."""
    if layout.is_headerless:
        return read_headerless(file, layout, limits)
    if layout.cfa is not None and _is_picture(file):
        return read_plain(file, layout, limits)
    photo = read_raw(file, limits)
    if layout.cfa is not None:
        photo = _replace_cfa(photo, layout.cfa)
    return replace(photo, xmp=read_raw_xmp(file), notices=(*photo.notices, *warn_of_greens(photo)))


def _is_picture(file: BinaryIO) -> bool:
    """Whether this is a PNG, or a TIFF that is no raw."""
    kind = kind_of(file)
    return kind is FileKind.PNG or (kind is FileKind.TIFF and picture_kind(file) is not None)


def _replace_cfa(photo: RawPhoto, cfa: Cfa) -> RawPhoto:
    """The photo under another colour array, for raws whose own is wrong, or was taken off."""
    if photo.is_linear:
        raise Unsupported("is a linear raw with no colour filter array; leave out `cfa`")
    changed = replace(photo, channels=cfa.pattern)
    if not cfa.is_mono:
        return changed
    return replace(changed, camera_balance=None, daylight_balance=None, matrix=NO_MATRIX, stated={})
