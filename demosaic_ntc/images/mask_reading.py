"""Masks in the formats that people have: all that pictures are read from, and BMP, WebP and GIF."""

from pathlib import Path
from typing import BinaryIO

import numpy as np

from demosaic_ntc.errors import BadMask
from demosaic_ntc.images.picture import DecodedImage
from demosaic_ntc.images.pillow import convert_mode, frames_of, opened
from demosaic_ntc.images.reading import read_picture
from demosaic_ntc.io.identify import FileKind, InputLimits, check_pixels, kind_of, open_regular, prefix_path

# Formats of masks alone: a repaired picture could not be written back to them as it was.
_OF_MASKS = {FileKind.BMP: "BMP", FileKind.WEBP: "WEBP", FileKind.GIF: "GIF"}


def read_mask_picture(path: Path, limits: InputLimits) -> DecodedImage:
    """Read a mask as it is stored."""
    with prefix_path(path), open_regular(path, limits) as file:
        kind = kind_of(file)
        if kind in _OF_MASKS:
            return _read(file, kind, limits)
    return read_picture(path, limits)


def _read(file: BinaryIO, kind: FileKind, limits: InputLimits) -> DecodedImage:
    """Read one of the formats that Pillow decodes, eight bits a channel."""
    image = opened(file, _OF_MASKS[kind])
    check_pixels(*image.size, limits)
    frames = frames_of(file, _OF_MASKS[kind])
    if frames > 1:
        raise BadMask(f"the mask is a {kind.value} of {frames} frames; save one of them")
    pixels = convert_mode(opened(file, _OF_MASKS[kind]), "RGBA")
    alpha = pixels[..., 3]
    is_opaque = bool((alpha == 255).all())
    return DecodedImage(np.ascontiguousarray(pixels[..., :3]), None if is_opaque else alpha, kind=kind)
