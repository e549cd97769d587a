"""PNGs of every depth, kind of colour and order of rows are read to the bit."""

import io
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.errors import Truncated, Unsupported
from demosaic_ntc.images.picture import DecodedImage
from demosaic_ntc.images.png_reading import read_png
from demosaic_ntc.images.png_writing import (
    GREY,
    GREY_ALPHA,
    PALETTE,
    RGB,
    RGB_ALPHA,
    PngChunks,
    chunk,
)
from demosaic_ntc.io.header import read_header

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGB_ALPHA: 4}
DEPTHS = {
    GREY: (1, 2, 4, 8, 16),
    RGB: (8, 16),
    PALETTE: (1, 2, 4, 8),
    GREY_ALPHA: (8, 16),
    RGB_ALPHA: (8, 16),
}
MODES = [(colour, bits) for colour, depths in DEPTHS.items() for bits in depths]

# The seven passes of Adam7: first row and column, steps between rows and columns (specification, section 8).
ADAM7 = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))

TRANSPARENT = {GREY: b"\0\1", RGB: b"\0\1\0\2\0\3", PALETTE: bytes((0, 128))}

Samples = NDArray[np.uint16]


def samples(colour: int, bits: int) -> Samples:
    """Random samples, (13, 11, channels)."""
    generator = np.random.default_rng([colour, bits])
    return generator.integers(0, 2**bits, (13, 11, CHANNELS[colour])).astype(np.uint16)


def rows(part: Samples, bits: int) -> bytes:
    """Rows without a filter, samples packed from the highest bit on."""
    levels = part.reshape(len(part), -1)
    single = (levels[..., None] >> np.arange(bits - 1, -1, -1)) & 1
    packed = np.packbits(single.reshape(len(levels), -1).astype(np.uint8), axis=1)
    return b"".join(b"\0" + row.tobytes() for row in packed)


def png(pixels: Samples, colour: int, bits: int, *, interlaced: bool = False, chunks: bytes = b"") -> bytes:
    """A PNG made by hand."""
    height, width = pixels.shape[:2]
    parts = [pixels[y::down, x::across] for y, x, down, across in ADAM7] if interlaced else [pixels]
    data = zlib.compress(b"".join(rows(part, bits) for part in parts if part.size))
    header = struct.pack(">LLBBBBB", width, height, bits, colour, 0, 0, interlaced)
    halves = data[: len(data) // 2], data[len(data) // 2 :]
    blocks = b"".join(chunk(b"IDAT", half) for half in halves)
    return SIGNATURE + chunk(b"IHDR", header) + chunks + blocks + chunk(b"IEND", b"")


def palette(bits: int) -> NDArray[np.uint8]:
    """Random colours, (entries, 3)."""
    return np.random.default_rng(bits).integers(0, 256, (2**bits, 3)).astype(np.uint8)


def read(content: bytes) -> DecodedImage:
    return read_png(read_header(io.BytesIO(content)))


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize("transparent", [False, True])
@pytest.mark.parametrize(("colour", "bits"), MODES)
def test_every_mode_is_read_to_the_bit(colour: int, bits: int, transparent: bool, interlaced: bool) -> None:
    pixels, chunks = samples(colour, bits), b""
    if colour == PALETTE:
        chunks += chunk(b"PLTE", palette(bits).tobytes())
    if transparent and colour in TRANSPARENT:
        chunks += chunk(b"tRNS", TRANSPARENT[colour])
    picture = read(png(pixels, colour, bits, interlaced=interlaced, chunks=chunks))
    assert picture.colours.dtype == (np.uint16 if bits == 16 else np.uint8)
    check_numbers(picture, pixels[..., 0], colour, bits)
    check_colours(picture, pixels, colour, bits)
    check_alpha(picture, pixels, colour, transparent)
    assert picture.own == PngChunks(chunks)


def check_numbers(picture: DecodedImage, numbers: Samples, colour: int, bits: int) -> None:
    """Palettes and packed levels are kept as numbers, others are none."""
    if colour == PALETTE or bits < 8:
        assert picture.indexed is not None
        assert np.array_equal(picture.indexed.numbers, numbers)
        assert picture.indexed.palette.bits == bits
    else:
        assert picture.indexed is None


def check_colours(picture: DecodedImage, pixels: Samples, colour: int, bits: int) -> None:
    """Colours are the samples, those of the palette, or levels spread over a byte."""
    if colour == PALETTE:
        assert np.array_equal(picture.colours, palette(bits)[pixels[..., 0]])
    elif colour in (RGB, RGB_ALPHA):
        assert np.array_equal(picture.colours, pixels[..., :3])
    else:
        assert np.array_equal(picture.colours, pixels[..., 0] * (255 // (2**bits - 1) if bits < 8 else 1))


def check_alpha(picture: DecodedImage, pixels: Samples, colour: int, transparent: bool) -> None:
    """A channel of its own, that of a palette's entries, or none: one transparent colour stays a chunk."""
    if colour in (GREY_ALPHA, RGB_ALPHA):
        assert np.array_equal(picture.alpha, pixels[..., -1])  # type: ignore[arg-type]
    elif colour == PALETTE and transparent:
        entries = np.where(pixels[..., 0] == 0, 0, np.where(pixels[..., 0] == 1, 128, 255))
        assert np.array_equal(picture.alpha, entries)  # type: ignore[arg-type]
    else:
        assert picture.alpha is None


def described(colour: int, bits: int) -> bytes:
    """The palette, where there has to be one."""
    return chunk(b"PLTE", palette(bits).tobytes()) if colour == PALETTE else b""


@pytest.mark.parametrize(("colour", "bits"), MODES)
def test_missing_rows_are_refused(colour: int, bits: int) -> None:
    pixels = samples(colour, bits)
    short = png(pixels[:5], colour, bits, chunks=described(colour, bits))
    header = struct.pack(">LLBBBBB", pixels.shape[1], len(pixels), bits, colour, 0, 0, 0)
    with pytest.raises(Truncated, match="truncated or damaged PNG"):
        read(SIGNATURE + chunk(b"IHDR", header) + short[33:])


@pytest.mark.parametrize(("colour", "bits"), MODES)
def test_pixels_whose_sum_is_wrong_are_refused(colour: int, bits: int) -> None:
    pixels = samples(colour, bits)
    data = bytearray(zlib.compress(rows(pixels, bits)))
    data[-1] ^= 1  # of the stream's own sum
    header = struct.pack(">LLBBBBB", pixels.shape[1], len(pixels), bits, colour, 0, 0, 0)
    blocks = described(colour, bits) + chunk(b"IDAT", bytes(data)) + chunk(b"IEND", b"")
    with pytest.raises(Truncated, match="truncated or damaged PNG"):
        read(SIGNATURE + chunk(b"IHDR", header) + blocks)


def test_a_side_beyond_the_decoder_is_refused_by_name() -> None:
    header = struct.pack(">LLBBBBB", 1_000_001, 1, 8, GREY, 0, 0, 0)
    with pytest.raises(Unsupported, match="at most 1000000 a side"):
        read(SIGNATURE + chunk(b"IHDR", header) + chunk(b"IEND", b""))


def test_decoders_say_nothing_on_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(png(samples(RGB, 16), RGB, 16, interlaced=True))
    code = f"""
from pathlib import Path
from demosaic_ntc.images.reading import read_picture
from demosaic_ntc.io.header import InputLimits
print(read_picture(Path({str(path)!r}), InputLimits()).depth)
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (told.stdout, told.stderr) == ("16-bit\n", "")
