"""Linear DNGs: three samples at every pixel, or one of a sensor without colours.

LibRaw reads some of them, rounds floating-point samples to 14 bits and knows no JPEG XL; so they are decoded
here. Samples are taken through the file's linearisation table and, in lossy DNGs, through the curves that its
opcodes state. Tags as in the DNG specification 1.4, JPEG XL as in 1.7.
"""

import io
import struct
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.errors import NotAnImage, TooLarge, Truncated, Unsupported, damage_explained
from demosaic_ntc.io.header import LINEAR_RAW
from demosaic_ntc.io.jpeg_segments import jpeg_size
from demosaic_ntc.io.tiff_tags import Directory, number, numbers
from demosaic_ntc.raw.checks import check_black_pattern
from demosaic_ntc.raw.opcodes.lists import StatedOpcodes, read_stated
from demosaic_ntc.raw.opcodes.pixel_opcodes import Curve, MapPolynomial, MapTable
from demosaic_ntc.raw.photo import Box, Mosaic

_WIDTH, _HEIGHT, _BITS, _SAMPLES, _FORMAT = 256, 257, 258, 277, 339
_LINEARISATION, _BLACK_DIMENSIONS, _BLACK, _WHITE, _ACTIVE_AREA = 50712, 50713, 50714, 50717, 50829
_CROP_ORIGIN, _CROP_SIZE, _ROW_INTERLEAVE, _COLUMN_INTERLEAVE = 50719, 50720, 50975, 52547
_UNSIGNED, _FLOATING_POINT = 1, 3
_CURVES = {MapTable.name, MapPolynomial.name}  # without them samples mean nothing

# None, LZW, JPEG, deflate (two numbers), lossy JPEG, JPEG XL.
_COMPRESSIONS = {1, 5, 7, 8, 32946, 34892, 52546}

_FULL = 65535  # white of samples that are scaled
_USUAL_TILE = 1024  # a side up to which tiles may be larger than twice the picture


_JPEGS, _JPEG_XL = (7, 34892), 52546
_BARE, _CONTAINER = b"\xff\x0a", b"\0\0\0\x0cJXL \r\n\x87\n"
_WHOLE, _PART = b"jxlc", b"jxlp"  # boxes of a code stream, and of a part of it behind its number

# JPEG XL, ISO 18181-1, size header: bits of a side by its code of two bits, and widths by heights.
_SIDE_BITS = (9, 13, 18, 30)
_RATIOS = {1: (1, 1), 2: (12, 10), 3: (4, 3), 4: (3, 2), 5: (16, 9), 6: (5, 4), 7: (2, 1)}


@dataclass(frozen=True, slots=True)
class LinearSamples:
    """The visible samples of a linear DNG and their levels."""

    samples: Mosaic  # (height, width, 3), or (height, width) of a sensor without colours
    black: NDArray[np.float64]  # one period: (1, 1, 3) or (1, 1)
    white: float
    opcodes: StatedOpcodes = field(default_factory=StatedOpcodes)  # what is still to be done to them


def check_linear(tags: Directory) -> None:
    """Refuse, before anything is decoded, samples of a kind that is not read."""
    count, kind = number(tags, _SAMPLES, 1), number(tags, _FORMAT, _UNSIGNED)
    if count not in (1, 3):
        raise Unsupported(f"is a linear DNG of {count} samples per pixel; those of 1 and 3 are read")
    if kind not in (_UNSIGNED, _FLOATING_POINT) or number(tags, _BITS, 1) > 32:
        raise Unsupported("is a linear DNG of an unknown kind of samples; convert it to one of 16 bits")
    if max(number(tags, _ROW_INTERLEAVE, 1), number(tags, _COLUMN_INTERLEAVE, 1)) > 1:
        raise Unsupported("is a linear DNG with interleaved rows; convert it to one without")
    if number(tags, 259, 1) not in _COMPRESSIONS:
        raise Unsupported(
            f"is a linear DNG of an unknown compression ({number(tags, 259, 1)}); convert it to another"
        )


