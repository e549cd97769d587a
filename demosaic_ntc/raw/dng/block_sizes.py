"""How large the pictures in the strips and tiles of a TIFF call themselves, read before they are decoded.

A decoder makes room for what the header of a block says, whatever the tags around it announce.
"""

import io
import struct

from demosaic_ntc.errors import Truncated
from demosaic_ntc.io.jpeg_segments import jpeg_size

_JPEGS, _JPEG_XL = (7, 34892), 52546
_BARE, _CONTAINER = b"\xff\x0a", b"\0\0\0\x0cJXL \r\n\x87\n"
_WHOLE, _PART = b"jxlc", b"jxlp"  # boxes of a code stream, and of a part of it behind its number

# JPEG XL, ISO 18181-1, size header: bits of a side by its code of two bits, and widths by heights.
_SIDE_BITS = (9, 13, 18, 30)
_RATIOS = {1: (1, 1), 2: (12, 10), 3: (4, 3), 4: (3, 2), 5: (16, 9), 6: (5, 4), 7: (2, 1)}


def size_in(block: bytes, compression: int) -> tuple[int, int] | None:
    """Width and height that the header of a JPEG or JPEG XL states; None of other compressions."""
    if compression in _JPEGS:
        return jpeg_size(io.BytesIO(block))
    return _jpeg_xl_size(block) if compression == _JPEG_XL else None


def _jpeg_xl_size(block: bytes) -> tuple[int, int]:
    """Width and height in the header of a JPEG XL."""
    stream = _code_stream(block)
    if not stream.startswith(_BARE) or len(stream) < len(_BARE) + 1:
        raise Truncated("truncated or damaged JPEG XL header; copy it again from its source")
    bits = _Bits(stream[len(_BARE) : len(_BARE) + 16])
    is_small = bits.take(1)
    height = 8 * (bits.take(5) + 1) if is_small else 1 + bits.take(_SIDE_BITS[bits.take(2)])
    ratio = bits.take(3)
    if ratio:
        across, down = _RATIOS[ratio]
        return height * across // down, height
    return 8 * (bits.take(5) + 1) if is_small else 1 + bits.take(_SIDE_BITS[bits.take(2)]), height


def _code_stream(block: bytes) -> bytes:
    """The bytes from the code stream on, which may lie in a box of a container."""
    if not block.startswith(_CONTAINER):
        return block
    place = len(_CONTAINER)
    while place + 8 <= len(block):
        length, kind = struct.unpack_from(">L4s", block, place)
        if kind in (_WHOLE, _PART):
            return block[place + (8 if kind == _WHOLE else 12) :]
        place += length if length >= 8 else len(block)
    return b""


class _Bits:
    """Numbers read bit by bit, the lowest first."""

    def __init__(self, data: bytes) -> None:
        self._left = int.from_bytes(data, "little")

    def take(self, count: int) -> int:
        """Return the next number of so many bits."""
        number = self._left & ((1 << count) - 1)
        self._left >>= count
        return number
