"""Linear DNG files: a demosaiced picture that is still raw, for other converters to go on with.

The first directory shows a thumbnail and says what is true of the whole; below it lie the picture (LinearRaw,
three samples of 16 bits, or one of a monochrome sensor) and a preview as JPEG. Tags as in the DNG
specification 1.4. Directories come last, when the places of everything are known.
"""

import io
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc.developing.settings import Output
from demosaic_ntc.errors import OutputError, explain_encoding
from demosaic_ntc.images.lossy import JPEG_LARGEST_SIDE
from demosaic_ntc.images.picture import DecodedImage
from demosaic_ntc.io.atomic import whole_file
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.io.exif import Exif, Fields, directory_block, for_tiff
from demosaic_ntc.io.pixels import ReportRows
from demosaic_ntc.io.tiff_tags import (
    BYTE,
    FLOAT,
    LONG,
    OPCODE_LISTS,
    RATIONAL,
    SHORT,
    SUB_DIRECTORIES,
    XMP,
    Field,
    write_directory,
)
from demosaic_ntc.raw.photo import Box

Encode: TypeAlias = Callable[[NDArray[np.uint16]], bytes]

# The codes of black and white. Room for noise below black would need a black level, on which readers do not
# agree where a pixel has three samples. With 2048, as one number or three, whole numbers or fractions, with
# and without the size of its pattern, darktable 4.2 leaves it out (pictures are off by 5.9 % of white in the
# mean), LibRaw 0.22 does not take it off white (.8 %), and RawTherapee 5.9 is right (.01 %) only with one
# number and no pattern, otherwise off by 4 %.
BLACK, WHITE = 0, 65535

_NONE, _JPEG, _JPEG_XL = 1, 7, 52546
_LINEARISATION, _JXL_DISTANCE, _JXL_EFFORT = 50712, 52553, 52554
_STEPS = 2048  # under the sRGB curve: samples are off by .08 of 255 at most, and take half the room
_EFFORT = 7  # of 9; 5 takes half the time and up to a tenth more room
_YCBCR, _LINEAR_RAW = 6, 34892
_THUMBNAIL_SIDE = 256
_BAND = 64  # rows of a strip
_TILES = {"jpeg": 256, "jxl": 512}  # the usual side of a compressed tile
_TILE_STEP = 16  # sides are multiples of it
_LARGEST = 2**32 - 2**27  # offsets have 32 bits; the rest is for the preview
_VERSION, _OLDEST_READER = bytes((1, 4, 0, 0)), bytes((1, 2, 0, 0))
_VERSION_OF_OPCODES, _VERSION_OF_JXL = bytes((1, 3, 0, 0)), bytes((1, 7, 0, 0))
_SRGB = 2


@dataclass(frozen=True, slots=True)
class LinearPicture:
    """A demosaiced picture in camera colours, as the sensor lay, and what is said of it."""

    codes: NDArray[np.uint16]  # (height, width, 3) or (height, width), from BLACK to WHITE
    frame: Box  # the part that is to be shown
    shared: Fields  # tags of the whole: colours, camera, origin
    own: Fields  # tags of the picture itself
    xmp: bytes | None = None  # as the raw has it


def write_dng(
    target: Path,
    picture: LinearPicture,
    preview: DecodedImage,
    output: Output,
    report: ReportRows,
) -> None:
    """Write a picture with its preview, 8 bits and as the sensor lay, and the preview's metadata."""
    if picture.codes.nbytes > _LARGEST:
        raise OutputError("DNG ends at 4 GiB, which this picture may exceed; write a PNG")
    with whole_file(target, overwrite=output.overwrite) as file:
        file.write(b"II*\0" + bytes(4))
        shown = Image.fromarray(np.ascontiguousarray(preview.colours))
        thumbnail = _write_jpeg(file, shown, _THUMBNAIL_SIDE, output.loss.quality)
        large = {
            **_write_jpeg(file, shown, JPEG_LARGEST_SIDE, output.loss.quality),
            50970: Field(LONG, (_SRGB,)),
        }
        stored = (
            _write_tiles(file, picture.codes, output, report)
            if output.compress
            else _write_strips(file, picture.codes, report)
        )
        nested = {**stored, **_picture_tags(picture), **picture.own}
        places = Field(LONG, tuple(_write_directory(file, tags) for tags in (nested, large)))
        first = {
            **picture.shared,
            **thumbnail,
            **_versions(picture, output),
        }
        stated = {XMP: Field(BYTE, picture.xmp)} if picture.xmp else {}
        _write_first(file, {**first, **stated, SUB_DIRECTORIES: places}, preview.exif)


