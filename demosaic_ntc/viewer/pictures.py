"""Pictures on a page: without loss where pixels are compared, small where they only remind of a picture."""

import os
from base64 import b64encode
from io import BytesIO
from pathlib import Path
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc.errors import OutputError, explain_encoding
from demosaic_ntc.io.atomic import refusals_explained, whole_file

Bytes = NDArray[np.uint8]  # (height, width, 3)

_THUMBNAIL_HEIGHT = 96
_LARGEST_SIDE = 16383  # of a WebP


def lossless(pixels: Bytes) -> bytes:
    """The picture as WebP without loss, about two thirds of the size of a PNG."""
    if max(pixels.shape) > _LARGEST_SIDE:
        raise OutputError(f"pages show at most {_LARGEST_SIDE} pixels a side; show parts instead of --full")
    return _encode_webp(Image.fromarray(np.ascontiguousarray(pixels)), lossless=True, exact=True, method=4)


def thumbnail(pixels: Bytes) -> str:
    """A small copy of the picture, as the address of an image element."""
    image = Image.fromarray(np.ascontiguousarray(pixels))
    width = max(1, round(image.width * _THUMBNAIL_HEIGHT / image.height))
    return address(_encode_webp(image.resize((width, _THUMBNAIL_HEIGHT), reducing_gap=2.0), quality=80))


def reduce_to_webp(pixels: Bytes, side: int) -> bytes:
    """The picture as WebP, made smaller where one of its sides is longer."""
    image = Image.fromarray(np.ascontiguousarray(pixels))
    image.thumbnail((side, side), Image.Resampling.LANCZOS)
    return _encode_webp(image, quality=90)


def address(content: bytes, kind: str = "image/webp") -> str:
    """A file's content as an address, so that the page needs no file beside it."""
    return f"data:{kind};base64,{b64encode(content).decode()}"


def write_beside(folder: Path, name: str, content: bytes) -> str:
    """Write a file into a folder beside the page and return its address there."""
    with refusals_explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with whole_file(folder / name, overwrite=True) as file:
        file.write(content)
    return f"{quote(os.fsencode(folder.name))}/{quote(os.fsencode(name))}"


def _encode_webp(image: Image.Image, **options: object) -> bytes:
    """An image as WebP."""
    buffer = BytesIO()
    with explain_encoding("WebP"):
        image.save(buffer, "WEBP", **options)
    return buffer.getvalue()