def read_linear(file: BinaryIO, tags: Directory) -> LinearSamples:
    """Decode the samples of a linear DNG whose directory has these tags, which were checked."""
    stored = _decode(file, tags)
    table = numbers(tags, _LINEARISATION)
    if table and stored.dtype.kind == "u":
        values = np.array([int(value) for value in table], np.uint16)
        stored = np.take(values, stored, mode="clip")
    top, left, bottom, right = _active_area(tags, stored.shape[:2])
    height, width, planes = stored.shape
    opcodes = read_stated(tags, (height, width), (top, left), (bottom - top, right - left), planes)
    if not opcodes.linear.is_whole or _CURVES & set(opcodes.linear.left_out):
        raise Truncated("truncated or damaged opcode list; copy it again from its source")
    return _attach_levels(stored[top:bottom, left:right], tags, opcodes)


def camera_crop(tags: Directory, size: tuple[int, int]) -> Box | None:
    """The part of the visible area that is to be shown; None where the file says nothing usable."""
    left, top = (int(value) for value in numbers(tags, _CROP_ORIGIN)[:2] or (0, 0))
    sides = tuple(int(value) for value in numbers(tags, _CROP_SIZE))
    if len(sides) != 2 or min(sides) <= 0 or min(left, top) < 0 or left >= size[1] or top >= size[0]:
        return None
    return Box(top, left, min(sides[1], size[0] - top), min(sides[0], size[1] - left))


def _decode(file: BinaryIO, tags: Directory) -> NDArray[Any]:
    """All samples as they are stored, (height, width, count)."""
    import tifffile  # noqa: PLC0415 (other raws do without)

    from demosaic_ntc.images.tiff_reading import check_blocks  # noqa: PLC0415 (likewise)

    file.seek(0)
    with damage_explained("DNG"), tifffile.TiffFile(file) as tiff:
        page = _page(tiff, tags)
        check_blocks(page, file)
        _check_sizes(page, file)
        stored = np.asarray(page.asarray())
        pixels = np.moveaxis(stored, 0, 2) if page.axes == "SYX" else np.atleast_3d(stored)
    wanted = (number(tags, _HEIGHT), number(tags, _WIDTH), number(tags, _SAMPLES, 1))
    if pixels.shape != wanted:
        raise Truncated("truncated or damaged DNG (its tiles have another size); copy it again")
    return pixels.astype(pixels.dtype.newbyteorder("="), copy=False)


def _page(tiff: Any, tags: Directory) -> Any:
    """The page that the tags belong to, among all pages and those below them."""
    size = (number(tags, _HEIGHT), number(tags, _WIDTH))
    for page in tiff.pages:
        for each in (page, *(page.pages or ())):
            is_linear = each.photometric is not None and int(each.photometric) == LINEAR_RAW
            if is_linear and (each.imagelength, each.imagewidth) == size:
                return each
    raise NotAnImage("has no linear picture where its tags say so; the file is damaged")


def _check_sizes(page: Any, file: BinaryIO) -> None:
    """Refuse strips and tiles that call themselves larger than they are: decoders would make room."""
    height, width = page.imagelength, page.imagewidth
    tall, wide = (page.tilelength, page.tilewidth) if page.is_tiled else (page.rowsperstrip, width)
    if page.is_tiled and (tall > max(2 * height, _USUAL_TILE) or wide > max(2 * width, _USUAL_TILE)):
        raise NotAnImage(f"has tiles of {wide}×{tall} in a picture of {width}×{height}; the file is damaged")
    most = wide * min(tall, max(height, _USUAL_TILE))
    for place, length in zip(page.dataoffsets, page.databytecounts, strict=False):
        file.seek(place)
        size = size_in(file.read(length), int(page.compression))
        if size is not None and prod(size) > most:
            raise TooLarge(f"holds a tile that calls itself {size[0]}×{size[1]}; the file is damaged")


