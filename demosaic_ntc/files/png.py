"""PNG files of 8 or 16 bits per channel, written row by row with colour profile and EXIF.

Format as in the PNG specification (W3C, third edition). Photographs at 16 bits hardly repeat themselves:
the difference to the left neighbour with Huffman coding alone is as small as a full search for matches,
several times faster.
"""

import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from demosaic_ntc.files.render import Pixels, ReportRows

_BAND = 64
_SUB = 1  # the filter that stores differences to the pixel on the left
_RGB = 2


def write_png(file: BinaryIO, pixels: Pixels, profile: bytes, exif: bytes | None, report: ReportRows) -> None:
    """Write an RGB picture."""
    height, width = pixels.shape[:2]
    header = struct.pack(">LLBBBBB", width, height, 8 * pixels.itemsize, _RGB, 0, 0, 0)
    file.write(b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header))
    file.write(_chunk(b"iCCP", b"ICC profile\0\0" + zlib.compress(profile)))
    if exif is not None:
        file.write(_chunk(b"eXIf", exif))
    for data in _compressed(pixels, report):
        file.write(_chunk(b"IDAT", data))
    file.write(_chunk(b"IEND", b""))


def _compressed(pixels: Pixels, report: ReportRows) -> Iterator[bytes]:
    """The picture as one compressed stream, in pieces."""
    packer = zlib.compressobj(1, zlib.DEFLATED, 15, 9, zlib.Z_HUFFMAN_ONLY)
    for top in range(0, len(pixels), _BAND):
        data = packer.compress(_filtered(pixels[top : top + _BAND]))
        if data:
            yield data
        report(min(top + _BAND, len(pixels)), len(pixels))
    yield packer.flush()


def _filtered(band: Pixels) -> bytes:
    """Rows of big-endian bytes, each less the byte of the pixel on its left, behind the filter's number."""
    stored = np.ascontiguousarray(band, dtype=band.dtype.newbyteorder(">"))
    rows = stored.reshape(len(band), -1).view(np.uint8)
    step = 3 * band.itemsize
    filtered = np.empty((len(band), rows.shape[1] + 1), dtype=np.uint8)
    filtered[:, 0] = _SUB
    filtered[:, 1 : step + 1] = rows[:, :step]
    np.subtract(rows[:, step:], rows[:, :-step], out=filtered[:, step + 1 :])
    return filtered.tobytes()


def _chunk(name: bytes, data: bytes) -> bytes:
    """A chunk with its length and check sum."""
    return struct.pack(">L", len(data)) + name + data + struct.pack(">L", zlib.crc32(data, zlib.crc32(name)))
