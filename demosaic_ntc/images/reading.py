"""Any picture file that can be repaired, read by what its first bytes say; others are refused by name."""

from pathlib import Path
from typing import BinaryIO

from demosaic_ntc.errors import InputError, NotAnImage, Unsupported
from demosaic_ntc.images.jpeg import read_jpeg
from demosaic_ntc.images.picture import DecodedImage
from demosaic_ntc.images.pillow import frames_of
from demosaic_ntc.images.png_reading import read_png
from demosaic_ntc.images.tiff_reading import read_tiff
from demosaic_ntc.io.identify import FileKind, InputLimits, kind_of, open_regular, picture_kind, prefix_path

_READERS = {FileKind.PNG: read_png, FileKind.JPEG: read_jpeg, FileKind.TIFF: read_tiff}
_CONVERT = "convert it to PNG, TIFF or JPEG first"


_TIFF_SUFFIXES = (".tif", ".tiff")


def read_picture(path: Path, limits: InputLimits) -> DecodedImage:
    """Read a PNG, TIFF or JPEG."""
    with prefix_path(path), open_regular(path, limits) as file:
        kind = kind_of(file)
        if kind is FileKind.TIFF and path.suffix.lower() not in _TIFF_SUFFIXES and picture_kind(file) is None:
            kind = FileKind.RAW  # most raws are TIFFs of several pages
        if kind not in _READERS:
            raise _refusal(kind, file)
        return _READERS[kind](file, limits)


def _refusal(kind: FileKind, file: BinaryIO) -> InputError:
    """Why a file of another kind is not read."""
    match kind:
        case FileKind.UNKNOWN:
            return NotAnImage(f"is no picture that is known here; {_CONVERT}")
        case FileKind.RAW | FileKind.FOVEON:
            return Unsupported("is a raw file, not a picture; develop it with `demosaic-ntc convert`")
        case FileKind.POSTSCRIPT:
            return Unsupported(f"is PostScript (EPS), not a picture; {_CONVERT}")
        case FileKind.GIF:
            return Unsupported(f"is a GIF{_frames(file)}; {_CONVERT}")
        case _:
            return Unsupported(f"is {kind.value}; {_CONVERT}")


def _frames(file: BinaryIO) -> str:
    """How many frames a GIF has, where it can be told; none is decoded."""
    try:
        count = frames_of(file, "GIF")
    except InputError:
        return ""
    return f" of {count} frames" if count > 1 else ""
