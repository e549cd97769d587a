"""Which files are opened, and what kind their first bytes tell: regular ones, not empty, of a sensible size.

Decoders accept more than is good: LibRaw takes headerless data by its length alone, image libraries reach
for other programs, and a FIFO blocks any of them for ever. So the first bytes are looked at here; whether
a file that they do not tell is a raw, LibRaw decides.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import BinaryIO

from demosaic_ntc.errors import InputError, NotAnImage, TooLarge, Truncated
from demosaic_ntc.io.error_boundary import OF_THE_MACHINE, reading_failures_explained
from demosaic_ntc.recipe import check_settings, setting


@dataclass(frozen=True, slots=True)
class InputLimits:
    """What is refused before it is decoded."""

    pixels: int = setting(
        150_000_000, "Refuse larger files before decoding.", "Input", name="max_pixels", low=1
    )
    file_bytes: int = 2**31

    def __post_init__(self) -> None:
        """Check what a user may set."""
        check_settings(self)


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
)


@contextmanager
def prefix_path(path: Path) -> Iterator[None]:
    """Put the path in front of what any input error inside says; a disk that fails is one."""
    try:
        with reading_failures_explained():
            yield
    except InputError as error:
        raise type(error)(f"{path}: {error}") from error


def open_regular(path: Path, limits: InputLimits) -> BinaryIO:
    """Open a file for reading if it is a regular one of a sensible size; never blocks."""
    try:
        file = open(path, "rb", opener=_open_at_once)  # noqa: SIM115 (handed to the caller)
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


def _open_at_once(path: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


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


def kind_of(head: bytes) -> FileKind:
    """The kind of a file by its first bytes."""
    matches = (kind for place, magic, kind in _MAGIC if head[place : place + len(magic)] == magic)
    return next(matches, FileKind.UNKNOWN)


def check_pixels(width: int, height: int, limits: InputLimits) -> None:
    """Refuse sizes that no picture has or that would not fit in memory."""
    if width <= 0 or height <= 0:
        raise NotAnImage(f"invalid size {width}×{height} in its header; the file is damaged")
    if width * height > limits.pixels:
        raise TooLarge(
            f"too large: {width}×{height} is {width * height} pixels, the limit is {limits.pixels}; "
            "raise it with `max_pixels`"
        )
