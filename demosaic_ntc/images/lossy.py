"""Finished pictures in formats that leave out what the eye hardly sees: JPEG, WebP, AVIF and JPEG XL.

Pillow writes the first three with profile, EXIF and XMP. JPEG XL is coded by imagecodecs, which knows none of
these: boxes of EXIF and XMP are put in beside the picture here (ISO/IEC 18181-2, boxes of four letters), and
colours are sRGB.
"""

import io
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
from PIL import Image

from demosaic_ntc.errors import OutputError, explain_encoding
from demosaic_ntc.images.picture import DecodedImage
from demosaic_ntc.io.colour import SPACES, icc_profile
from demosaic_ntc.io.exif import exif_block, for_jpeg
from demosaic_ntc.io.formats import Loss
from demosaic_ntc.io.pixels import ImageLike

JPEG_LARGEST_SIDE, _WEBP_LARGEST_SIDE = 65535, 16383
CHROMA_KEPT = 0  # Pillow's number for no subsampling: the colours are what demosaicing is about
_SUBSAMPLINGS = {"4:4:4": CHROMA_KEPT, "4:2:2": 1, "4:2:0": 2}
_LOSSLESS = 100
_LONGEST_JPEG_XMP = 65504  # bytes, of a segment; longer ones are left out
_AVIF_SPEED = 8  # of 10; half the time of the usual 6 for a few percent more bytes


def write_jpeg(file: BinaryIO, picture: DecodedImage, loss: Loss) -> None:
    """Write an 8-bit JPEG."""
    _check_side("JPEG", picture.colours, JPEG_LARGEST_SIDE)
    exif = b"Exif\0\0" + exif_block(for_jpeg(picture.exif)) if picture.exif else b""
    chroma = _SUBSAMPLINGS[loss.subsampling]
    xmp = picture.xmp or b""
    fitting = {"xmp": xmp} if 0 < len(xmp) <= _LONGEST_JPEG_XMP else {}
    _save(file, "JPEG", picture, quality=loss.quality, subsampling=chroma, exif=exif, **fitting)


def write_webp(file: BinaryIO, picture: DecodedImage, loss: Loss) -> None:
    """Write a WebP; it has quarter-resolution colours unless nothing at all is left out, at quality 100."""
    _check_side("WebP", picture.colours, _WEBP_LARGEST_SIDE)
    _save(
        file,
        "WEBP",
        picture,
        quality=loss.quality,
        lossless=loss.quality == _LOSSLESS,
        exif=picture.block or b"",
        xmp=picture.xmp or b"",
    )


def write_avif(file: BinaryIO, picture: DecodedImage, loss: Loss) -> None:
    """Write an AVIF of 8 bits."""
    _save(
        file,
        "AVIF",
        picture,
        quality=loss.quality,
        subsampling=loss.subsampling,
        speed=_AVIF_SPEED,
        exif=picture.block or b"",
        xmp=picture.xmp or b"",
    )


def write_jpeg_xl(file: BinaryIO, picture: DecodedImage, loss: Loss) -> None:
    """Write a JPEG XL in the depth of the pixels; nothing is left out at quality 100."""
    import imagecodecs  # noqa: PLC0415 (slow to load; other formats do without)

    if picture.profile != icc_profile(SPACES["srgb"]):
        raise OutputError(
            "JPEG XL is written in sRGB alone; leave out `color_space` and `linear`, or write a TIFF"
        )
    lossless = loss.quality == _LOSSLESS
    pixels = np.ascontiguousarray(picture.colours)
    with explain_encoding("JPEG XL"):
        coded = imagecodecs.jpegxl_encode(
            pixels, level=None if lossless else loss.quality, lossless=lossless, usecontainer=True
        )
    for kind, content in _boxes(bytes(coded)):
        file.write(_box(kind, content))
        if kind == b"ftyp" and picture.block:  # at once behind the head, as readers expect it
            file.write(_box(b"Exif", struct.pack(">L", 0) + picture.block))
        if kind == b"ftyp" and picture.xmp:
            file.write(_box(b"xml ", picture.xmp))


def _save(file: BinaryIO, kind: str, picture: DecodedImage, **how: Any) -> None:
    """Write by Pillow, with the profile; into memory first: some encoders want to go back in their file."""
    content = io.BytesIO()
    image = Image.fromarray(np.ascontiguousarray(picture.colours))
    with explain_encoding(kind):
        image.save(content, kind, icc_profile=picture.profile, **how)
    file.write(content.getbuffer())


def _check_side(name: str, pixels: ImageLike, most: int) -> None:
    """Refuse pictures that a format cannot hold."""
    if max(pixels.shape) > most:
        raise OutputError(f"{name} ends at {most} pixels a side; write a PNG or TIFF, or give `resize`")


def _boxes(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The boxes of a container: kind and content of each."""
    place = 0
    while place < len(data):
        length, kind = struct.unpack_from(">L4s", data, place)
        head = 8
        if length == 1:
            length, head = struct.unpack_from(">Q", data, place + 8)[0], 16
        end = place + length if length else len(data)
        yield kind, data[place + head : end]
        place = end


def _box(kind: bytes, content: bytes) -> bytes:
    """A box of a container, its length in front."""
    if len(content) + 8 < 1 << 32:
        return struct.pack(">L4s", len(content) + 8, kind) + content
    return struct.pack(">L4sQ", 1, kind, len(content) + 16) + content
