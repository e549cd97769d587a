"""EXIF and XMP of raws that are no TIFF: CRW and CR3, RAF, MRW, and some that name a camera.

Layouts as ExifTool documents them. Nothing is trusted: lengths, counts and loops are bounded, and damage
gives less metadata, never an error.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeAlias

from demosaic_ntc.io.exif import (
    MAKE,
    MODEL,
    Exif,
    Fields,
    keep_known,
    photo_fields,
    read_exif,
    read_jpeg_exif,
)
from demosaic_ntc.io.header import FUJIFILM, FileHeader
from demosaic_ntc.io.tiff_tags import XMP, read_block

# A part of a file: what it is, where it begins, how many bytes it has.
_Part: TypeAlias = tuple[int, int, int]

_MOST_PARTS, _MOST_HEAPS = 1000, 64
_LARGEST_VALUE = 1 << 16
_LARGEST_BLOCK = 1 << 20  # of tags; cameras write some tens of kilobytes
JPEG_XMP = b"http://ns.adobe.com/xap/1.0/\0"
_JPEG_HEAD = 1 << 18  # bytes, in which the EXIF of a JPEG lies


def read_raw_exif(header: FileHeader) -> Exif:
    """The fields we keep of any raw, whatever contains it; empty where there are none."""
    readers = (reader for place, magic, reader in _READERS if header.head[place:].startswith(magic))
    return next(readers, lambda each: read_exif(each.tags))(header)


def read_raw_xmp(header: FileHeader) -> bytes | None:
    """The XMP packet of a raw, as it is stored: in a TIFF, a CR3, or the preview of a RAF."""
    if header.head[4:].startswith(b"ftypcrx "):
        return _cr3_xmp(header)
    if header.head.startswith(FUJIFILM):
        return _jpeg_xmp(_raf_preview(header))
    stored = header.tags.first().get(XMP, b"")
    if isinstance(stored, bytes):
        return stored or None
    are_bytes = stored and all(value in range(256) for value in stored)
    return bytes(int(value) for value in stored) if are_bytes else None


def _unpack(form: str, data: bytes) -> tuple[Any, ...]:
    """What stands at the start of some bytes; zeros where these are too short."""
    size = struct.calcsize(form)
    return struct.unpack(form, data[:size].ljust(size, b"\0"))


# Canon CRW (CIFF): heaps within heaps; the last four bytes of each tell where its directory is.

_MAKE_MODEL, _OWNER, _TAKEN, _FOCAL, _SHOT, _SETTINGS = 0x080A, 0x0810, 0x180E, 0x1029, 0x102A, 0x102D
_CRW_VALUES = {_MAKE_MODEL, _OWNER, _TAKEN, _FOCAL, _SHOT, _SETTINGS}
_HERE, _HEAPS, _KIND, _TAG = 0x4000, (0x2800, 0x3000), 0x7800, 0x3FFF
_CAMERA_OWNER = 42032


def _read_crw(header: FileHeader) -> Exif:
    """Camera, owner, date, exposure and the range of the lens."""
    order = ">" if header.read(0, 2) == b"MM" else "<"
    values = _crw_values(header, order)
    camera = values.get(_MAKE_MODEL, b"")
    stored = keep_known({MAKE: camera[:6], MODEL: camera[6:]}, {_CAMERA_OWNER: values.get(_OWNER, b"")}, {})
    return replace(stored, photo={**_crw_photo(values, order), **stored.photo})


def _crw_values(header: FileHeader, order: str) -> dict[int, bytes]:
    """The values of all heaps by their tags."""
    values: dict[int, bytes] = {}
    (start,) = _unpack(order + "L", header.read(2, 4))
    waiting, seen = [(start, header.length - start)], set[tuple[int, int]]()
    while waiting and len(seen) < _MOST_HEAPS:
        heap = waiting.pop(0)
        if heap in seen or heap[1] < 4:
            continue
        seen.add(heap)
        for kind, place, length in _crw_records(header, order, *heap):
            if kind & _KIND in _HEAPS:
                waiting.append((place, length))
            elif kind & _TAG in _CRW_VALUES and length <= _LARGEST_VALUE:
                values.setdefault(kind & _TAG, header.read(place, length))
    return values


def _crw_records(header: FileHeader, order: str, start: int, length: int) -> Iterator[_Part]:
    """The records of a heap; short ones lie in the directory itself."""
    directory = start + _unpack(order + "L", header.read(start + length - 4, 4))[0]
    (count,) = _unpack(order + "H", header.read(directory, 2))
    for place in range(directory + 2, directory + 2 + 10 * min(count, _MOST_PARTS), 10):
        kind, size, offset = _unpack(order + "HLL", header.read(place, 10))
        if kind & _HERE:
            yield kind, place + 2, 8
        else:
            yield kind, start + offset, size


def _crw_photo(values: dict[int, bytes], order: str) -> Fields:
    """How the photo was taken: the date, and records as in Canon's maker notes, numbered from zero."""
    (seconds,) = _unpack(order + "L", values.get(_TAKEN, b""))
    shot = _unpack(order + "23h", values.get(_SHOT, b""))
    settings = _unpack(order + "26h", values.get(_SETTINGS, b""))
    unit = max(settings[25], 1)
    focal_length = _unpack(order + "HH", values.get(_FOCAL, b""))[1] / unit
    return photo_fields(
        iso=2 ** (shot[2] / 32) * 100 / 32 * 2 ** (shot[1] / 32) if shot[2] > 0 else 0,
        exposure=2 ** -_canon_ev(shot[22]) if shot[22] else 0,
        aperture=2 ** (_canon_ev(shot[21]) / 2) if shot[21] else 0,
        focal_length=focal_length,
        taken=datetime.fromtimestamp(seconds, UTC) if seconds else None,  # as the camera's clock showed it
        lens_model=_lens_range(settings[24] / unit, settings[23] / unit),
    )


