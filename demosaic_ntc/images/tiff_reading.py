"""TIFF pictures of every depth: integers, floats, grey, RGB, palettes and single bits, with alpha."""

import logging
import os
from collections.abc import Iterator
from dataclasses import replace
from math import prod
from typing import Any, BinaryIO

import numpy as np
import tifffile
from numpy.typing import NDArray

from demosaic_ntc.errors import BadMask, Truncated, Unsupported, damage_explained
from demosaic_ntc.images.picture import DecodedImage, Indexed, Palette, TiffOrigin, expanded
from demosaic_ntc.images.tiff_writing import BLACK_IS_ZERO, PALETTE, RGB, WHITE_IS_ZERO
from demosaic_ntc.io.exif import ORIENTATION, SOFTWARE, orientation_in, read_exif
from demosaic_ntc.io.header import FileHeader, FileKind, InputLimits, check_pixels
from demosaic_ntc.io.tiff_tags import (
    ASCII,
    BYTE,
    RATIONAL,
    SHORT,
    UNDEFINED,
    Directory,
    Field,
    TagReader,
    fits,
)

# What it logs about damaged tags would reach the terminal; the error says enough.
logging.getLogger("tifffile").addHandler(logging.NullHandler())

_COLOURS = {WHITE_IS_ZERO: 1, BLACK_IS_ZERO: 1, RGB: 3, PALETTE: 1}
_OTHER_COLOURS = {4: "transparency mask", 5: "CMYK", 6: "YCbCr", 8: "L*a*b*", 9: "L*a*b*", 10: "L*a*b*"}
_UNSPECIFIED = 0  # the kind of a further channel that is not said to be alpha
_PACKED_BITS, _WHOLE_BITS = (1, 2, 4), (8, 16, 32, 64)

# None, CCITT, LZW, deflate, PackBits, Zstandard.
_COMPRESSIONS = {1, 2, 3, 4, 5, 8, 32946, 32773, 50000}

_X_RESOLUTION, _Y_RESOLUTION, _RESOLUTION_UNIT, _COLOUR_MAP, _XMP, _IPTC = 282, 283, 296, 320, 700, 33723

# Tags beyond the EXIF directories that stay true of the repaired picture, and their types.
_KEPT = {
    ORIENTATION: SHORT,
    _X_RESOLUTION: RATIONAL,
    _Y_RESOLUTION: RATIONAL,
    _RESOLUTION_UNIT: SHORT,
    SOFTWARE: ASCII,
    _XMP: BYTE,
    _IPTC: UNDEFINED,
    _COLOUR_MAP: SHORT,
}


def read_tiff(header: FileHeader) -> DecodedImage:
    """Read a TIFF of one page; raws, CMYK and whatever else is no grey or RGB picture are refused."""
    if header.mosaic_tags or header.is_dng:
        raise Unsupported("is a raw file; develop it with `demosaic-ntc convert`")
    header.file.seek(0)
    with damage_explained("TIFF"), tifffile.TiffFile(header.file) as tiff:
        _check_is_one(tiff)
        page = tiff.pages.first
        _check_page(page, header.limits)
        check_blocks(page, header.file)
        return _read_page(page, header)


def _read_page(page: Any, header: FileHeader) -> DecodedImage:
    """The picture of a page."""
    return _describe_picture(page, np.asarray(page.asarray()), header.tags)


def read_scan(header: FileHeader) -> DecodedImage:
    """Read a scan of film with its infrared channel: a sample beyond the colours, or a page of grey."""
    header.file.seek(0)
    with damage_explained("TIFF"), tifffile.TiffFile(header.file) as tiff:
        every: list[Any] = list(tiff.pages)
        pages = [page for page in every if not page.is_reduced]
        for page in pages[:2]:
            _check_page(page, header.limits)
            check_blocks(page, header.file)
        picture, infrared = _part_scan([_read_page(page, header) for page in pages[:2]], len(pages))
    origin = picture.own
    kept = replace(origin, extra=()) if isinstance(origin, TiffOrigin) else origin
    return replace(picture, alpha=None, own=kept, infrared=infrared)


def _part_scan(pages: list[DecodedImage], count: int) -> tuple[DecodedImage, NDArray[Any]]:
    """The picture of a scan, and its infrared channel."""
    first, *more = pages
    extra = first.own.extra if isinstance(first.own, TiffOrigin) else ()
    if count == 1 and first.alpha is not None and extra in ((), (_UNSPECIFIED,)):
        return first, first.alpha
    if count == 1 and first.alpha is not None:
        raise BadMask(
            "no infrared channel; its last channel is transparency; give `mask_from=alpha` or a mask"
        )
    if count == 2 and more[0].size == first.size and more[0].colours.ndim == 2 and more[0].alpha is None:
        return first, more[0].pixels
    raise no_infrared()


def no_infrared() -> BadMask:
    """What is said of a picture that is no scan with infrared."""
    return BadMask(
        "no infrared channel; scan to a TIFF with infrared (RGBI, or HDRi of two pages), or give a mask"
    )


def _check_is_one(tiff: Any) -> None:
    """Refuse several pages: only one of them would be repaired."""
    count = len(tiff.pages)
    if count != 1:
        raise Unsupported(f"is a TIFF of {count} pages; save the page to be repaired by itself")