def _versions(picture: LinearPicture, output: Output) -> dict[int, Field]:
    """The version of DNG, and the oldest one whose readers understand all that is used."""
    if output.compress == "jxl":
        return {50706: Field(BYTE, _VERSION_OF_JXL), 50707: Field(BYTE, _VERSION_OF_JXL)}
    oldest = _VERSION_OF_OPCODES if OPCODE_LISTS[2] in picture.own else _OLDEST_READER
    return {50706: Field(BYTE, _VERSION), 50707: Field(BYTE, oldest)}


def _write_jpeg(file: BinaryIO, picture: Image.Image, side: int, quality: int) -> dict[int, Field]:
    """Write a picture as JPEG, reduced to a side, and return the tags that describe it."""
    small = picture.copy()
    small.thumbnail((side, side))
    buffer = io.BytesIO()
    small.save(buffer, "JPEG", quality=quality, subsampling=0)
    place, data = _align_even(file), buffer.getvalue()
    file.write(data)
    return {
        254: Field(LONG, (1,)),
        **_size_tags((small.height, small.width, 3), 8, _JPEG, _YCBCR),
        273: Field(LONG, (place,)),
        278: Field(LONG, (small.height,)),
        279: Field(LONG, (len(data),)),
        530: Field(SHORT, (1, 1)),
        531: Field(SHORT, (1,)),
        532: Field(RATIONAL, (0, 255, 128, 255, 128, 255)),
    }


def _write_strips(file: BinaryIO, codes: NDArray[np.uint16], report: ReportRows) -> dict[int, Field]:
    """Write the samples as they are, one strip right behind the other."""
    height, row = len(codes), codes[0].nbytes
    start, bands = _align_even(file), range(0, height, _BAND)
    for top in bands:
        file.write(codes[top : top + _BAND].astype("<u2", copy=False).tobytes())
        report(min(top + _BAND, height), height)
    return {
        **_size_tags(codes.shape, 16, _NONE, _LINEAR_RAW),
        273: Field(LONG, tuple(start + row * top for top in bands)),
        278: Field(LONG, (min(_BAND, height),)),
        279: Field(LONG, tuple(row * min(_BAND, height - top) for top in bands)),
    }


def _write_tiles(
    file: BinaryIO, codes: NDArray[np.uint16], output: Output, report: ReportRows
) -> dict[int, Field]:
    """Write tiles of JPEG or JPEG XL; strips of it are not read everywhere."""
    assert output.compress is not None
    height, width = codes.shape[:2]
    places, lengths, side = [], [], _tile_side(height, width, _TILES[output.compress])
    encode, compression, tags = (
        _jpeg_encoder(codes.ndim) if output.compress == "jpeg" else _jxl_encoder(output.jxl_distance)
    )
    for bottom, tile in _tiles(codes, side):
        with explain_encoding("DNG"):
            data = encode(tile)
        places.append(_align_even(file))
        lengths.append(len(data))
        file.write(data)
        report(min(bottom, height), height)
    return {
        **_size_tags(codes.shape, 16, compression, _LINEAR_RAW),
        **tags,
        322: Field(LONG, (side,)),
        323: Field(LONG, (side,)),
        324: Field(LONG, tuple(places)),
        325: Field(LONG, tuple(lengths)),
    }


def _jpeg_encoder(dimensions: int) -> tuple[Encode, int, Fields]:
    """What makes a tile a lossless JPEG, the number of that compression, and what is said of it."""
    import imagecodecs  # noqa: PLC0415 (takes a while to load, and is seldom needed)

    colours: dict[str, Any] = {"colorspace": "rgb", "outcolorspace": "rgb"} if dimensions == 3 else {}

    def encode(tile: NDArray[np.uint16]) -> bytes:
        return bytes(imagecodecs.jpeg8_encode(tile, lossless=True, predictor=1, bitspersample=16, **colours))

    return encode, _JPEG, {}


