"""The chunks of a PNG, walked through once, and the bare picture among them for a decoder.

A decoder is shown the header and the pixels. It never sees texts and profiles, which it may refuse for their
size, nor a transparent colour, which it would make a channel of.
"""

import os
import struct
import zlib
from dataclasses import dataclass, field
from typing import BinaryIO

from demosaic_ntc.errors import Truncated
from demosaic_ntc.images.png_writing import GREY, PALETTE, SIGNATURE, chunk

Chunks = list[tuple[bytes, bytes]]
Span = tuple[int, int]  # place in the file, length

# A file of two gigabytes has as many, of the size that most writers give them.
_MOST_CHUNKS = 1 << 18

_HEADER, _COLOUR = 13, 9  # the length of the header, the place of the kind of colours in it


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
            raise _make_truncated("it ends within a chunk")
        if name == b"IDAT":
            content.pixels.append((place + 8, length))
        else:
            found = content.behind if content.pixels else content.before
            found.append((name, _data(file, place, length, name)))
        place += 12 + length
    raise _make_truncated(f"more than {_MOST_CHUNKS} chunks")


def bare_picture(file: BinaryIO, content: PngContent) -> bytes:
    """The picture alone, as a PNG; the numbers of a palette pass for grey, or colours would come back."""
    header = bytearray(content.header)
    header[_COLOUR] = GREY if header[_COLOUR] == PALETTE else header[_COLOUR]
    # The sums over the pixels are made anew: their stream has its own.
    blocks = (chunk(b"IDAT", _span(file, *span)) for span in content.pixels)
    return b"".join([SIGNATURE, chunk(b"IHDR", bytes(header)), *blocks, chunk(b"IEND", b"")])


def _span(file: BinaryIO, place: int, length: int) -> bytes:
    """Bytes of a file."""
    file.seek(place)
    return file.read(length)


def _data(file: BinaryIO, place: int, length: int, name: bytes) -> bytes:
    """The data of a chunk whose sum is right."""
    file.seek(place)
    head, data, check = file.read(8), file.read(length), file.read(4)
    if head[4:] != name or len(check) < 4:
        raise _make_truncated(f"no {name.decode('ascii', 'replace')} where it must be")
    if struct.unpack(">L", check)[0] != zlib.crc32(data, zlib.crc32(name)):
        raise _make_truncated(f"the sum of {name.decode('ascii', 'replace')} is wrong")
    return data


def _make_truncated(reason: str) -> Truncated:
    """The error for a PNG that is not whole."""
    return Truncated(f"truncated or damaged PNG ({reason}); copy it again from its source")
