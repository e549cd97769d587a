"""The one place of this layer where Pillow is reached: formats by name, and its errors made ours.

It never reaches for other programs here, because every call names the formats it may take.
"""

import warnings
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFile, JpegImagePlugin

from demosaic_ntc.errors import damage_explained, explain_encoding


def opened(file: BinaryIO, kind: str) -> ImageFile.ImageFile:
    """A picture of a kind before its pixels are decoded; our own limit on them was checked."""
    with damage_explained(kind), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file.seek(0)
        return Image.open(file, formats=[kind])


def decode(image: ImageFile.ImageFile) -> NDArray[Any]:
    """The pixels of a picture, single bits as 0 and 255."""
    with damage_explained(image.format or "picture"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(image.convert("L") if image.mode == "1" else image)


def convert_mode(image: ImageFile.ImageFile, mode: str) -> NDArray[Any]:
    """The pixels of a picture in a mode of Pillow's."""
    with damage_explained(image.format or "picture"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(image.convert(mode))


def jpeg_coding(image: ImageFile.ImageFile) -> tuple[dict[int, list[int]], int, bool]:
    """How a JPEG is coded: its tables, its sampling by Pillow's number (-1: unknown), whether in passes."""
    with damage_explained("JPEG"):
        tables = {key: list(table) for key, table in getattr(image, "quantization", {}).items()}
        return tables, JpegImagePlugin.get_sampling(image), "progressive" in image.info


def frames_of(file: BinaryIO, kind: str) -> int:
    """How many pictures a file holds; none is decoded."""
    with damage_explained(kind), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return int(getattr(opened(file, kind), "n_frames", 1))


def save_jpeg(target: BinaryIO, pixels: NDArray[Any], **options: Any) -> None:
    """Encode 8-bit grey or RGB pixels."""
    with explain_encoding("JPEG"):
        Image.fromarray(np.ascontiguousarray(pixels)).save(target, "JPEG", **options)
