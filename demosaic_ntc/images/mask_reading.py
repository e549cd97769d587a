"""Masks in the formats that people have: all that pictures are read from, and BMP, WebP and GIF."""

from pathlib import Path
from typing import BinaryIO

import numpy as np

from demosaic_ntc.errors import BadMask
from demosaic_ntc.images.picture import Picture
from demosaic_ntc.images.pillow import converted, frames_of, opened
from demosaic_ntc.images.reading import read_picture
from demosaic_ntc.io.identify import Kind, Limits, check_pixels, kind_of, named, open_regular

# Formats of masks alone: a repaired picture could not be written back to them as it was.
_OF_MASKS = {Kind.BMP: "BMP", Kind.WEBP: "WEBP", Kind.GIF: "GIF"}


def read_mask_picture(path: Path, limits: Limits) -> Picture:
    """Read a mask as it is stored."""
    with named(path), open_regular(path, limits) as file:
        kind = kind_of(file)
        if kind in _OF_MASKS:
            return _read(file, kind, limits)
    return read_picture(path, limits)


def _read(file: BinaryIO, kind: Kind, limits: Limits) -> Picture:
    """Read one of the formats that Pillow decodes, eight bits a channel."""
    image = opened(file, _OF_MASKS[kind])
    check_pixels(*image.size, limits)
    frames = frames_of(file, _OF_MASKS[kind])
    if frames > 1:
        raise BadMask(f"the mask is a {kind.value} of {frames} frames; save one of them")
    pixels = converted(opened(file, _OF_MASKS[kind]), "RGBA")
    alpha = pixels[..., 3]
    is_opaque = bool((alpha == 255).all())
    return Picture(np.ascontiguousarray(pixels[..., :3]), None if is_opaque else alpha, kind=kind)
