"""JPEG pictures: their segments, their pixels, and how they are coded again with the least change.

What describes the picture (JFIF, EXIF, XMP, profile, captions, comments)
is carried over segment by segment; previews are not, since they would show the picture before its repair.
"""

import io
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
import simplejpeg
from numpy.typing import NDArray

from demosaic_ntc.errors import Unsupported, damage_explained
from demosaic_ntc.images import pillow
from demosaic_ntc.images.picture import DecodedImage, JpegForm, read_carried, strip_thumbnail
from demosaic_ntc.io.header import FileHeader, FileKind, InputLimits, check_pixels
from demosaic_ntc.io.jpeg_segments import FRAMES, check_scans, read_segments

Segments = list[tuple[int, bytes]]

_COMMENT = 0xFE
_APP0, _APP1, _APP2, _APP13 = 0xE0, 0xE1, 0xE2, 0xED

_EXIF, _XMP, _ICC, _PHOTOSHOP = (
    b"Exif\0\0",
    b"http://ns.adobe.com/xap/1.0/\0",
    b"ICC_PROFILE\0",
    b"Photoshop 3.0\0",
)
_MULTI_PICTURE = b"MPF\0"
_PREVIEW_RESOURCES = (1033, 1036)
_LONGEST = 65533

_UNKNOWN_SAMPLING, _EVERY_OTHER = -1, 2  # the second is 4:2:0, which hardly any decoder misses


def read_jpeg(header: FileHeader) -> DecodedImage:
    """Read a grey or RGB JPEG; CMYK and depths other than 8 bits are refused."""
    with damage_explained("JPEG"):
        segments = [_blank_thumbnail(*each) for each in read_segments(header.file)]
        _check_frame(segments, header.limits)
        pixels, form = _decode(header.file, segments)
    block = next((data[len(_EXIF) :] for marker, data in segments if _is_exif(marker, data)), b"")
    exif, orientation = read_carried(block)
    return DecodedImage(
        pixels,
        kind=FileKind.JPEG,
        profile=_profile(segments),
        exif=exif,
        carried=block or None,
        orientation=orientation,
        own=form,
        notices=tuple(_notices(segments)),
    )


def _is_exif(marker: int, data: bytes) -> bool:
    """Whether a segment is a block of EXIF."""
    return marker == _APP1 and data.startswith(_EXIF)


def _blank_thumbnail(marker: int, data: bytes) -> tuple[int, bytes]:
    """The segment without the small copy of the picture."""
    return marker, _EXIF + strip_thumbnail(data[len(_EXIF) :]) if _is_exif(marker, data) else data


def _check_frame(segments: Segments, limits: InputLimits) -> None:
    """Refuse, before decoding, sizes beyond the limit and kinds of colour that are not completed."""
    frame = next((data for marker, data in segments if marker in FRAMES), b"")
    bits, height, width, components = struct.unpack(">BHHB", frame[:6])
    check_pixels(width, height, limits)
    if components == 4:
        raise Unsupported("is a CMYK JPEG; convert it to RGB first")
    if components not in (1, 3) or bits != 8:
        raise Unsupported(
            f"is a JPEG of {components} channels of {bits} bits; convert it to 8-bit RGB or grey"
        )


def _decode(file: BinaryIO, segments: Segments) -> tuple[NDArray[np.uint8], JpegForm]:
    """The pixels and how they were coded."""
    image = pillow.opened(file, "JPEG")
    tables, sampling, in_passes = pillow.jpeg_coding(image)
    sampling = _EVERY_OTHER if sampling == _UNKNOWN_SAMPLING else sampling
    form = JpegForm(_filter_segments(segments), tables, sampling, in_passes)
    file.seek(0)
    content = file.read()
    check_scans(content)
    return _decode_strictly(content, image.mode), form


