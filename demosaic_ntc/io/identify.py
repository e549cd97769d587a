"""What a file is, found out before anything decodes it: a regular file, not empty, of a known kind and size.

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

from demosaic_ntc.errors import InputError, NotAnImage, TooLarge, Truncated, Unsupported
from demosaic_ntc.io.error_boundary import OF_THE_MACHINE, reading_failures_explained
from demosaic_ntc.io.tiff_tags import Directory, TagReader, number, numbers
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


_FUJIFILM = b"FUJIFILMCCD-RAW"

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
    (0, _FUJIFILM, FileKind.RAW),
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

_WIDTH, _HEIGHT, _COMPRESSION, _PHOTOMETRIC, _SAMPLES, _FORMAT, _DNG_VERSION = (
    256,
    257,
    259,
    262,
    277,
    339,
    50706,
)
_TILE_WIDTH, _TILE_HEIGHT, _TILE_PLACES = 322, 323, 324
_CFA_DIMENSIONS = 33421
_FLOATING_POINT = 3

# Compressions of a mosaic that the decoder takes for damage, or does not know.
_UNREAD_COMPRESSIONS = {5: "LZW", 8: "deflate", 32946: "deflate", 52546: "JPEG XL"}

COLOUR_FILTER_ARRAY, LINEAR_RAW, RGB = 32803, 34892, 2

# No file of an unknown header is read as a whole if it is larger, in bytes.
_LARGEST_UNKNOWN = 1 << 28

# Extensions that no camera gives to its raws; ``.tif`` is not among them, some cameras do.
_PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp")


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


def kind_of(file: BinaryIO) -> FileKind:
    """The kind of a file by its first bytes."""
    file.seek(0)
    head = file.read(32)
    matches = (kind for place, magic, kind in _MAGIC if head[place : place + len(magic)] == magic)
    return next(matches, FileKind.UNKNOWN)


def check_is_raw(file: BinaryIO) -> None:
    """Refuse, with the reason, whatever the first bytes show to be no raw file; LibRaw judges the rest."""
    match kind_of(file):
        case FileKind.TIFF | FileKind.RAW:
            return
        case FileKind.FOVEON:
            raise Unsupported("is a Foveon raw with no colour filter array; it needs no demosaicing")
        case FileKind.UNKNOWN:
            _check_may_be_raw(file)
        case FileKind.BIG_TIFF:
            raise Unsupported("is a BigTIFF, which is not read; save it as a TIFF below 4 GiB")
        case FileKind.JPEG:
            raise Unsupported(
                "is JPEG, not a raw file; repair pictures with `inpaint`; a mosaic does not survive JPEG, "
                "give it as PNG or TIFF"
            )
        case kind if kind not in (FileKind.PNG, FileKind.TIFF):
            raise Unsupported(f"is {kind.value}, not a raw file; give a raw, or a mosaic as PNG or TIFF")
        case kind:
            raise Unsupported(
                f"is {kind.value}, not a raw file; repair pictures with `inpaint`, "
                "or give `cfa` if it is a plain mosaic"
            )


def _check_may_be_raw(file: BinaryIO) -> None:
    """Refuse unknown headers that are nothing for LibRaw: damaged ones of TIFF, and whole videos."""
    file.seek(0)
    head = file.read(32)
    damaged = head[:2] in (b"II", b"MM") and head[:4] not in (b"IIII", b"MMMM")  # those are of Phase One
    if damaged or file.seek(0, os.SEEK_END) > _LARGEST_UNKNOWN:
        raise refuse_unknown_header()


def refuse_unknown_header() -> NotAnImage:
    """Why a file is refused that neither we nor LibRaw know."""
    return NotAnImage(
        "is not a raw file: no known header; "
        "give `width` `height` `bits` `cfa` if it is headerless mosaic data"
    )


def check_name(file: BinaryIO, suffix: str) -> None:
    """Refuse a raw that is named as a picture: no other program could open it either."""
    raw = kind_of(file) is FileKind.RAW or (kind_of(file) is FileKind.TIFF and picture_kind(file) is None)
    if raw and suffix.lower() in _PICTURE_SUFFIXES:
        advice = "rename it to .dng" if is_dng(file) else "give it back its camera's extension"
        raise Unsupported(f"is a raw file named {suffix}; {advice}")


def check_pixels(width: int, height: int, limits: InputLimits) -> None:
    """Refuse sizes that no picture has or that would not fit in memory."""
    if width <= 0 or height <= 0:
        raise NotAnImage(f"invalid size {width}×{height} in its header; the file is damaged")
    if width * height > limits.pixels:
        raise TooLarge(
            f"too large: {width}×{height} is {width * height} pixels, the limit is {limits.pixels}; "
            "raise it with `max_pixels`"
        )


def main_directory(file: BinaryIO) -> Directory | None:
    """The directory that holds the mosaic of a DNG or another raw that says so; None where none does."""
    directories = TagReader(file).directories()
    return next(
        (d for d in directories if number(d, _PHOTOMETRIC) in (COLOUR_FILTER_ARRAY, LINEAR_RAW)), None
    )


def is_dng(file: BinaryIO) -> bool:
    """Whether a TIFF-like file calls itself a DNG."""
    return any(_DNG_VERSION in directory for directory in TagReader(file).directories())


def is_linear(directory: Directory) -> bool:
    """Whether a directory says that its pixels need no demosaicing."""
    return number(directory, _PHOTOMETRIC) == LINEAR_RAW


def is_xtrans(file: BinaryIO) -> bool:
    """Whether the header alone makes an X-Trans array likely."""
    file.seek(0)
    if file.read(len(_FUJIFILM)) == _FUJIFILM:
        return True
    return numbers(main_directory(file) or {}, _CFA_DIMENSIONS) == (6, 6)


def check_directory(directory: Directory, limits: InputLimits) -> None:
    """Check the size and the kind of samples that a raw's own tags announce."""
    check_pixels(number(directory, _WIDTH), number(directory, _HEIGHT), limits)
    if is_linear(directory):
        return
    if number(directory, _SAMPLES, 1) != 1:
        raise Unsupported("has several samples per pixel and no colour filter array; give a mosaic")
    if number(directory, _FORMAT, 1) == _FLOATING_POINT:
        raise Unsupported("has floating-point samples, which would lose precision; convert it to integers")
    compression = _UNREAD_COMPRESSIONS.get(number(directory, _COMPRESSION, 1))
    if compression is not None:
        raise Unsupported(
            f"is compressed by {compression}, which is not read; convert it to an uncompressed DNG"
        )


