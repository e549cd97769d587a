"""The one place of this layer where Pillow is reached: tiles as PNG, and pictures made smaller."""

from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc.errors import explain_encoding

Bytes = NDArray[np.uint8]

_QUICKLY = 1  # zlib's level: tiles travel no farther than this machine


def png(pixels: Bytes, profile: bytes | None = None) -> bytes:
    """A tile (height, width) or (height, width, 3) as PNG; browsers turn its profile into their colours."""
    return _encode_png(Image.fromarray(np.ascontiguousarray(pixels)), profile)


def alpha_png(opacity: Bytes) -> bytes:
    """A white tile of this opacity (height, width), to be tinted by whoever shows it."""
    white = np.full_like(opacity, 255)
    return _encode_png(Image.fromarray(np.dstack([white, opacity])), None)


def flags_png(flags: NDArray[np.bool_]) -> bytes:
    """A mask (height, width) as PNG of single bits, white where flags are set."""
    return _encode_png(Image.fromarray(flags), None)


def halve(pixels: Bytes) -> Bytes:
    """The picture at half its size, every pixel the mean of up to four."""
    return np.asarray(Image.fromarray(np.ascontiguousarray(pixels)).reduce(2))


def resize(pixels: Bytes, size: tuple[int, int]) -> Bytes:
    """The picture in another height and width."""
    image = Image.fromarray(np.ascontiguousarray(pixels))
    return np.asarray(image.resize((size[1], size[0]), Image.Resampling.BICUBIC, reducing_gap=2.0))


def _encode_png(image: Image.Image, profile: bytes | None) -> bytes:
    """An image as PNG."""
    buffer, more = BytesIO(), {"icc_profile": profile} if profile else {}
    with explain_encoding("PNG"):
        image.save(buffer, "PNG", compress_level=_QUICKLY, **_cast_options(more))
    return buffer.getvalue()


def _cast_options(options: dict[str, bytes]) -> dict[str, Any]:
    """Options as Pillow declares them."""
    return dict(options)