def _jxl_encoder(distance: float | None) -> tuple[Encode, int, Fields]:
    """The same for JPEG XL: as it is (distance 0), rounded to steps, or with a loss.

    For the last two, samples stand under the sRGB curve, so that the loss is as hard to see in shadows as
    elsewhere, and a table takes them back.
    """
    import imagecodecs  # noqa: PLC0415 (takes a while to load, and is seldom needed)

    top = _STEPS - 1 if distance is None else WHITE
    curve = np.rint(SRGB_CURVE.encode(np.arange(WHITE + 1) / WHITE) * top).astype(np.uint16)
    table = np.rint(SRGB_CURVE.decode(np.arange(top + 1) / top) * WHITE).astype(np.uint16)
    loss: dict[str, Any] = {"distance": distance} if distance else {"lossless": True}

    def encode(tile: NDArray[np.uint16]) -> bytes:
        stored = tile if distance == 0 else curve[tile]
        return bytes(imagecodecs.jpegxl_encode(stored, effort=_EFFORT, numthreads=1, **loss))

    tags = {_JXL_DISTANCE: Field(FLOAT, (distance or 0.0,)), _JXL_EFFORT: Field(LONG, (_EFFORT,))}
    if distance != 0:
        tags[_LINEARISATION] = Field(SHORT, tuple(table.tolist()))
    return encode, _JPEG_XL, tags


def _tile_side(height: int, width: int, usual: int) -> int:
    """The side of tiles: LibRaw reads none that are wider than the picture."""
    return max(min(usual, height, width) // _TILE_STEP * _TILE_STEP, _TILE_STEP)


def _tiles(codes: NDArray[np.uint16], side: int) -> Iterator[tuple[int, NDArray[np.uint16]]]:
    """Whole tiles, row by row, each with the row it ends at; beyond the edge the last samples go on."""
    height, width = codes.shape[:2]
    for top in range(0, height, side):
        for left in range(0, width, side):
            tile = codes[top : top + side, left : left + side]
            lacking = ((0, side - tile.shape[0]), (0, side - tile.shape[1]), (0, 0))[: tile.ndim]
            yield top + side, np.ascontiguousarray(np.pad(tile, lacking, mode="edge"))


def _size_tags(shape: tuple[int, ...], bits: int, compression: int, photometric: int) -> dict[int, Field]:
    """What every picture of the file says of itself."""
    height, width, samples = (*shape, 1)[:3]
    return {
        256: Field(LONG, (width,)),
        257: Field(LONG, (height,)),
        258: Field(SHORT, (bits,) * samples),
        259: Field(SHORT, (compression,)),
        262: Field(SHORT, (photometric,)),
        277: Field(SHORT, (samples,)),
        284: Field(SHORT, (1,)),
    }


def _picture_tags(picture: LinearPicture) -> dict[int, Field]:
    """Levels, areas and scale of the picture."""
    (height, width, samples), frame = (*picture.codes.shape, 1)[:3], picture.frame
    return {
        254: Field(LONG, (0,)),
        50713: Field(SHORT, (1, 1)),
        50714: Field(LONG, (BLACK,) * samples),
        50717: Field(LONG, (WHITE,) * samples),
        50718: Field(RATIONAL, (1, 1)),
        50719: Field(LONG, (frame.left, frame.top)),
        50720: Field(LONG, (frame.width, frame.height)),
        50829: Field(LONG, (0, 0, height, width)),
    }


def _align_even(file: BinaryIO) -> int:
    """The next even place of a file, where it goes on."""
    file.write(bytes(file.tell() % 2))
    return file.tell()


def _write_directory(file: BinaryIO, tags: Fields) -> int:
    """Write a directory and return its place."""
    place = _align_even(file)
    file.write(write_directory(tags, place))
    return place


def _write_first(file: BinaryIO, tags: Fields, exif: Exif) -> None:
    """Write the first directory, with metadata where there is some, and its place at the start."""
    place = _align_even(file)
    if not exif:
        file.write(write_directory(tags, place))
    else:
        kept = for_tiff(exif)
        file.write(directory_block(kept, {**kept.image, **tags}, place))
    file.seek(4)
    file.write(struct.pack("<L", place))
