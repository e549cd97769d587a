"""Pictures of any depth as bytes to be looked at, made smaller, and as PNG: the studio's use of Pillow."""

from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc.engine.notebook_preview import find_white
from demosaic_ntc.errors import explain_encoding
from demosaic_ntc.run import do_threads

Bytes = NDArray[np.uint8]

_BAND = 256  # rows at a time: a copy of all pixels in floats would not fit
_GLANCE = 8  # every n-th row and column tells the white of floats
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
    buffer = BytesIO()
    more: dict[str, Any] = {"icc_profile": profile} if profile else {}
    with explain_encoding("PNG"):
        image.save(buffer, "PNG", compress_level=_QUICKLY, **more)
    return buffer.getvalue()


def white_shown(colours: NDArray[Any]) -> float:
    """The value that is shown as white: the largest of unsigned integers, else what the picture needs."""
    if colours.dtype.kind == "u":
        return float(np.iinfo(colours.dtype).max)
    return find_white(np.abs(colours[::_GLANCE, ::_GLANCE]))


def view_of(colours: NDArray[Any], white: float, threads: int = 1) -> Bytes:
    """The picture (height, width) or (height, width, 3) in bytes, zero black and 255 at white."""
    if colours.dtype == np.uint8:
        return np.ascontiguousarray(colours)
    view = np.empty(colours.shape, np.uint8)

    def write(top: int) -> None:
        view[top : top + _BAND] = _convert_to_bytes(colours[top : top + _BAND], white)

    do_threads(write, range(0, len(colours), _BAND), threads)
    return view


def _convert_to_bytes(colours: NDArray[Any], white: float) -> NDArray[Any]:
    """Some rows as numbers from 0 to 255."""
    if colours.dtype.kind == "u" and white == np.iinfo(colours.dtype).max:
        return np.asarray(colours >> (8 * colours.itemsize - 8))
    with np.errstate(invalid="ignore"):  # what is no number is shown as black
        return np.rint(255 * np.clip(np.nan_to_num(colours.astype(np.float64) / white), 0, 1))