def _canon_ev(value: int) -> float:
    """An exposure value in steps of 1/32, in which Canon writes a third as 12 and two thirds as 20."""
    whole, part = divmod(abs(value), 32)
    return (whole + {12: 1 / 3, 20: 2 / 3}.get(part, part / 32)) * (1 if value > 0 else -1)


def _lens_range(shortest: float, longest: float) -> str:
    """A lens by its focal lengths, as Canon names those of compact cameras."""
    if not 0 < shortest <= longest:
        return ""
    return f"{longest:.1f} mm" if shortest == longest else f"{shortest:.1f}-{longest:.1f} mm"


# Canon CR3 (ISO base media file format): boxes within boxes; those of tags are TIFF blocks.

_CANON_BOX = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
_XMP_BOX = bytes.fromhex("be7acfcb97a942e89c71999491e3afac")


def _read_cr3(header: FileHeader) -> Exif:
    """The three directories of EXIF, each in a box of its own."""
    blocks = {
        name: header.read(place, min(length, _LARGEST_BLOCK))
        for kind, top, size in _boxes(header, 0, header.length)
        for inner, start, extent in (_boxes(header, top, size) if kind == b"moov" else ())
        if inner == b"uuid" and header.read(start, 16) == _CANON_BOX
        for name, place, length in _boxes(header, start + 16, extent - 16)
        if name in (b"CMT1", b"CMT2", b"CMT4")
    }
    image, photo, gps = (read_block(blocks.get(name, b"")).first() for name in (b"CMT1", b"CMT2", b"CMT4"))
    return keep_known(image, photo, gps)


def _cr3_xmp(header: FileHeader) -> bytes | None:
    """The packet in a box of its own, beside that of everything else."""
    for kind, place, length in _boxes(header, 0, header.length):
        if kind == b"uuid" and header.read(place, 16) == _XMP_BOX:
            return header.read(place + 16, min(length - 16, _LARGEST_BLOCK))
    return None


def _boxes(header: FileHeader, start: int, length: int) -> Iterator[tuple[bytes, int, int]]:
    """The boxes that lie in a part of a file: kinds, places and lengths of their contents."""
    end = start + length
    for _ in range(_MOST_PARTS):
        size, kind, large = _unpack(">L4sQ", header.read(start, 16))
        before = 16 if size == 1 else 8
        size = min(large if size == 1 else size or end, end - start)
        if size < before:
            return
        yield kind, start + before, size - before
        start += size


# Fujifilm RAF: a fixed header with the model's name; the EXIF is that of the preview.


def _read_raf(header: FileHeader) -> Exif:
    """The EXIF of the preview; the model by the header where it has none."""
    exif = read_jpeg_exif(_raf_preview(header))
    return exif if exif.image else keep_known({MAKE: b"FUJIFILM", MODEL: header.read(28, 32)}, {}, {})


def _raf_preview(header: FileHeader) -> bytes:
    """The head of the preview, with all its metadata."""
    place, length = _unpack(">LL", header.read(84, 8))
    return header.read(place, min(length, _JPEG_HEAD))


def _jpeg_xmp(jpeg: bytes) -> bytes | None:
    """The packet in a segment of a JPEG, whose length stands before its name."""
    start = jpeg.find(JPEG_XMP)
    if start < 4:
        return None
    (length,) = _unpack(">H", jpeg[start - 2 : start])
    return jpeg[start + len(JPEG_XMP) : start - 2 + length] or None


# Minolta MRW: named blocks up to the samples, one of which is a TIFF block.


def _read_mrw(header: FileHeader) -> Exif:
    """The EXIF of the block of tags."""
    place, end = 8, 8 + _unpack(">L", header.read(4, 4))[0]
    for _ in range(_MOST_PARTS):
        name, length = _unpack(">4sL", header.read(place, 8))
        if name == b"\0TTW":
            return read_exif(read_block(header.read(place + 8, min(length, _LARGEST_BLOCK))))
        place += 8 + length
        if place >= end:
            break
    return Exif()


def _name_camera(make: bytes, model: bytes) -> Callable[[FileHeader], Exif]:
    """A reader for containers whose header is that of one camera."""
    return lambda _: keep_known({MAKE: make, MODEL: model}, {}, {})


# (offset, first bytes, reader); whatever else there is may be a TIFF.
_READERS: tuple[tuple[int, bytes, Callable[[FileHeader], Exif]], ...] = (
    (6, b"HEAPCCDR", _read_crw),
    (4, b"ftypcrx ", _read_cr3),
    (0, FUJIFILM, _read_raf),
    (0, b"\0MRM", _read_mrw),
    (0, b"qktk\0", _name_camera(b"Apple", b"QuickTake 100")),
    (0, b"qktn\0", _name_camera(b"Apple", b"QuickTake 150")),
    (25, b"ARECOYK", _name_camera(b"Contax", b"N Digital")),
    (0, b"PXN\0", _name_camera(b"Logitech", b"Fotoman Pixtura")),
)
