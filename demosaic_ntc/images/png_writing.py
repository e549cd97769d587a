"""PNG files of any depth, written row by row with the chunks that describe them.

Format as in the PNG specification (W3C, third edition). Photographs at 16 bits hardly repeat themselves:
the difference to the left neighbour with Huffman coding alone is as small as a full search for matches,
several times faster.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.io.pixels import ImageLike, ReportRows, pack_bits
from demosaic_ntc.run import imap_threads

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY, RGB, PALETTE, GREY_ALPHA, RGB_ALPHA = 0, 2, 3, 4, 6

_BAND = 64
_XMP_TEXT = b"XML:com.adobe.xmp" + bytes(5)  # not compressed, no language, no name in one
_ZLIB_HEADER = b"\x78\x01"  # deflate, windows of 32 KiB, fastest
_ADLER = 65521
_SUB = 1  # the filter that stores differences to the pixel on the left
_CHANNELS = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGB_ALPHA: 4}


@dataclass(frozen=True, slots=True)
class PngForm:
    """The depth of a channel and the kind of colours, in PNG's numbers."""

    bits: int
    colour: int

    @classmethod
    def of(cls, pixels: ImageLike) -> "PngForm":
        """The form that holds whole bytes of grey or RGB, with or without alpha."""
        channels = 1 if pixels.ndim == 2 else pixels.shape[2]
        return cls(8 * pixels.itemsize, {1: GREY, 2: GREY_ALPHA, 3: RGB, 4: RGB_ALPHA}[channels])


@dataclass(frozen=True, slots=True)
class PngChunks:
    """Whole chunks that stand before and behind the picture's own."""

    before: bytes = b""
    behind: bytes = b""


def write_png(
    file: BinaryIO, pixels: ImageLike, profile: bytes | None, exif: bytes | None, report: ReportRows
) -> None:
    """Write a picture with its profile and metadata."""
    write_png_as(file, pixels, PngForm.of(pixels), make_chunks(profile, exif), report)


def make_chunks(profile: bytes | None, exif: bytes | None, xmp: bytes | None = None) -> PngChunks:
    """The chunks of a profile, a block of metadata and a packet of XMP."""
    before = chunk(b"iCCP", b"ICC profile\0\0" + zlib.compress(profile)) if profile else b""
    before += chunk(b"eXIf", exif) if exif else b""
    return PngChunks(before + (chunk(b"iTXt", _XMP_TEXT + xmp) if xmp else b""))


def write_png_as(
    file: BinaryIO, pixels: ImageLike, form: PngForm, kept: PngChunks, report: ReportRows, threads: int = 1
) -> None:
    """Write pixels in a form of PNG's, between the chunks that describe them."""
    height, width = pixels.shape[:2]
    header = struct.pack(">LLBBBBB", width, height, form.bits, form.colour, 0, 0, 0)
    file.write(SIGNATURE + chunk(b"IHDR", header) + kept.before)
    for data in _compress(pixels, form, report, threads):
        file.write(chunk(b"IDAT", data))
    file.write(kept.behind + chunk(b"IEND", b""))


def chunk(name: bytes, data: bytes) -> bytes:
    """A chunk with its length and check sum."""
    return struct.pack(">L", len(data)) + name + data + struct.pack(">L", zlib.crc32(data, zlib.crc32(name)))


def _compress(pixels: ImageLike, form: PngForm, report: ReportRows, threads: int) -> Iterator[bytes]:
    """The picture as one compressed stream (RFC 1950), in pieces: bands are read and packed in all threads.

    Each piece ends at a whole byte; the checksum of all comes from theirs.
    """
    height, checksum, before = pixels.shape[0], 1, _ZLIB_HEADER
    tops = range(0, height, _BAND)

    def pack(top: int) -> tuple[bytes, int, int]:
        rows = _filter_rows(np.asarray(pixels[top : top + _BAND]), form)
        packer = zlib.compressobj(1, zlib.DEFLATED, -15, 9, zlib.Z_HUFFMAN_ONLY)
        end = zlib.Z_FINISH if top + _BAND >= height else zlib.Z_SYNC_FLUSH
        return packer.compress(rows) + packer.flush(end), zlib.adler32(rows), len(rows)

    packed = imap_threads(pack, tops, threads)
    for top, (data, own, length) in zip(tops, packed, strict=True):
        checksum = combine_checksums(checksum, own, length)
        yield before + data + (struct.pack(">L", checksum) if top == tops[-1] else b"")
        before = b""
        report(min(top + _BAND, height), height)


def combine_checksums(first: int, second: int, length: int) -> int:
    """The Adler-32 of two pieces in a row from that of each and the length of the second."""
    low = (first & 0xFFFF) + (second & 0xFFFF) - 1
    high = (first >> 16) + (second >> 16) + length * ((first & 0xFFFF) - 1)
    return (high % _ADLER) << 16 | low % _ADLER


def _filter_rows(band: NDArray[Any], form: PngForm) -> bytes:
    """Rows of big-endian bytes or packed bits, each less the byte of the pixel on its left.

    Before each row stands the filter's number.
    """
    if form.bits < 8:
        rows = pack_bits(band, form.bits)
    else:
        stored = np.ascontiguousarray(band, dtype=band.dtype.newbyteorder(">"))
        rows = stored.reshape(len(band), -1).view(np.uint8)
    step = max(1, form.bits * _CHANNELS[form.colour] // 8)  # bytes from a pixel to the next
    filtered = np.empty((len(rows), rows.shape[1] + 1), dtype=np.uint8)
    filtered[:, 0] = _SUB
    filtered[:, 1 : step + 1] = rows[:, :step]
    np.subtract(rows[:, step:], rows[:, :-step], out=filtered[:, step + 1 :])
    return filtered.tobytes()
