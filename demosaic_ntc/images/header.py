"""A glance at a file: how many pixels it holds, from its header alone, whatever kind of picture it is."""

import struct
from contextlib import suppress
from pathlib import Path

from demosaic_ntc.errors import InputError
from demosaic_ntc.images.jpeg import size_of
from demosaic_ntc.io.identify import FileKind, InputLimits, kind_of, main_directory, open_regular
from demosaic_ntc.io.tiff_tags import number

# Where no header tells the size: camera raws are compressed to about a byte and a half per sample.
_BYTES_PER_SAMPLE = 1.5

_WIDTH, _HEIGHT = 256, 257
_PNG_SIZE = 16  # where it stands in the header


def likely_pixels(path: Path, length: int) -> int:
    """The pixels that the header of a file tells, or that so many bytes usually hold."""
    with suppress(InputError, OSError), open_regular(path, InputLimits()) as file:
        if directory := main_directory(file):
            return number(directory, _WIDTH) * number(directory, _HEIGHT)
        match kind_of(file):
            case FileKind.PNG:
                file.seek(_PNG_SIZE)
                width, height = struct.unpack(">LL", file.read(8).ljust(8, b"\0"))
                return int(width * height)
            case FileKind.JPEG:
                width, height = size_of(file)
                return int(width * height)
    return round(length / _BYTES_PER_SAMPLE)
