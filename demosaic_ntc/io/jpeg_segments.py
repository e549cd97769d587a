"""The segments of a JPEG up to its pixels (ITU-T T.81, annex B), and the size that its header tells."""

import struct
from collections.abc import Iterator
from typing import BinaryIO

from demosaic_ntc.errors import Truncated, Unsupported, damage_explained

#: Markers of frames, which state the size and the kind of colour.
FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}

_SCAN = 0xDA
_BARE = {0x01, *range(0xD0, 0xD8)}

# Before the pixels of any picture: 64 KiB of metadata each fill gigabytes.
_MOST_MARKERS = 1 << 16

# Encoders make about ten passes; each costs as much time as all pixels, however few bytes it has.
_MOST_SCANS = 100


def read_segments(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Markers with their data, up to the first scan."""
    file.seek(2)
    for _ in range(_MOST_MARKERS):
        code = _marker(file)
        if code == _SCAN:
            return
        if code not in _BARE:
            length = file.read(2)
            if len(length) < 2:
                raise _cut_in_header()
            yield code, file.read(max(int.from_bytes(length, "big") - 2, 0))
    raise Truncated(f"truncated or damaged JPEG (more than {_MOST_MARKERS} markers); copy it again")


def check_scans(content: bytes) -> None:
    """Refuse a JPEG that is coded in so many passes that only its decoder's time can be meant."""
    scans = content.count(bytes((0xFF, _SCAN)))
    if scans > _MOST_SCANS:
        raise Unsupported(f"is a JPEG of {scans} passes; save it anew by another program")


def _marker(file: BinaryIO) -> int:
    """The next marker; bytes that fill up may stand before it."""
    if file.read(1) != b"\xff":
        raise Truncated("truncated or damaged JPEG (no marker where one must be); copy it again")
    for _ in range(_MOST_MARKERS):
        code = file.read(1)
        if code != b"\xff":
            break
    if code in (b"", b"\xff"):
        raise _cut_in_header()
    return code[0]


def _cut_in_header() -> Truncated:
    return Truncated("truncated or damaged JPEG (it ends in its header); copy it again")


def jpeg_size(file: BinaryIO) -> tuple[int, int]:
    """The width and height of a JPEG, from its header alone."""
    with damage_explained("JPEG"):
        frame = next((data for marker, data in read_segments(file) if marker in FRAMES), b"")
        height, width = struct.unpack(">HH", frame[1:5])
    return width, height
