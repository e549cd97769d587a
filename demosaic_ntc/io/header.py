"""What a file is, found out once and handed on to all that read it: its kind, its tags and its size.

Decoders accept more than is good: LibRaw takes headerless data by its length alone, image libraries reach
for other programs, and a FIFO blocks any of them for ever. So files are opened here and nowhere else: regular
ones, not empty, of a sensible size. A header keeps its file open for the decoders, and every directory of
tags is parsed when it is first asked for, never again.
"""

import os
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from demosaic_ntc.choices import ArrayKind
from demosaic_ntc.errors import (
    OF_THE_MACHINE,
    InputError,
    NotAnImage,
    TooLarge,
    Truncated,
    reading_failures_explained,
)
from demosaic_ntc.io.jpeg_segments import jpeg_size
from demosaic_ntc.io.tiff_tags import Directory, TagReader, number, numbers
from demosaic_ntc.recipe import CheckedSettings, setting

COLOUR_FILTER_ARRAY, LINEAR_RAW, RGB = 32803, 34892, 2

_WIDTH, _HEIGHT, _PHOTOMETRIC, _CFA_DIMENSIONS, _DNG_VERSION = 256, 257, 262, 33421, 50706
_PICTURES = {0: "grey TIFF", 1: "grey TIFF", RGB: "RGB TIFF", 3: "palette TIFF", 5: "CMYK TIFF"}

_AT_ONCE = getattr(os, "O_NONBLOCK", 0)  # without waiting for the other end of a pipe
_HEAD = 32  # bytes that tell the kind
_PNG_SIZE = 16  # where it stands in the header


@dataclass(frozen=True, slots=True)
class InputLimits(CheckedSettings):
    """What is refused before it is decoded."""

    pixels: int = setting(
        150_000_000, "Refuse larger files before decoding.", "Input", name="max_pixels", low=1
    )
    file_bytes: int = 2**31
    isolate: bool = setting(
        True,
        "Decode in this process, not in a sandboxed one without access to files and network (Linux only).",
        "Input",
    )


class FileKind(Enum):
    """What the first bytes of a file say."""

    TIFF = "TIFF"
    BIG_TIFF = "a BigTIFF"
    RAW = "raw"
    FOVEON = "Foveon raw"
    PNG = "PNG"
    JPEG = "JPEG"
    GIF = "GIF"
    WEBP = "WebP"
    BMP = "BMP"
    POSTSCRIPT = "PostScript"
    PDF = "PDF"
    FITS = "FITS"
    UNKNOWN = "unknown"


#: How Fujifilm's raws begin.
FUJIFILM = b"FUJIFILMCCD-RAW"

# (offset, first bytes, kind); TIFF holds both pictures and most raws, told apart by its tags.
_MAGIC: tuple[tuple[int, bytes, FileKind], ...] = (
    (0, b"II*\0", FileKind.TIFF),
    (0, b"MM\0*", FileKind.TIFF),
    (0, b"II+\0", FileKind.BIG_TIFF),
    (0, b"MM\0+", FileKind.BIG_TIFF),
    (0, b"IIU\0", FileKind.RAW),  # Panasonic, Leica
    (0, b"IIRO", FileKind.RAW),  # Olympus
    (0, b"IIRS", FileKind.RAW),
    (0, b"MMOR", FileKind.RAW),
    (0, FUJIFILM, FileKind.RAW),
    (6, b"HEAPCCDR", FileKind.RAW),  # Canon CRW
    (4, b"ftypcrx ", FileKind.RAW),  # Canon CR3
    (0, b"\0MRM", FileKind.RAW),  # Minolta
    (0, b"qktk\0", FileKind.RAW),  # Apple QuickTake
    (0, b"qktn\0", FileKind.RAW),
    (25, b"ARECOYK", FileKind.RAW),  # Contax
    (0, b"NOKIARAW", FileKind.RAW),
    (0, b"FOVb", FileKind.FOVEON),
    (0, b"\x89PNG\r\n\x1a\n", FileKind.PNG),
    (0, b"\xff\xd8\xff", FileKind.JPEG),
    (0, b"GIF8", FileKind.GIF),
    (8, b"WEBP", FileKind.WEBP),
    (0, b"BM", FileKind.BMP),
    (0, b"%!PS", FileKind.POSTSCRIPT),
    (0, b"\xc5\xd0\xd3\xc6", FileKind.POSTSCRIPT),
    (0, b"%PDF", FileKind.PDF),
    (0, b"SIMPLE  =", FileKind.FITS),
)


