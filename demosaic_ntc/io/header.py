"""The header of a file: what it is, its tags and its size, found out once and handed on to all that read it.

A file is opened here and nowhere else on its way: a header keeps it open for the decoders, and every
directory of tags is parsed when it is first asked for, never again.
"""

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from demosaic_ntc.io.identify import FUJIFILM, FileKind, InputLimits, kind_of, open_regular, prefix_path
from demosaic_ntc.io.jpeg_segments import jpeg_size
from demosaic_ntc.io.tiff_tags import Directory, TagReader, number, numbers

COLOUR_FILTER_ARRAY, LINEAR_RAW, RGB = 32803, 34892, 2

_WIDTH, _HEIGHT, _PHOTOMETRIC, _CFA_DIMENSIONS, _DNG_VERSION = 256, 257, 262, 33421, 50706
_PICTURES = {0: "grey TIFF", 1: "grey TIFF", RGB: "RGB TIFF", 3: "palette TIFF", 5: "CMYK TIFF"}

_HEAD = 32  # bytes that tell the kind
_PNG_SIZE = 16  # where it stands in the header


@dataclass(frozen=True)
class FileHeader:
    """An open file and what its header says."""

    path: Path
    file: BinaryIO
    limits: InputLimits
    head: bytes  # the first bytes
    length: int  # in bytes

    def read(self, place: int = 0, length: int = -1) -> bytes:
        """Some bytes of the file, fewer where it ends; all of them by default."""
        self.file.seek(place)
        return self.file.read(length)

    @cached_property
    def kind(self) -> FileKind:
        """What the first bytes say."""
        return kind_of(self.head)

    @cached_property
    def tags(self) -> TagReader:
        """The directories of a TIFF-like file; any other has none."""
        return TagReader(self.file)

    @cached_property
    def mosaic_tags(self) -> Directory:
        """The directory of the samples of a DNG or another raw that says so; empty where none does."""
        raws = (COLOUR_FILTER_ARRAY, LINEAR_RAW)
        return next((each for each in self.tags.directories() if number(each, _PHOTOMETRIC) in raws), {})

    @cached_property
    def is_dng(self) -> bool:
        """Whether a TIFF-like file calls itself a DNG."""
        return any(_DNG_VERSION in directory for directory in self.tags.directories())

    @property
    def is_linear(self) -> bool:
        """Whether the tags say that the samples need no demosaicing."""
        return number(self.mosaic_tags, _PHOTOMETRIC) == LINEAR_RAW

    @property
    def is_xtrans(self) -> bool:
        """Whether an X-Trans array is likely."""
        return self.head.startswith(FUJIFILM) or numbers(self.mosaic_tags, _CFA_DIMENSIONS) == (6, 6)

    @cached_property
    def picture_kind(self) -> str | None:
        """What a TIFF without raw data shows, e.g. ``RGB TIFF``; None if it may be a raw after all."""
        return None if self.mosaic_tags else _PICTURES.get(number(self.tags.first(), _PHOTOMETRIC, -1))

    @property
    def is_picture(self) -> bool:
        """Whether this is a PNG, or a TIFF that is no raw."""
        return self.kind is FileKind.PNG or (self.kind is FileKind.TIFF and self.picture_kind is not None)

    @cached_property
    def size(self) -> tuple[int, int] | None:
        """Width and height of a raw that states them, a PNG or a JPEG; None of others."""
        if self.mosaic_tags:
            return number(self.mosaic_tags, _WIDTH), number(self.mosaic_tags, _HEIGHT)
        match self.kind:
            case FileKind.PNG:
                width, height = struct.unpack(">LL", self.read(_PNG_SIZE, 8).ljust(8, b"\0"))
                return int(width), int(height)
            case FileKind.JPEG:
                return jpeg_size(self.file)
            case _:
                return None


def read_header(file: BinaryIO, path: Path = Path(), limits: InputLimits | None = None) -> FileHeader:
    """The header of an open file."""
    length = file.seek(0, os.SEEK_END)
    file.seek(0)
    return FileHeader(path, file, limits or InputLimits(), file.read(_HEAD), length)


@contextmanager
def open_header(source: Path | FileHeader, limits: InputLimits) -> Iterator[FileHeader]:
    """Open a file that is read and give its header; one that is open already is handed on."""
    if isinstance(source, FileHeader):
        yield source
        return
    with prefix_path(source):
        file = open_regular(source, limits)
    with file:
        with prefix_path(source):
            header = read_header(file, source, limits)
        yield header