def _active_area(tags: Directory, size: tuple[int, ...]) -> tuple[int, int, int, int]:
    """Top, left, bottom and right of what is no masked border."""
    area = tuple(int(value) for value in numbers(tags, _ACTIVE_AREA))
    whole = (0, 0, size[0], size[1])
    if len(area) != 4:
        return whole
    top, left, bottom, right = area
    is_within = 0 <= top < bottom <= size[0] and 0 <= left < right <= size[1]
    if not is_within:
        raise NotAnImage("its active area lies outside of its picture; the file is damaged")
    return top, left, bottom, right


def _attach_levels(stored: NDArray[Any], tags: Directory, opcodes: StatedOpcodes) -> LinearSamples:
    """Samples with their levels: as stored where 16 bits and one level per plane say all, else scaled."""
    black, white = _levels(stored, tags)
    size = (stored.shape[0], stored.shape[1])
    curves = opcodes.linear.plane_curves(size)
    is_plain = stored.dtype in (np.uint8, np.uint16) and not curves
    if is_plain and black.shape[:2] == (1, 1) and np.ptp(white) == 0:
        return _describe_samples(stored.astype(np.uint16), black, float(white[0]), opcodes)
    scaled = np.empty(stored.shape, np.uint16)
    for plane in range(stored.shape[2]):
        apply = [each for each in curves if each.area.holds_plane(plane)]
        scaled[..., plane] = _scale_plane(stored[..., plane], black[..., plane], float(white[plane]), apply)
    left = replace(opcodes.without_curves(size), is_stored=False)
    return _describe_samples(scaled, np.zeros((1, 1, stored.shape[2])), float(_FULL), left)


def _describe_samples(
    samples: Mosaic, black: NDArray[np.float64], white: float, opcodes: StatedOpcodes
) -> LinearSamples:
    """Samples and levels; those of one plane have no axis of planes."""
    if samples.shape[2] > 1:
        return LinearSamples(np.ascontiguousarray(samples), black, white, opcodes)
    return LinearSamples(np.ascontiguousarray(samples[..., 0]), black[..., 0], white, opcodes)


def _levels(stored: NDArray[Any], tags: Directory) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """One period of black levels, (rows, columns, planes), and the white level of each plane."""
    planes = stored.shape[2]
    largest = 1.0 if stored.dtype.kind == "f" else float(2 ** number(tags, _BITS, 16) - 1)
    white = np.array([float(value) for value in numbers(tags, _WHITE)] or [largest])
    rows, columns = (int(value) for value in (*numbers(tags, _BLACK_DIMENSIONS), 1, 1)[:2])
    check_black_pattern(rows, columns)
    levels = np.array([float(value) for value in numbers(tags, _BLACK)] or [0.0])
    if levels.size == rows * columns * planes:
        black = levels.reshape(rows, columns, planes)
    else:
        black = np.full((1, 1, planes), levels[0])
    white = white if white.size == planes else np.full(planes, white[0])
    if (white <= black.max(axis=(0, 1))).any():
        raise NotAnImage("its white level is not above black; the file is damaged")
    return black, white


def _scale_plane(
    plane: NDArray[Any], black: NDArray[np.float64], white: float, curves: list[Curve]
) -> NDArray[np.uint16]:
    """A plane with black at zero and white at the largest number of 16 bits, by its curves."""
    scaled = np.empty(plane.shape, np.uint16)
    rows, columns = black.shape
    for y, x in np.ndindex(rows, columns):
        site, codes = plane[y::rows, x::columns], scaled[y::rows, x::columns]
        if plane.dtype in (np.uint8, np.uint16):
            table = _codes(np.arange(_FULL + 1), float(black[y, x]), white, curves)
            codes[...] = np.take(table, site)
        else:
            for row, values in zip(codes, site, strict=True):
                row[...] = _codes(values, float(black[y, x]), white, curves)
    return scaled


def _codes(values: NDArray[Any], black: float, white: float, curves: list[Curve]) -> NDArray[np.uint16]:
    """Values between two levels as codes of 16 bits, by some curves; what is no number is black."""
    with np.errstate(invalid="ignore"):
        light = np.clip(np.nan_to_num((values.astype(np.float64) - black) / (white - black)), 0, 1)
    for each in curves:
        light = np.asarray(each.curve(light))
    return np.asarray(np.rint(light * _FULL), np.uint16)


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
