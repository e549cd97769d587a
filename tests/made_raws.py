"""Raws in containers that are no TIFF, written with known samples and known EXIF.

Layouts by what LibRaw and ExifTool read: RAF has a fixed header, a JPEG whose EXIF is the photo's, records of
sizes, and a TIFF in front of the samples; MRW has named blocks; CRW (here without samples) heaps of records.
"""

import io
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.io.exif import Exif, exif_block
from demosaic_ntc.io.tiff_tags import ASCII, LONG, RATIONAL, SHORT, Field, write_directory

Samples = NDArray[np.uint16]

FUJI_BITS, FUJI_BLACK, MINOLTA_BITS = 14, 1024, 12


@dataclass(frozen=True)
class Made:
    """A raw and what it was made of."""

    content: bytes
    samples: Samples
    cfa: Cfa
    white: int  # as LibRaw knows it of the camera
    balance: tuple[float, ...]
    exif: Exif


# Names of raws that can be made, each with a camera that LibRaw knows, its colour array and its bits.
MADE = {
    "bayer.raf": ("FUJIFILM", "X-A1", "RGGB", FUJI_BITS),
    "xtrans.raf": ("FUJIFILM", "X-E1", "XTRANS", FUJI_BITS),
    "bayer.mrw": ("Minolta Co., Ltd.", "DiMAGE 7i", "RGGB", MINOLTA_BITS),
}


def made(name: str, shape: tuple[int, int] = (96, 120)) -> Made:
    """One of these raws, of samples of any value that its bits can hold."""
    make, model, array, bits = MADE[name]
    samples = np.random.default_rng(7).integers(0, 1 << bits, shape, dtype=np.uint16)
    cfa, exif = Cfa.from_name(array), taken_with(make, model)
    if name.endswith(".mrw"):
        return Made(mrw(samples, exif), samples, cfa, 3965, (512, 256, 384, 256), exif)
    return Made(raf(samples, cfa, exif), samples, cfa, 16383, (604, 302, 453, 302), exif)


def taken_with(make: str, model: str) -> Exif:
    """The EXIF of a photo by a camera."""
    photo = {
        33434: Field(RATIONAL, (Fraction(1, 320),)),
        33437: Field(RATIONAL, (Fraction(56, 10),)),
        34855: Field(SHORT, (400,)),
        36867: Field(ASCII, b"2012:05:06 07:08:09\0"),
        37386: Field(RATIONAL, (Fraction(35),)),
        42036: Field(ASCII, b"XF35mmF1.4 R\0"),
    }
    image = {271: Field(ASCII, make.encode() + b"\0"), 272: Field(ASCII, model.encode() + b"\0")}
    return Exif(image, photo)


def raf(samples: Samples, cfa: Cfa, exif: Exif) -> bytes:
    """A Fujifilm raw."""
    model = exif.image[272].values
    assert isinstance(model, bytes)
    preview, sizes = _preview(exif), _fuji_sizes(samples.shape, cfa)
    starts = np.cumsum([160, len(preview), len(sizes)]).tolist()
    data = _fuji_data(samples, cfa)
    header = b"FUJIFILMCCD-RAW 0201FF129502" + model.ljust(32, b"\0") + b"0100" + bytes(20)
    for start, part in zip(starts, (preview, sizes, data), strict=True):
        header += struct.pack(">LL", start, len(part))
    return header.ljust(160, b"\0") + preview + sizes + data


def _preview(exif: Exif) -> bytes:
    """A JPEG whose EXIF comes first."""
    jpeg = io.BytesIO()
    Image.new("RGB", (64, 48), (120, 130, 140)).save(jpeg, "JPEG")
    block = b"Exif\0\0" + exif_block(exif)
    return b"\xff\xd8\xff\xe1" + struct.pack(">H", 2 + len(block)) + block + jpeg.getvalue()[2:]


def _fuji_sizes(shape: tuple[int, ...], cfa: Cfa) -> bytes:
    """The records of sizes: of all samples, of the visible ones; the colour array is written backwards."""
    size = struct.pack(">HH", *shape)
    records = {0x0100: size, 0x0121: size, 0x0130: bytes((0, 8, 0, 0))}
    if not cfa.is_bayer:
        records[0x0131] = bytes(int(colour) for colour in cfa.pattern.ravel()[::-1])
    packed = (struct.pack(">HH", tag, len(value)) + value for tag, value in records.items())
    return struct.pack(">L", len(records)) + b"".join(packed)


def _fuji_data(samples: Samples, cfa: Cfa) -> bytes:
    """The samples behind the TIFF that tells of them."""
    start = 2048
    height, width = samples.shape
    own = {
        0xF001: Field(LONG, (width,)),
        0xF002: Field(LONG, (height,)),
        0xF003: Field(LONG, (FUJI_BITS,)),
        0xF007: Field(LONG, (start,)),
        0xF008: Field(LONG, (samples.nbytes,)),
        0xF00A: Field(LONG, (FUJI_BLACK,) * cfa.pattern.size),
        0xF00E: Field(LONG, (302, 604, 453)),  # green, red, blue
    }
    head = b"II*\0\x08\0\0\0" + write_directory({0xF000: Field(LONG, (26,))}, 8)
    return (head + write_directory(own, 26)).ljust(start, b"\0") + samples.astype("<u2").tobytes()


def mrw(samples: Samples, exif: Exif) -> bytes:
    """A Minolta raw, RGGB."""
    height, width = samples.shape
    sizes = struct.pack(">8s4HBBB4xB", b"27730001", height, width, height, width, 16, MINOLTA_BITS, 0x52, 1)
    balance = bytes(4) + struct.pack(">4H", 512, 256, 256, 384)  # red, green, green, blue
    blocks = {b"\0PRD": sizes, b"\0WBG": balance, b"\0TTW": exif_block(exif)}
    packed = b"".join(name + struct.pack(">L", len(value)) + value for name, value in blocks.items())
    return b"\0MRM" + struct.pack(">L", len(packed)) + packed + samples.astype(">u2").tobytes()


def crw(records: Mapping[int, bytes], deeper: bytes = b"") -> bytes:
    """A Canon raw of the first generation without samples: records in a heap within the heap."""
    inner = heap({**records, 0x300B: deeper} if deeper else records)
    return b"II" + struct.pack("<L", 26) + b"HEAPCCDR" + bytes(12) + heap({0x300A: inner})


def heap(records: Mapping[int, bytes]) -> bytes:
    """A heap: values, their directory, and where that is; values of eight bytes may lie in the directory."""
    values, directory = b"", struct.pack("<H", len(records))
    for tag, value in records.items():
        if tag & 0x4000:
            directory += struct.pack("<H8s", tag, value)
        else:
            directory += struct.pack("<HLL", tag, len(value), len(values))
            values += value
    return values + directory + struct.pack("<L", len(values))


def shorts(length: int, at: Mapping[int, int]) -> bytes:
    """A record of 16-bit numbers, some of them given, the first of which tells how long it is."""
    numbers: list[Any] = [2 * length] + [at.get(place, 0) for place in range(1, length)]
    return struct.pack(f"<{length}h", *numbers)
