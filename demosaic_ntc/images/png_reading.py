"""PNG pictures of every depth and kind of colour, with the chunks that describe them.

A decoder is shown the header and the pixels. It never sees texts and profiles, which it may refuse for their
size, nor a transparent colour, which it would make a channel of.
"""

import logging
import os
import struct
import zlib
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.errors import NotAnImage, Truncated, Unsupported, damage_explained
from demosaic_ntc.images.picture import (
    FULL,
    DecodedImage,
    Indexed,
    Palette,
    expanded,
    read_carried,
    strip_thumbnail,
)
from demosaic_ntc.images.png_writing import (
    GREY,
    GREY_ALPHA,
    PALETTE,
    RGB,
    RGB_ALPHA,
    SIGNATURE,
    PngChunks,
    PngForm,
    chunk,
)
from demosaic_ntc.io.header import FileHeader, FileKind, check_pixels

# What it logs about interlaced pictures and damage would reach the terminal; the error says enough.
logging.getLogger("imagecodecs").addHandler(logging.NullHandler())

# Chunks about colours and size that stay true; others are copied where their name allows it (section 5.4).
_STAY_TRUE = {b"PLTE", b"tRNS", b"iCCP", b"sRGB", b"gAMA", b"cHRM", b"cICP", b"sBIT", b"bKGD", b"pHYs"}
_ANIMATION = {b"acTL", b"fcTL", b"fdAT"}
_SAFE_TO_COPY = 0x20  # the bit of the name's last letter

Chunks = list[tuple[bytes, bytes]]
Span = tuple[int, int]  # place in the file, length

# A file of two gigabytes has as many, of the size that most writers give them.
_MOST_CHUNKS = 1 << 18

_HEADER, _COLOUR = 13, 9  # the length of the header, the place of the kind of colours in it

_WITH_ALPHA = (GREY_ALPHA, RGB_ALPHA)
_LARGEST_PROFILE = 1 << 26
_LARGEST_SIDE = 1_000_000  # of libpng's


@dataclass(frozen=True, slots=True)
class PngContent:
    """What a PNG is made of."""

    header: bytes  # of 13 bytes
    before: Chunks = field(default_factory=list)
    behind: Chunks = field(default_factory=list)
    pixels: list[Span] = field(default_factory=list)


def read_png(header: FileHeader) -> DecodedImage:
    """Read a PNG; animations and damaged files are refused."""
    form = _check_form(header)
    with damage_explained("PNG"):
        content = content_of(header.file)
        _check_is_still(content.before)
        return _describe_picture(form, _decode(header.file, form, content), content.before, content.behind)


def read_grey_png(file: BinaryIO) -> NDArray[Any]:
    """The pixels of a grey PNG of 8 or 16 bits without alpha."""
    with damage_explained("PNG"):
        return _samples(file, content_of(file))


def _check_form(header: FileHeader) -> PngForm:
    """Depth and colours from the header, after a look at the size."""
    if header.length < 33 or header.head[12:16] != b"IHDR":
        raise Truncated("truncated or damaged PNG header; copy it again from its source")
    width, height, bits, colour = struct.unpack(">LLBB", header.head[16:26])
    check_pixels(width, height, header.limits)
    if max(width, height) > _LARGEST_SIDE:
        raise Unsupported(
            f"is a PNG of {width}×{height} pixels, at most {_LARGEST_SIDE} a side are read; cut it"
        )
    if bits not in (1, 2, 4, 8, 16) or colour not in (GREY, RGB, PALETTE, *_WITH_ALPHA):
        raise NotAnImage(
            f"is a PNG of {bits} bits and colour type {colour}, which do not exist; save it anew"
        )
    return PngForm(bits, colour)


def _check_is_still(chunks: Chunks) -> None:
    """Refuse animations: only one of their frames would be repaired."""
    frames = next((int.from_bytes(data[:4], "big") for name, data in chunks if name == b"acTL"), 1)
    if frames > 1:
        raise Unsupported(f"is an animated PNG of {frames} frames; save the frame to be repaired by itself")


