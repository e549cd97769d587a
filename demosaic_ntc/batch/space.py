"""How much room the results of a batch will take, about: enough to warn of a disk that is far too small."""

import struct
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from demosaic_ntc.errors import InputError, NotAnImage
from demosaic_ntc.files.pictures.jpeg import size_of
from demosaic_ntc.files.sniff import Kind, Limits, kind_of, main_directory, open_regular
from demosaic_ntc.files.tags import number

# Where no header tells the size: camera raws are compressed to about a byte and a half per sample.
_BYTES_PER_SAMPLE = 1.5

# Of the bytes of the pixels, what is left in a file; measured on photographs.
# A DNG has twice the bytes of its 8-bit preview beside it.
_LEFT = {
    ".png": 0.8,
    ".tif": 1.0,
    ".jpg": 0.35,
    ".webp": 0.3,
    ".avif": 0.35,
    ".jxl": 0.15,
    ".dng": 2.35,
}

# Headers are read of this many files, evenly spread; the others are judged by their length.
_GLANCES = 64

_WIDTH, _HEIGHT = 256, 257
_PNG_SIZE = 16  # where it stands in the header


@dataclass(frozen=True, slots=True)
class Expected:
    """What a batch will amount to, about."""

    source_bytes: int
    pixels: int
    largest_pixels: int

    def result_bytes(self, suffix: str, bits: int) -> int:
        """The room that all results take."""
        return round(self.pixels * 3 * bits / 8 * _LEFT[suffix])


def expect(sources: Sequence[Path]) -> Expected:
    """What the inputs amount to, from their lengths and the headers of some."""
    lengths = [_length(source) for source in sources]
    glanced = sources[:: max(len(sources) // _GLANCES, 1)]
    pixels = [(_pixels(source), _length(source)) for source in glanced]
    seen, length = (sum(column) for column in zip(*pixels, strict=True)) if pixels else (0, 0)
    per_byte = seen / length if length else 0.0
    return Expected(sum(lengths), round(sum(lengths) * per_byte), round(max(lengths, default=0) * per_byte))


def _length(source: Path) -> int:
    """The length of a file, nothing where it has none."""
    with suppress(OSError):
        return source.stat().st_size
    return 0


def _pixels(source: Path) -> int:
    """The pixels that the header tells, or that so many bytes usually hold."""
    with suppress(InputError, OSError), open_regular(source, Limits()) as file:
        directory = main_directory(file)
        if directory:
            return number(directory, _WIDTH) * number(directory, _HEIGHT)
        return _pixels_of_picture(file)
    return round(_length(source) / _BYTES_PER_SAMPLE)


def _pixels_of_picture(file: BinaryIO) -> int:
    """The pixels that the header of a PNG or JPEG tells; raises InputError for anything else."""
    match kind_of(file):
        case Kind.PNG:
            file.seek(_PNG_SIZE)
            width, height = struct.unpack(">LL", file.read(8).ljust(8, b"\0"))
        case Kind.JPEG:
            width, height = size_of(file)
        case _:
            raise NotAnImage("is neither PNG nor JPEG; judge it by its length")
    return int(width * height)
