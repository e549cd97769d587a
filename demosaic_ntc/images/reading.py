"""Any picture file that can be repaired, read by what its first bytes say; others are refused by name."""

from pathlib import Path

from demosaic_ntc.errors import InputError, NotAnImage, Unsupported
from demosaic_ntc.images import tiff_reading
from demosaic_ntc.images.jpeg import read_jpeg
from demosaic_ntc.images.picture import DecodedImage
from demosaic_ntc.images.pillow import frames_of
from demosaic_ntc.images.png_reading import read_png
from demosaic_ntc.images.tiff_reading import no_infrared, read_tiff
from demosaic_ntc.io.header import FileHeader, FileKind, InputLimits, check_pixels, open_header, prefix_path
from demosaic_ntc.io.isolation.answers import PICTURES
from demosaic_ntc.io.isolation.decoder import decode_apart

_READERS = {FileKind.PNG: read_png, FileKind.JPEG: read_jpeg, FileKind.TIFF: read_tiff}
_CONVERT = "convert it to PNG, TIFF or JPEG first"


_TIFF_SUFFIXES = (".tif", ".tiff")


def read_picture(source: Path | FileHeader, limits: InputLimits) -> DecodedImage:
    """Read a PNG, TIFF or JPEG."""
    with open_header(source, limits) as header, prefix_path(header.path):
        picture = decode_apart(_read, header, loads=PICTURES)
        check_pixels(*picture.size[::-1], header.limits)
        return picture


def read_scan(source: Path | FileHeader, limits: InputLimits) -> DecodedImage:
    """Read a TIFF of scanned film with its infrared channel."""
    with open_header(source, limits) as header, prefix_path(header.path):
        if header.kind is not FileKind.TIFF or header.mosaic_tags or header.is_dng:
            raise no_infrared()
        return decode_apart(tiff_reading.read_scan, header, loads=PICTURES)


def _read(header: FileHeader) -> DecodedImage:
    """Choose the reader by what the first bytes say."""
    kind, is_named_tiff = header.kind, header.path.suffix.lower() in _TIFF_SUFFIXES
    if kind is FileKind.TIFF and not is_named_tiff and header.picture_kind is None:
        kind = FileKind.RAW  # most raws are TIFFs of several pages
    if kind not in _READERS:
        raise _refuse_kind(kind, header)
    return _READERS[kind](header)


def _refuse_kind(kind: FileKind, header: FileHeader) -> InputError:
    """Why a file of another kind is not read."""
    match kind:
        case FileKind.UNKNOWN:
            return NotAnImage(f"is not a picture format that can be read; {_CONVERT}")
        case FileKind.RAW | FileKind.FOVEON:
            return Unsupported("is a raw file, not a picture; develop it with `demosaic-ntc convert`")
        case FileKind.POSTSCRIPT:
            return Unsupported(f"is PostScript (EPS), not a picture; {_CONVERT}")
        case FileKind.GIF:
            return Unsupported(f"is a GIF{_frames(header)}; {_CONVERT}")
        case _:
            return Unsupported(f"is {kind.value}; {_CONVERT}")


def _frames(header: FileHeader) -> str:
    """How many frames a GIF has, where it can be told; none is decoded."""
    try:
        count = frames_of(header.file, "GIF")
    except InputError:
        return ""
    return f" of {count} frames" if count > 1 else ""
