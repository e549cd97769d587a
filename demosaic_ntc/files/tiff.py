"""TIFF files of 8 or 16 bits per channel, written strip by strip with colour profile and EXIF.

Baseline TIFF 6.0 with horizontal differencing (section 14) and deflate (Adobe's supplement); all tags are
known before the first strip except its place and length, so the directories come last.
"""

import struct
import zlib
from typing import BinaryIO

import numpy as np

from demosaic_ntc.errors import OutputError
from demosaic_ntc.files.metadata import Exif, Fields, directory_block
from demosaic_ntc.files.render import Pixels, ReportRows
from demosaic_ntc.files.tags import LONG, RATIONAL, SHORT, UNDEFINED, Field, write_directory

_BAND = 64
_LARGEST = 2**32 - 2**26  # offsets have 32 bits; the rest is for what does not compress
_DEFLATE, _RGB, _DIFFERENCES, _INCH, _DOTS_PER_INCH = 8, 2, 2, 2, 300


def write_tiff(file: BinaryIO, pixels: Pixels, profile: bytes, exif: Exif | None, report: ReportRows) -> None:
    """Write an RGB picture."""
    if pixels.nbytes > _LARGEST:
        raise OutputError("TIFF ends at 4 GiB, which this picture may exceed; write a PNG")
    file.write(b"II*\0" + bytes(4))
    places, lengths = [], []
    for top in range(0, len(pixels), _BAND):
        data = _packed(pixels[top : top + _BAND])
        places.append(file.tell())
        lengths.append(len(data))
        file.write(data + b"\0" * (len(data) % 2))
        report(min(top + _BAND, len(pixels)), len(pixels))
    start = file.tell()
    tags = _image_fields(pixels, profile, places, lengths)
    if exif is None:
        file.write(write_directory(tags, start))
    else:
        file.write(directory_block(exif, {**exif.image, **tags}, start))
    file.seek(4)
    file.write(struct.pack("<L", start))


def _packed(band: Pixels) -> bytes:
    """A compressed strip of differences between neighbouring pixels."""
    stored = np.ascontiguousarray(band)
    differences = stored.copy()
    np.subtract(stored[:, 1:], stored[:, :-1], out=differences[:, 1:])
    packer = zlib.compressobj(1, zlib.DEFLATED, 15, 9, zlib.Z_HUFFMAN_ONLY)
    little_endian = differences.astype(differences.dtype.newbyteorder("<"), copy=False)
    return packer.compress(little_endian.tobytes()) + packer.flush()


def _image_fields(pixels: Pixels, profile: bytes, places: list[int], lengths: list[int]) -> Fields:
    """The tags that describe the picture and its strips."""
    height, width = pixels.shape[:2]
    return {
        254: Field(LONG, (0,)),
        256: Field(LONG, (width,)),
        257: Field(LONG, (height,)),
        258: Field(SHORT, (8 * pixels.itemsize,) * 3),
        259: Field(SHORT, (_DEFLATE,)),
        262: Field(SHORT, (_RGB,)),
        273: Field(LONG, tuple(places)),
        277: Field(SHORT, (3,)),
        278: Field(LONG, (_BAND,)),
        279: Field(LONG, tuple(lengths)),
        282: Field(RATIONAL, (_DOTS_PER_INCH,)),
        283: Field(RATIONAL, (_DOTS_PER_INCH,)),
        284: Field(SHORT, (1,)),
        296: Field(SHORT, (_INCH,)),
        317: Field(SHORT, (_DIFFERENCES,)),
        34675: Field(UNDEFINED, profile),
    }
