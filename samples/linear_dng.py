"""Synthetic linear DNG files: three planes of a known camera, or one of a camera without colours.

Tags as in the DNG specification 1.4; tiles of JPEG XL as in 1.7.
"""

import struct
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.io.exif import Exif, directory_block
from demosaic_ntc.io.tiff_tags import LONG, SHORT, Field

from .dng import Camera, camera_tags

Compression = Literal["none", "deflate", "lossless JPEG", "lossy JPEG", "JPEG XL"]

_LINEAR_RAW = 34892
_CODES: dict[str, int] = {
    "none": 1,
    "deflate": 8,
    "lossless JPEG": 7,
    "lossy JPEG": 34892,
    "JPEG XL": 52546,
}
_FLOATING_POINT, _UNSIGNED = 3, 1


def linear_dng(
    samples: NDArray[Any],
    camera: Camera,
    *,
    compression: Compression = "none",
    tile: int = 0,
    exif: Exif | None = None,
    changed: dict[int, Field] | None = None,
) -> bytes:
    """The content of a file of samples (height, width) or (height, width, 3), in tiles or one strip.

    `changed` tags replace or join the usual ones.
    """
    planes = np.atleast_3d(samples)
    blocks = [_encoded(block, compression) for block in _blocks(planes, tile)]
    start, places = 8, list[int]()
    for block in blocks:
        places.append(start)
        start += len(block) + len(block) % 2
    lengths = tuple(map(len, blocks))
    tags = {
        **_image_tags(planes, camera, compression),
        **_block_tags(planes, tile, tuple(places), lengths),
        **camera_tags(camera),
        **(changed or {}),
    }
    known = exif or Exif()
    data = b"".join(block + bytes(len(block) % 2) for block in blocks)
    return b"II*\0" + struct.pack("<L", start) + data + directory_block(known, {**known.image, **tags}, start)


def _blocks(planes: NDArray[Any], tile: int) -> list[NDArray[Any]]:
    """One strip, or whole tiles, row by row; beyond the edge the last samples go on."""
    if not tile:
        return [planes]
    height, width = planes.shape[:2]
    padded = np.pad(planes, ((0, -height % tile), (0, -width % tile), (0, 0)), mode="edge")
    return [
        np.ascontiguousarray(padded[top : top + tile, left : left + tile])
        for top in range(0, height, tile)
        for left in range(0, width, tile)
    ]


def _encoded(block: NDArray[Any], compression: Compression) -> bytes:
    """The bytes of a strip or tile."""
    import imagecodecs  # noqa: PLC0415 (takes a while to load)

    block = block[..., 0] if block.shape[2] == 1 else block
    stored = block.astype(block.dtype.newbyteorder("<")).tobytes()
    kept: dict[str, Any] = {"colorspace": "rgb", "outcolorspace": "rgb"} if block.ndim == 3 else {}
    encoders: dict[str, Callable[[], bytes | bytearray]] = {
        "none": lambda: stored,
        "deflate": lambda: imagecodecs.zlib_encode(stored),
        "lossless JPEG": lambda: imagecodecs.jpeg8_encode(
            block, lossless=True, predictor=1, bitspersample=16, **kept
        ),
        "lossy JPEG": lambda: imagecodecs.jpeg8_encode(block, level=95, subsampling="444"),
        "JPEG XL": lambda: imagecodecs.jpegxl_encode(block, lossless=True),
    }
    return bytes(encoders[compression]())


def _image_tags(planes: NDArray[Any], camera: Camera, compression: Compression) -> dict[int, Field]:
    """What the samples are."""
    height, width, count = planes.shape
    kind = _FLOATING_POINT if planes.dtype.kind == "f" else _UNSIGNED
    return {
        254: Field(LONG, (0,)),
        256: Field(LONG, (width,)),
        257: Field(LONG, (height,)),
        258: Field(SHORT, (8 * planes.itemsize,) * count),
        259: Field(SHORT, (_CODES[compression],)),
        262: Field(SHORT, (_LINEAR_RAW,)),
        274: Field(SHORT, (camera.orientation,)),
        277: Field(SHORT, (count,)),
        284: Field(SHORT, (1,)),
        339: Field(SHORT, (kind,) * count),
    }


def _block_tags(
    planes: NDArray[Any], tile: int, places: tuple[int, ...], lengths: tuple[int, ...]
) -> dict[int, Field]:
    """Where the strip or the tiles lie."""
    if not tile:
        return {
            273: Field(LONG, places),
            278: Field(LONG, (planes.shape[0],)),
            279: Field(LONG, lengths),
        }
    return {
        322: Field(LONG, (tile,)),
        323: Field(LONG, (tile,)),
        324: Field(LONG, places),
        325: Field(LONG, lengths),
    }
