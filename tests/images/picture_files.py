"""Small pictures in files of every kind, made by libraries other than ours."""

import io
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import tifffile
from numpy.typing import NDArray
from PIL import Image

HEIGHT, WIDTH = 40, 30


def levels() -> NDArray[np.float64]:
    """A smooth grey picture in [0, 1]."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    return np.asarray(0.5 + 0.25 * np.sin(x / 5) + 0.2 * np.cos(y / 6))


def colours() -> NDArray[np.float64]:
    """A smooth colour picture in [0, 1]."""
    grey = levels()
    return np.stack([grey, grey[::-1], grey[:, ::-1]], axis=2)


def alpha() -> NDArray[np.float64]:
    """Transparency that increases to the right."""
    return np.broadcast_to(np.linspace(0.1, 1, WIDTH), (HEIGHT, WIDTH))


def scratch() -> NDArray[np.bool_]:
    """A few rows and a hole."""
    missing = np.zeros((HEIGHT, WIDTH), np.bool_)
    missing[10:12], missing[20:26, 8:14] = True, True
    return missing


def whole(values: NDArray[np.float64], white: int = 255) -> NDArray[Any]:
    """Integers up to white."""
    return np.rint(values * white).astype(np.uint8 if white == 255 else np.uint16)


def _png_16_with_grey_and_alpha(path: Path) -> None:
    """A PNG that none of the libraries writes: 16-bit grey with alpha, no filter."""
    pixels = np.dstack([whole(levels(), 65535), whole(alpha(), 65535)]).astype(">u2")
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">L", len(data)) + name + data + struct.pack(">L", zlib.crc32(name + data))

    header = struct.pack(">LLBBBBB", WIDTH, HEIGHT, 16, 4, 0, 0, 0)
    idat = chunk(b"IDAT", zlib.compress(rows))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + idat + chunk(b"IEND", b""))


def _pillow(image: Callable[[], Image.Image], **options: Any) -> Callable[[Path], None]:
    """A picture written by Pillow."""
    return lambda path: image().save(path, **options)


def _opencv(image: Callable[[], NDArray[Any]]) -> Callable[[Path], None]:
    """A picture written by OpenCV, which wants blue first."""

    def write(path: Path) -> None:
        pixels = image()
        if pixels.ndim == 3:
            pixels = np.take(pixels, [2, 1, 0, 3][: pixels.shape[2]], axis=2)
        assert cv2.imwrite(str(path), pixels)

    return write


def _tifffile(image: Callable[[], NDArray[Any]], **options: Any) -> Callable[[Path], None]:
    """A picture written by tifffile."""

    def write(path: Path) -> None:
        tifffile.imwrite(path, image(), metadata=None, **options)

    return write


def rgb() -> Image.Image:
    """The colour picture of 8 bits."""
    return Image.fromarray(whole(colours()))


def grey() -> Image.Image:
    """The grey picture of 8 bits."""
    return Image.fromarray(whole(levels()))


def two_tone() -> Image.Image:
    """The grey picture in black and white."""
    return Image.fromarray(levels() > 0.5)


#: Every kind of file that is read, by its name.
KINDS: dict[str, Callable[[Path], None]] = {
    "rgb8.png": _pillow(rgb),
    "grey8.png": _pillow(grey),
    "rgba8.png": _pillow(lambda: Image.fromarray(np.dstack([whole(colours()), whole(alpha())]))),
    "la8.png": _pillow(lambda: Image.merge("LA", [grey(), Image.fromarray(whole(alpha()))])),
    "rgb16.png": _opencv(lambda: whole(colours(), 65535)),
    "grey16.png": _opencv(lambda: whole(levels(), 65535)),
    "rgba16.png": _opencv(lambda: whole(np.dstack([colours(), alpha()]), 65535)),
    "la16.png": _png_16_with_grey_and_alpha,
    "bits1.png": _pillow(lambda: two_tone()),
    "palette4.png": _pillow(lambda: rgb().quantize(13)),
    "palette8.png": _pillow(lambda: rgb().quantize(200)),
    "clear_palette.png": _pillow(lambda: rgb().quantize(40), transparency=bytes(range(0, 250, 10))),
    "rgb8.tif": _pillow(rgb, compression="tiff_lzw"),
    "rgb16.tif": _tifffile(lambda: whole(colours(), 65535), photometric="rgb", compression="deflate"),
    "big_endian.tif": _tifffile(
        lambda: whole(colours(), 65535).astype(">u2"), photometric="rgb", byteorder=">"
    ),
    "planar.tif": _tifffile(
        lambda: np.moveaxis(whole(colours()), 2, 0).copy(), photometric="rgb", planarconfig="separate"
    ),
    "rgbf32.tif": _tifffile(lambda: colours().astype(np.float32), photometric="rgb"),
    "greyf64.tif": _tifffile(levels, photometric="minisblack"),
    "grey32.tif": _tifffile(lambda: (levels() * 4e9).astype(np.uint32), photometric="minisblack"),
    "rgba8.tif": _tifffile(
        lambda: np.dstack([whole(colours()), whole(alpha())]),
        photometric="rgb",
        extrasamples=["unassalpha"],
    ),
    "bits1.tif": _pillow(lambda: two_tone(), compression="group4"),
    "palette.tif": _pillow(lambda: rgb().quantize(30)),
    "rgb8.jpg": _pillow(rgb, quality=85),
    "grey8.jpg": _pillow(grey),
}


def write_mask(path: Path, missing: NDArray[np.bool_]) -> Path:
    """A mask, white where something is missing."""
    Image.fromarray(np.where(missing, 255, 0).astype(np.uint8)).save(path)
    return path


def opened(path: Path) -> Image.Image:
    """A picture as Pillow reads it, with its file closed."""
    return Image.open(io.BytesIO(path.read_bytes()))