def _decode_strictly(content: bytes, mode: str) -> NDArray[np.uint8]:
    """The pixels; what libjpeg only warns of is damage here: it fills in pixels that would pass for known."""
    grey = mode == "L"
    pixels: NDArray[np.uint8] = simplejpeg.decode_jpeg(content, "GRAY" if grey else "RGB", strict=True)
    return pixels[..., 0] if grey else pixels


def _filter_segments(segments: Segments) -> bytes:
    """Segments that are still true of the repaired picture, in their order."""
    return b"".join(segment(marker, data) for marker, data in map(_strip_preview, segments) if data)


def _strip_preview(one: tuple[int, bytes]) -> tuple[int, bytes]:
    """The segment to keep, with no data where there is nothing to keep."""
    marker, data = one
    if marker == _APP0 and data.startswith(b"JFIF\0"):
        return marker, data[:12] + bytes(2)
    if marker == _APP13 and data.startswith(_PHOTOSHOP):
        return marker, _PHOTOSHOP + b"".join(_resources(data[len(_PHOTOSHOP) :]))
    stays = marker == _COMMENT or _is_exif(marker, data) or data.startswith((_XMP, _ICC))
    return marker, data if stays else b""


def _resources(data: bytes) -> Iterator[bytes]:
    """The resources of a Photoshop segment that are no previews.

    Each is ``8BIM``, a number, a name and a content with their lengths, both padded to even lengths.
    """
    place = 0
    while data[place : place + 4] == b"8BIM" and place + 7 <= len(data):
        number, name_length = struct.unpack_from(">HB", data, place + 4)
        head = place + 6 + (name_length + 2) // 2 * 2
        if head + 4 > len(data):
            return
        stop = head + 4 + (struct.unpack_from(">L", data, head)[0] + 1) // 2 * 2
        if number not in _PREVIEW_RESOURCES:
            yield data[place:stop]
        place = stop


def _notices(segments: Segments) -> Iterator[str]:
    """What a user should know about a JPEG."""
    if any(marker == _APP2 and data.startswith(_MULTI_PICTURE) for marker, data in segments):
        yield "the further pictures in this JPEG (previews, gain maps) are not carried over"


def _profile(segments: Segments) -> bytes | None:
    """The profile, put together from its numbered parts."""
    parts = [data[len(_ICC) :] for marker, data in segments if marker == _APP2 and data.startswith(_ICC)]
    return b"".join(part[2:] for part in sorted(parts, key=lambda part: part[:1])) or None


def segment(marker: int, data: bytes) -> bytes:
    """A segment with its length."""
    return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data


def is_too_long(exif: bytes | None) -> bool:
    """Whether a block of metadata does not fit in a segment."""
    return exif is not None and len(exif) > _LONGEST - len(_EXIF)


def make_segments(profile: bytes | None, exif: bytes | None) -> bytes:
    """The segments of a profile and a block of metadata, each in as many parts as it needs."""
    size = _LONGEST - len(_ICC) - 2
    parts = [profile[start : start + size] for start in range(0, len(profile), size)] if profile else []
    blocks = [segment(_APP1, _EXIF + exif)] if exif and not is_too_long(exif) else []
    blocks += [
        segment(_APP2, _ICC + bytes((number, len(parts))) + part) for number, part in enumerate(parts, 1)
    ]
    return b"".join(blocks)


def encode_jpeg(pixels: NDArray[Any], segments: bytes, **coding: Any) -> bytes:
    """An 8-bit grey or RGB picture as JPEG with these segments.

    The encoder's own JFIF segment gives way to one of the source, and to EXIF, which has to come first.
    """
    buffer = io.BytesIO()
    pillow.save_jpeg(buffer, pixels, **coding)
    content = buffer.getvalue()
    start, length = 2, struct.unpack_from(">H", content, 4)[0] + 2
    behind = start + length if content[3] == _APP0 else start
    own = b"" if segments[1:2] in (bytes((_APP0,)), bytes((_APP1,))) else content[start:behind]
    return content[:start] + own + segments + content[behind:]