def check_is_complete(file: BinaryIO) -> None:
    """Refuse a TIFF-like file that ends before its largest block of data; decoders may not notice."""
    blocks = [block for directory in TagReader(file).directories() for block in _blocks(directory)]
    start, length = max(blocks, key=lambda block: block[1], default=(0, 0))
    size = file.seek(0, os.SEEK_END)
    if start + length > size:
        raise Truncated(
            f"truncated or damaged: {start + length - size} bytes are missing; copy it again from its source"
        )
    _check_tiles(main_directory(file) or {})


def _check_tiles(directory: Directory) -> None:
    """Refuse a picture of fewer tiles than cover it: LibRaw leaves the rest black."""
    width, height = number(directory, _TILE_WIDTH), number(directory, _TILE_HEIGHT)
    there = len(numbers(directory, _TILE_PLACES))
    if min(width, height, there) > 0:
        needed = -(-number(directory, _WIDTH) // width) * -(-number(directory, _HEIGHT) // height)
        if there < needed:
            raise Truncated(
                f"truncated or damaged: {there} of {needed} tiles are there; copy it again from its source"
            )


def _blocks(directory: Directory) -> Iterator[tuple[int, int]]:
    """Places and lengths of the strips or tiles of a directory."""
    for places, lengths in ((273, 279), (_TILE_PLACES, 325)):
        pairs = zip(numbers(directory, places), numbers(directory, lengths), strict=False)
        yield from ((int(place), int(length)) for place, length in pairs)


def picture_kind(file: BinaryIO) -> str | None:
    """What a TIFF without raw data shows, e.g. ``RGB TIFF``; None if it may be a raw after all."""
    directories = list(TagReader(file).directories())
    if not directories or main_directory(file) is not None:
        return None
    kinds = {0: "grey TIFF", 1: "grey TIFF", RGB: "RGB TIFF", 3: "palette TIFF", 5: "CMYK TIFF"}
    return kinds.get(number(directories[0], _PHOTOMETRIC, -1))