def _describe_picture(form: PngForm, pixels: NDArray[Any], before: Chunks, behind: Chunks) -> DecodedImage:
    """The pixels with what the chunks say."""
    found = dict(before + behind)
    block = strip_thumbnail(found[b"eXIf"]) if b"eXIf" in found else None
    exif, orientation = read_carried(block)
    indexed = _read_index(form, pixels, found)
    colours, alpha = (expanded(indexed), _alpha(indexed)) if indexed else _split(form, pixels)
    return DecodedImage(
        colours,
        alpha,
        indexed,
        FileKind.PNG,
        profile=_profile(found.get(b"iCCP")),
        exif=exif,
        carried=block,
        orientation=orientation,
        own=PngChunks(_filter_chunks(before, block), _filter_chunks(behind, block)),
    )


def _filter_chunks(chunks: Chunks, block: bytes | None) -> bytes:
    """The chunks that are still true of a repaired picture."""
    kept = [(name, data) for name, data in chunks if name in _STAY_TRUE or _may_be_copied(name)]
    return b"".join(chunk(name, block if name == b"eXIf" and block else data) for name, data in kept)


def _may_be_copied(name: bytes) -> bool:
    """Whether a chunk does not depend on the pixels, as its name tells."""
    return bool(name[3] & _SAFE_TO_COPY) and name not in _ANIMATION


def _profile(data: bytes | None) -> bytes | None:
    """The profile in an iCCP chunk: a name, a zero, the method, and compressed bytes."""
    if data is None:
        return None
    try:
        return zlib.decompressobj().decompress(data.partition(b"\0")[2][1:], _LARGEST_PROFILE)
    except zlib.error:
        return None


def _read_index(form: PngForm, pixels: NDArray[Any], found: dict[bytes, bytes]) -> Indexed | None:
    """The numbers and what they stand for, where pixels are no colours."""
    if form.colour == GREY and form.bits < 8:
        return Indexed(pixels, Palette.of_grey(form.bits))
    if form.colour != PALETTE:
        return None
    colours = np.frombuffer(found.get(b"PLTE", b""), np.uint8)
    if colours.size == 0 or colours.size % 3:
        raise Truncated("is a palette PNG without a palette; save it anew")
    colours = colours.reshape(-1, 3)
    if pixels.max() >= len(colours):
        raise Truncated("uses colours beyond the end of its palette; save it anew")
    return Indexed(pixels, Palette(colours, _transparency(found.get(b"tRNS"), len(colours)), form.bits))


def _transparency(data: bytes | None, entries: int) -> NDArray[np.uint8] | None:
    """The alpha of each colour of a palette; those not named are opaque."""
    if data is None:
        return None
    alpha = np.full(entries, 255, np.uint8)
    stated = np.frombuffer(data, np.uint8)[:entries]
    alpha[: stated.size] = stated
    return alpha


def _alpha(indexed: Indexed) -> NDArray[np.uint8] | None:
    """The alpha that numbers stand for."""
    alpha = indexed.palette.alpha
    return None if alpha is None else alpha[indexed.numbers]


def _split(form: PngForm, pixels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Colours and alpha."""
    if form.colour not in _WITH_ALPHA:
        return pixels, None
    colours = pixels[..., 0] if form.colour == GREY_ALPHA else pixels[..., :3]
    return np.ascontiguousarray(colours), np.ascontiguousarray(pixels[..., -1])


def _decode(file: BinaryIO, form: PngForm, content: PngContent) -> NDArray[Any]:
    """All channels of all pixels; of packed grey and palettes, the numbers."""
    pixels = _samples(file, content)
    if form.bits < 8:  # spread over a byte
        return np.asarray(np.rint(pixels.astype(np.float32) * ((2**form.bits - 1) / FULL)), dtype=np.uint8)
    return pixels


def _samples(file: BinaryIO, content: PngContent) -> NDArray[Any]:
    """What is stored, in bytes or 16 bits; a stream of too few pixels, or whose sum is wrong, is refused."""
    import imagecodecs  # noqa: PLC0415 (other formats do without)

    return np.asarray(imagecodecs.png_decode(bare_picture(file, content)))


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
