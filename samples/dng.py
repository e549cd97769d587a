"""Synthetic DNG files: a known picture, seen through a known camera.

The camera multiplies linear sRGB by a matrix, weakens each channel by its neutral, and adds a black level:
``code = round(A · rgb · neutral · (white − black) + black)``. Tags as in the DNG specification 1.4.
"""

import struct
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.io.colour import XYZ_FROM_SRGB
from demosaic_ntc.io.exif import Exif, directory_block
from demosaic_ntc.io.tiff_tags import ASCII, BYTE, LONG, RATIONAL, SHORT, SRATIONAL, Field

# XYZ to camera, in ten-thousandths, of a common DSLR.
CAMERA_FROM_XYZ = np.array([[6257, -303, -1000], [-7880, 15621, 2396], [-1714, 1904, 7046]]) / 10000
NEUTRAL = (0.5, 1.0, 0.625)

_CFA_PHOTOMETRIC = 32803


@dataclass(frozen=True, slots=True)
class Camera:
    """What a synthetic camera does to light."""

    black: float = 512.0
    white: int = 16383
    neutral: tuple[float, float, float] = NEUTRAL
    orientation: int = 1
    margins: tuple[int, int] = (0, 0)  # rows above and columns left of the visible area
    from_xyz: NDArray[np.float64] = field(default_factory=lambda: CAMERA_FROM_XYZ)  # 3 × 3: XYZ to camera


def camera_from_srgb() -> NDArray[np.float64]:
    """Linear sRGB to balanced camera colours; rows sum to one."""
    matrix = CAMERA_FROM_XYZ @ XYZ_FROM_SRGB
    return np.asarray(matrix / matrix.sum(axis=1, keepdims=True))


def exposed(light: NDArray[np.float64], cfa: Cfa, camera: Camera) -> NDArray[np.uint16]:
    """The samples that the camera takes of a linear sRGB picture."""
    colours = (light @ camera_from_srgb().T) * np.asarray(camera.neutral)
    codes = np.round(colours * (camera.white - camera.black) + camera.black)
    return cfa.sample(np.clip(codes, 0, camera.white).astype(np.uint16))


def write_dng(
    path: Path,
    mosaic: NDArray[np.uint16],
    cfa: Cfa,
    camera: Camera,
    *,
    exif: Exif | None = None,
    changed: dict[int, Field] | None = None,
) -> None:
    """Write the samples of a camera's visible area; `changed` tags replace or join the usual ones."""
    path.write_bytes(dng(mosaic, cfa, camera, exif=exif, changed=changed))


def dng(
    mosaic: NDArray[np.uint16],
    cfa: Cfa,
    camera: Camera,
    *,
    exif: Exif | None = None,
    changed: dict[int, Field] | None = None,
) -> bytes:
    """The content of such a file."""
    top, left = camera.margins
    stored = np.pad(mosaic, ((top, 0), (left, 0)), mode="symmetric" if top or left else "edge")
    data = stored.astype("<u2").tobytes()
    start = 8 + len(data)
    tags = {**_image_tags(stored, cfa, camera), **camera_tags(camera), **(changed or {})}
    known = exif or Exif()
    block = directory_block(known, {**known.image, **tags}, start)
    return b"II*\0" + struct.pack("<L", start) + data + block


def _image_tags(stored: NDArray[np.uint16], cfa: Cfa, camera: Camera) -> dict[int, Field]:
    """Where the samples are and which colours they have."""
    height, width = stored.shape
    return {
        254: Field(LONG, (0,)),
        256: Field(LONG, (width,)),
        257: Field(LONG, (height,)),
        258: Field(SHORT, (16,)),
        259: Field(SHORT, (1,)),
        262: Field(SHORT, (_CFA_PHOTOMETRIC,)),
        273: Field(LONG, (8,)),
        274: Field(SHORT, (camera.orientation,)),
        277: Field(SHORT, (1,)),
        278: Field(LONG, (height,)),
        279: Field(LONG, (stored.nbytes,)),
        33421: Field(SHORT, cfa.period),
        33422: Field(BYTE, cfa.pattern.tobytes()),
        50710: Field(BYTE, bytes((0, 1, 2))),
        50711: Field(SHORT, (1,)),
        50829: Field(LONG, (*camera.margins, height, width)),
    }


def camera_tags(camera: Camera) -> dict[int, Field]:
    """Levels, matrix and white balance."""
    matrix = tuple(Fraction(round(value * 10000), 10000) for value in camera.from_xyz.ravel())
    return {
        50706: Field(BYTE, bytes((1, 4, 0, 0))),
        50707: Field(BYTE, bytes((1, 1, 0, 0))),
        50708: Field(ASCII, b"Synthetic camera\0"),
        50713: Field(SHORT, (1, 1)),
        50714: Field(RATIONAL, (Fraction(camera.black).limit_denominator(1000),)),
        50717: Field(LONG, (camera.white,)),
        50721: Field(SRATIONAL, matrix),
        50728: Field(RATIONAL, tuple(Fraction(value).limit_denominator(10000) for value in camera.neutral)),
        50778: Field(SHORT, (21,)),  # D65
    }
