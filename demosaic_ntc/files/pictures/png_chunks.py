"""The chunks of a PNG, walked through once, and the bare picture among them for a decoder.

A decoder is shown the header, the palette and the pixels as one block. It never sees texts and profiles,
which it may refuse for their size, nor how many pieces the pixels lie in, each of which costs it time.
"""

import io
import os
import struct
import zlib
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import BinaryIO

from demosaic_ntc.errors import Truncated
from demosaic_ntc.files.pictures.png_writing import SIGNATURE, chunk

Chunks = list[tuple[bytes, bytes]]
Span = tuple[int, int]  # place in the file, length

# A file of two gigabytes has as many, of the size that most writers give them.
_MOST_CHUNKS = 1 << 18

_HEADER = 13


@dataclass(frozen=True, slots=True)
class PngContent:
    """What a PNG is made of."""

    header: bytes  # of 13 bytes
    before: Chunks = field(default_factory=list)
    behind: Chunks = field(default_factory=list)
    pixels: list[Span] = field(default_factory=list)


def content_of(file: BinaryIO) -> PngContent:
    """All chunks of a PNG, checked by their sums; of the pixels, where they lie."""
    size, place = file.seek(0, os.SEEK_END), len(SIGNATURE)
    content = PngContent(_data(file, place, _HEADER, b"IHDR"))
    place += 12 + _HEADER
    for _ in range(_MOST_CHUNKS):
        file.seek(place)
        head = file.read(8)
        if len(head) < 8 or head[4:] == b"IEND":
            return content
        length, name = struct.unpack(">L4s", head)
        if place + 12 + length > size:
            raise _broken("it ends within a chunk")
        if name == b"IDAT":
            content.pixels.append((place + 8, length))
        else:
            found = content.behind if content.pixels else content.before
            found.append((name, _data(file, place, length, name)))
        place += 12 + length
    raise _broken(f"more than {_MOST_CHUNKS} chunks")


def bare_picture(file: BinaryIO, content: PngContent, header: bytes | None = None) -> BinaryIO:
    """The picture alone, as a PNG with one block of pixels; with another header if one is given."""
    palette = b"".join(chunk(name, data) for name, data in content.before if name == b"PLTE")
    length = sum(length for _, length in content.pixels)
    start = (
        SIGNATURE + chunk(b"IHDR", header or content.header) + palette + struct.pack(">L4s", length, b"IDAT")
    )
    # The sum over the pixels is not known; decoders do not look at it, the stream has its own.
    end = bytes(4) + chunk(b"IEND", b"")
    return io.BufferedReader(_Joined(file, [start, *content.pixels, end]), 1 << 16)


def _data(file: BinaryIO, place: int, length: int, name: bytes) -> bytes:
    """The data of a chunk whose sum is right."""
    file.seek(place)
    head, data, check = file.read(8), file.read(length), file.read(4)
    if head[4:] != name or len(check) < 4:
        raise _broken(f"no {name.decode('ascii', 'replace')} where it must be")
    if struct.unpack(">L", check)[0] != zlib.crc32(data, zlib.crc32(name)):
        raise _broken(f"the sum of {name.decode('ascii', 'replace')} is wrong")
    return data


def _broken(reason: str) -> Truncated:
    """The error for a PNG that is not whole."""
    return Truncated(f"truncated or damaged PNG ({reason}); copy it again from its source")


class _Joined(io.RawIOBase):
    """Bytes and spans of a file, read as one file."""

    def __init__(self, file: BinaryIO, parts: list[bytes | Span]) -> None:
        self._file, self._parts = file, parts
        self._starts = [0]
        for part in parts:
            self._starts.append(self._starts[-1] + (len(part) if isinstance(part, bytes) else part[1]))
        self._place = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """Where reading goes on."""
        return self._place

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go on elsewhere."""
        bases = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._starts[-1]}
        self._place = max(bases[whence] + offset, 0)
        return self._place

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        """Read up to the end of a part."""
        if self._place >= self._starts[-1]:
            return 0
        number = bisect_right(self._starts, self._place) - 1
        part, skipped = self._parts[number], self._place - self._starts[number]
        wanted = min(len(buffer), self._starts[number + 1] - self._place)
        if isinstance(part, bytes):
            data = part[skipped : skipped + wanted]
        else:
            self._file.seek(part[0] + skipped)
            data = self._file.read(wanted)
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)