@contextmanager
def prefix_path(path: Path) -> Iterator[None]:
    """Put the path in front of the message of any input error inside; a failing disk counts as one."""
    try:
        with reading_failures_explained():
            yield
    except InputError as error:
        raise type(error)(f"{path}: {error}") from error


def open_regular(path: Path, limits: InputLimits) -> BinaryIO:
    """Open a file for reading if it is a regular one of a sensible size; never blocks."""
    try:
        file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | _AT_ONCE))  # noqa: SIM115 (handed to the caller)
    except OSError as error:
        if error.errno in OF_THE_MACHINE:
            raise
        raise InputError(_why_not_opened(path, error)) from error
    try:
        with reading_failures_explained():
            _check_status(os.fstat(file.fileno()), limits)
    except BaseException:
        file.close()
        raise
    return file


def _why_not_opened(path: Path, error: OSError) -> str:
    """What keeps a path from being opened, in words that tell the cases apart."""
    match error:
        case FileNotFoundError() if path.is_symlink():
            return f"the link points to {os.readlink(path)}, which does not exist; mend or replace it"
        case FileNotFoundError():
            return "there is no such file; check the path"
        case IsADirectoryError():
            return "is a folder, not a file; give a regular file"
        case PermissionError():
            return "may not be read; check its permissions"
        case _:
            return f"cannot be opened ({error.strerror}); give a regular file"


_OTHER_FILES = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def _check_status(status: os.stat_result, limits: InputLimits) -> None:
    """Refuse what is no regular file, is empty, or is larger than allowed."""
    for is_kind, kind_name in _OTHER_FILES:
        if is_kind(status.st_mode):
            raise InputError(f"is {kind_name}, not a file; give a regular file")
    if status.st_size == 0:
        raise Truncated("empty file; copy it again from its source")
    if status.st_size > limits.file_bytes:
        raise TooLarge(f"has {status.st_size} bytes, the limit is {limits.file_bytes}; give a smaller file")


def check_pixels(width: int, height: int, limits: InputLimits) -> None:
    """Refuse sizes that no picture has or that would not fit in memory."""
    if width <= 0 or height <= 0:
        raise NotAnImage(f"invalid size {width}×{height} in its header; the file is damaged")
    if width * height > limits.pixels:
        raise TooLarge(
            f"too large: {width}×{height} is {width * height} pixels, the limit is {limits.pixels}; "
            "raise it with `max_pixels`"
        )


@dataclass(frozen=True)
class FileHeader:
    """An open file and what its header says."""

    path: Path
    file: BinaryIO
    limits: InputLimits
    head: bytes  # the first bytes
    length: int  # in bytes
    kind: FileKind  # as the first bytes say
    tags: TagReader  # the directories of a TIFF-like file; any other has none

    def read(self, place: int = 0, length: int = -1) -> bytes:
        """Some bytes of the file, fewer where it ends; all of them by default."""
        self.file.seek(place)
        return self.file.read(length)

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
    def array_kind(self) -> ArrayKind:
        """The likely kind of colour array; a linear raw has none, and takes as long as a monochrome one."""
        with suppress(OSError):
            if self.is_linear:
                return "mono"
            if self.head.startswith(FUJIFILM) or numbers(self.mosaic_tags, _CFA_DIMENSIONS) == (6, 6):
                return "other"
        return "bayer"

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
    head = file.read(_HEAD)
    kinds = (kind for place, magic, kind in _MAGIC if head[place:].startswith(magic))
    kind = next(kinds, FileKind.UNKNOWN)
    return FileHeader(path, file, limits or InputLimits(), head, length, kind, TagReader(file))


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