def _check_page(page: Any, limits: InputLimits) -> None:
    """Refuse, before anything is decoded, what is too large or no picture of grey or RGB."""
    check_pixels(page.imagewidth, page.imagelength, limits)
    photometric, bits, samples = int(page.photometric), page.bitspersample, page.samplesperpixel
    if photometric not in _COLOURS:
        name = _OTHER_COLOURS.get(photometric, f"photometric {photometric}")
        raise Unsupported(f"is a {name} TIFF; convert it to RGB or grey first")
    if int(page.compression) not in _COMPRESSIONS:
        raise Unsupported(f"is compressed by {_name(page.compression)}; save it uncompressed or with deflate")
    most = _COLOURS[photometric] + (photometric != PALETTE)
    if page.imagedepth != 1:
        raise Unsupported(
            f"is a volume TIFF of {page.imagedepth} layers; save the one to be repaired by itself"
        )
    if not _COLOURS[photometric] <= samples <= most:
        raise Unsupported(f"is a TIFF of {samples} samples per pixel; save it as grey or RGB, with one alpha")
    if bits not in _WHOLE_BITS and not (samples == 1 and bits in _PACKED_BITS):
        raise Unsupported(f"is a TIFF of {bits} bits per sample; save it with 8 or 16")


def check_blocks(page: Any, file: BinaryIO) -> None:
    """Refuse strips and tiles that are not there: they would pass for black."""
    places, lengths = page.dataoffsets, page.databytecounts
    wanted, size = prod(page.chunked), file.seek(0, os.SEEK_END)
    there = [place > 0 and 0 < length <= size - place for place, length in zip(places, lengths, strict=False)]
    if sum(there[:wanted]) < wanted:
        missing = wanted - sum(there[:wanted])
        raise Truncated(f"truncated or damaged TIFF ({missing} of {wanted} blocks are missing); save it anew")


def _name(number: Any) -> str:
    """The name of one of TIFF's numbers, where it has one."""
    return str(getattr(number, "name", number))


def _describe_picture(page: Any, pixels: NDArray[Any], tags: TagReader) -> DecodedImage:
    """The pixels with what the tags say."""
    directory = tags.first()
    indexed = _read_index(page, pixels)
    colours, alpha = _split(page, pixels) if indexed is None else (expanded(indexed), None)
    return DecodedImage(
        colours,
        alpha,
        indexed,
        FileKind.TIFF,
        profile=page.iccprofile,
        exif=read_exif(tags),
        orientation=orientation_in(directory),
        own=TiffOrigin(_photometric(page, indexed), _extra(page), dict(_filter_tags(directory))),
    )


def _photometric(page: Any, indexed: Indexed | None) -> int:
    """What zero means in the repaired file: what it meant before."""
    if indexed is not None or int(page.photometric) == WHITE_IS_ZERO:
        return int(page.photometric)
    return BLACK_IS_ZERO if _COLOURS[int(page.photometric)] == 1 else RGB


def _extra(page: Any) -> tuple[int, ...]:
    """The kind of the channel beyond the colours."""
    return tuple(map(int, page.extrasamples or ()))[:1]


def _read_index(page: Any, pixels: NDArray[Any]) -> Indexed | None:
    """The numbers and what they stand for, where pixels are no colours."""
    if int(page.photometric) == PALETTE:
        colours = (np.asarray(page.colormap).T >> 8).astype(np.uint8)
        if pixels.max() >= len(colours):
            raise Truncated("uses colours beyond the end of its palette; save it anew")
        return Indexed(pixels.astype(np.uint8), Palette(colours, None, page.bitspersample))
    if page.bitspersample in _PACKED_BITS:
        levels = Palette.of_grey(page.bitspersample, white_is_zero=int(page.photometric) == WHITE_IS_ZERO)
        return Indexed(pixels.astype(np.uint8), levels)
    return None


def _split(page: Any, pixels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Colours and alpha, in the machine's byte order; zero is black."""
    native = pixels.astype(pixels.dtype.newbyteorder("="), copy=False)
    channels = np.moveaxis(native, 0, 2) if page.axes == "SYX" else native
    count = _COLOURS[int(page.photometric)]
    if channels.ndim == 2:
        return _upright_levels(page, channels), None
    colours = channels[..., 0] if count == 1 else channels[..., :3]
    alpha = channels[..., count] if channels.shape[2] > count else None
    return _upright_levels(page, colours), None if alpha is None else np.ascontiguousarray(alpha)


def _upright_levels(page: Any, levels: NDArray[Any]) -> NDArray[Any]:
    """The levels with black at zero."""
    if int(page.photometric) != WHITE_IS_ZERO:
        return np.ascontiguousarray(levels)
    if levels.dtype.kind != "u":
        raise Unsupported(
            "is a TIFF whose white is zero, of no unsigned integers; save it with black at zero"
        )
    return np.iinfo(levels.dtype).max - levels


def _filter_tags(directory: Directory) -> Iterator[tuple[int, Field]]:
    """The tags that stay, where their values fit their types."""
    for tag, kind in _KEPT.items():
        values = directory.get(tag)
        if values is None:
            continue
        field = Field(kind, bytes(int(v) for v in values) if kind == BYTE else values)
        if isinstance(field.values, bytes) == (kind in (ASCII, BYTE, UNDEFINED)) and fits(field):
            yield tag, field
