"""TIFF files of any depth, written strip by strip with colour profile and EXIF.

Baseline TIFF 6.0 with horizontal differencing (section 14) and deflate (Adobe's supplement); all tags are
known before the first strip except its place and length, so the directories come last.
"""

import struct
import zlib
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np

from demosaic_ntc.errors import OutputError
from demosaic_ntc.io.exif import Exif, Fields, directory_block
from demosaic_ntc.io.pixels import ImageLike, ReportRows, pack_bits
from demosaic_ntc.io.tiff_tags import LONG, RATIONAL, SHORT, UNDEFINED, Field, write_directory
from demosaic_ntc.run import imap_threads

WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, PALETTE = 0, 1, 2, 3

_BAND = 64
_LARGEST = 2**32 - 2**26  # offsets have 32 bits; the rest is for what does not compress
_DEFLATE, _DIFFERENCES, _INCH, _DOTS_PER_INCH = 8, 2, 2, 300
_SAMPLE_FORMATS = {"u": 1, "b": 1, "i": 2, "f": 3}


@dataclass(frozen=True, slots=True)
class TiffForm:
    """What the channels are, and the tags that only this picture has."""

    photometric: int = RGB
    extra: tuple[int, ...] = ()  # the kinds of channels beyond the colours: 1 and 2 are alpha
    bits: int | None = None  # of packed levels; None for whole bytes
    fields: Fields = field(default_factory=dict)


def write_tiff(
    file: BinaryIO,
    pixels: ImageLike,
    profile: bytes | None,
    exif: Exif | None,
    report: ReportRows,
    form: TiffForm | None = None,
    threads: int = 1,
) -> None:
    """Write a picture, read and packed in all threads; RGB unless its form says otherwise."""
    form, tops = form or TiffForm(), range(0, len(pixels), _BAND)
    if pixels.nbytes > _LARGEST:
        raise OutputError("TIFF ends at 4 GiB, which this picture may exceed; write a PNG")
    file.write(b"II*\0" + bytes(4))
    places, lengths = [], []
    packed = imap_threads(lambda top: _pack_strip(pixels[top : top + _BAND], form), tops, threads)
    for top, data in zip(tops, packed, strict=True):
        places.append(file.tell())
        lengths.append(len(data))
        file.write(data + b"\0" * (len(data) % 2))
        report(min(top + _BAND, len(pixels)), len(pixels))
    _write_tags(file, {**_tags(pixels, profile, form), 273: _longs(places), 279: _longs(lengths)}, exif)


def _write_tags(file: BinaryIO, tags: Fields, exif: Exif | None) -> None:
    """Write the directories at the end, and their place at the start."""
    start = file.tell()
    if not exif:
        file.write(write_directory(tags, start))
    else:
        file.write(directory_block(exif, {**exif.image, **tags}, start))
    file.seek(4)
    file.write(struct.pack("<L", start))


def _pack_strip(part: ImageLike, form: TiffForm) -> bytes:
    """A compressed strip: differences between neighbouring pixels, floats and packed levels as they are."""
    stored = band = np.ascontiguousarray(part)
    if form.bits is not None:
        stored = pack_bits(stored, form.bits)
    elif _has_differences(band, form):
        stored = stored.copy()
        np.subtract(band[:, 1:], band[:, :-1], out=stored[:, 1:])
    packer = zlib.compressobj(1, zlib.DEFLATED, 15, 9, zlib.Z_HUFFMAN_ONLY)
    little_endian = stored.astype(stored.dtype.newbyteorder("<"), copy=False)
    return packer.compress(little_endian.tobytes()) + packer.flush()


def _has_differences(pixels: ImageLike, form: TiffForm) -> bool:
    """Whether strips hold differences: readers agree on them for integers of whole bytes only."""
    return form.bits is None and pixels.dtype.kind != "f"


def _tags(pixels: ImageLike, profile: bytes | None, form: TiffForm) -> Fields:
    """The tags that describe the picture, without the places of its strips."""
    height, width = pixels.shape[:2]
    channels = 1 if pixels.ndim == 2 else pixels.shape[2]
    return {
        254: Field(LONG, (0,)),
        256: Field(LONG, (width,)),
        257: Field(LONG, (height,)),
        258: Field(SHORT, (form.bits or 8 * pixels.itemsize,) * channels),
        259: Field(SHORT, (_DEFLATE,)),
        262: Field(SHORT, (form.photometric,)),
        277: Field(SHORT, (channels,)),
        278: Field(LONG, (_BAND,)),
        282: Field(RATIONAL, (_DOTS_PER_INCH,)),
        283: Field(RATIONAL, (_DOTS_PER_INCH,)),
        284: Field(SHORT, (1,)),
        296: Field(SHORT, (_INCH,)),
        **({317: Field(SHORT, (_DIFFERENCES,))} if _has_differences(pixels, form) else {}),
        **({338: Field(SHORT, form.extra)} if form.extra else {}),
        339: Field(SHORT, (_SAMPLE_FORMATS[pixels.dtype.kind],) * channels),
        **({34675: Field(UNDEFINED, profile)} if profile else {}),
        **form.fields,
    }


def _longs(values: list[int]) -> Field:
    """Places or lengths."""
    return Field(LONG, tuple(values))
