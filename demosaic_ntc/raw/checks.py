"""What is refused, whatever LibRaw says: files that are no raws, and raws that it would read wrongly."""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.errors import NotAnImage, Truncated, Unsupported
from demosaic_ntc.io.header import FileHeader, FileKind, check_pixels
from demosaic_ntc.io.tiff_tags import Directory, number, numbers
from demosaic_ntc.raw.photo import Mosaic

_WIDTH, _HEIGHT, _COMPRESSION, _SAMPLES, _FORMAT = 256, 257, 259, 277, 339
_TILE_WIDTH, _TILE_HEIGHT, _TILE_PLACES, _TILE_LENGTHS = 322, 323, 324, 325
_BLOCKS = ((273, 279), (_TILE_PLACES, _TILE_LENGTHS))  # places and lengths of strips, and of tiles
_FLOATING_POINT = 3

# Compressions of a mosaic that the decoder takes for damage, or does not know.
_UNREAD_COMPRESSIONS = {5: "LZW", 8: "deflate", 32946: "deflate", 52546: "JPEG XL"}

# Cells of a pattern of black levels; sensors have at most as many as their colour array.
_LARGEST_PATTERN = 64

# No file of an unknown header is read as a whole if it is larger, in bytes.
_LARGEST_UNKNOWN = 1 << 28

# Extensions that no camera gives to its raws; ``.tif`` is not among them, some cameras do.
_PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp")


# In a photo neighbouring samples of one colour are nearly alike, down and across. In other data they are not,
# or only in one direction, or only in some columns, as with samples of two bytes each.
_LEAST_CORRELATION = 0.7
_LARGEST_RATIO = 4.0


def check_black_pattern(rows: int, columns: int) -> None:
    """Refuse a pattern of black levels that no sensor has, and that would take tables of its size squared."""
    if rows * columns > _LARGEST_PATTERN:
        reason = f"its black levels repeat every {rows}×{columns} samples"
        raise Unsupported(
            f"{reason}; more than {_LARGEST_PATTERN} cells are not read, the file may be damaged"
        )


def check_raw(header: FileHeader) -> None:
    """Refuse, with the reason, what the header shows to be no raw that is read; LibRaw judges the rest."""
    _check_name(header)
    _check_kind(header)
    if header.mosaic_tags:
        _check_samples(header)
    _check_is_complete(header)


def _check_name(header: FileHeader) -> None:
    """Refuse a raw that is named as a picture: no other program could open it either."""
    suffix = header.path.suffix
    if suffix.lower() not in _PICTURE_SUFFIXES:
        return
    if header.kind is FileKind.RAW or (header.kind is FileKind.TIFF and header.picture_kind is None):
        advice = "rename it to .dng" if header.is_dng else "give it back its camera's extension"
        raise Unsupported(f"is a raw file named {suffix}; {advice}")


def _check_kind(header: FileHeader) -> None:
    """Refuse whatever the first bytes show to be no raw file."""
    match header.kind:
        case FileKind.TIFF | FileKind.RAW:
            return
        case FileKind.FOVEON:
            raise Unsupported("is a Foveon raw with no colour filter array; it needs no demosaicing")
        case FileKind.UNKNOWN:
            _check_may_be_raw(header)
        case FileKind.BIG_TIFF:
            raise Unsupported("is a BigTIFF, which is not read; save it as a TIFF below 4 GiB")
        case FileKind.JPEG:
            raise Unsupported(
                "is JPEG, not a raw file; repair pictures with `inpaint`; a mosaic does not survive JPEG, "
                "give it as PNG or TIFF"
            )
        case FileKind.PNG:
            raise refuse_picture(header.kind.value)
        case kind:
            raise Unsupported(f"is {kind.value}, not a raw file; give a raw, or a mosaic as PNG or TIFF")


def _check_may_be_raw(header: FileHeader) -> None:
    """Refuse unknown headers that LibRaw is not to see: damaged TIFFs, and files as large as videos."""
    phase_one = (b"IIII", b"MMMM")
    damaged = header.head[:2] in (b"II", b"MM") and header.head[:4] not in phase_one
    if damaged or header.length > _LARGEST_UNKNOWN:
        raise refuse_unknown_header()


def refuse_unknown_header() -> NotAnImage:
    """Why a file is refused that neither we nor LibRaw know."""
    return NotAnImage(
        "is not a raw file: no known header; "
        "give `width` `height` `bits` `cfa` if it is headerless mosaic data"
    )


def refuse_picture(kind: str) -> Unsupported:
    """Why a picture is no raw."""
    advice = "repair pictures with `inpaint`, or give `cfa` if it is a plain mosaic"
    return Unsupported(f"is {kind}, not a raw file; {advice}")


def _check_samples(header: FileHeader) -> None:
    """Check the size and the kind of samples that a raw's own tags announce."""
    tags = header.mosaic_tags
    check_pixels(number(tags, _WIDTH), number(tags, _HEIGHT), header.limits)
    if header.is_linear:
        return
    if number(tags, _SAMPLES, 1) != 1:
        raise Unsupported("has several samples per pixel and no colour filter array; give a mosaic")
    if number(tags, _FORMAT, 1) == _FLOATING_POINT:
        raise Unsupported("has floating-point samples, which would lose precision; convert it to integers")
    compression = _UNREAD_COMPRESSIONS.get(number(tags, _COMPRESSION, 1))
    if compression is not None:
        raise Unsupported(
            f"is compressed by {compression}, which is not read; convert it to an uncompressed DNG"
        )


def _check_is_complete(header: FileHeader) -> None:
    """Refuse a TIFF-like file that ends before its largest block of data; decoders may not notice."""
    blocks = [
        (int(place), int(length))
        for directory in header.tags.directories()
        for places, lengths in _BLOCKS
        for place, length in zip(numbers(directory, places), numbers(directory, lengths), strict=False)
    ]
    start, length = max(blocks, key=lambda block: block[1], default=(0, 0))
    missing = start + length - header.length
    if missing > 0:
        raise Truncated(f"truncated or damaged: {missing} bytes are missing; copy it again from its source")
    _check_tiles(header.mosaic_tags)


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


def looks_like_photo(mosaic: Mosaic) -> bool:
    """Whether each of the four sites of a 2×2 cell varies smoothly, about equally down and across."""
    return all(_is_smooth(mosaic[y::2, x::2].astype(np.float32)) for y in range(2) for x in range(2))


def _is_smooth(plane: NDArray[np.float32]) -> bool:
    """Whether neighbours are much closer than any two samples, and as close down as across."""
    variance = float(plane.var())
    down, across = (float(np.square(np.diff(plane, axis=axis)).mean()) for axis in (0, 1))
    farthest = 2 * variance * (1 - _LEAST_CORRELATION)
    return 0 < max(down, across) < min(farthest, _LARGEST_RATIO**2 * min(down, across))
