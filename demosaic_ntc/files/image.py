"""Finished pictures into files: PNG, TIFF and JPEG by the target's extension, whole or not at all."""

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from PIL import Image

from demosaic_ntc.errors import OutputError
from demosaic_ntc.files.atomic import whole_file
from demosaic_ntc.files.metadata import Exif, exif_block, for_jpeg, for_tiff
from demosaic_ntc.files.png import write_png
from demosaic_ntc.files.render import Pixels, ReportRows
from demosaic_ntc.files.tiff import write_tiff

FORMATS = {".png": "PNG", ".tif": "TIFF", ".tiff": "TIFF", ".jpg": "JPEG", ".jpeg": "JPEG"}
JPEG_LARGEST_SIDE = 65535
CHROMA_KEPT = 0  # no subsampling: the colours are what demosaicing is about


@dataclass(frozen=True, slots=True)
class FinishedPicture:
    """Pixels the right way up, with what describes them."""

    pixels: Pixels
    profile: bytes
    exif: Exif | None


def format_of(target: Path) -> str:
    """The format that the extension of a target names."""
    name = FORMATS.get(target.suffix.lower())
    if name is None and target.is_dir():
        raise OutputError(f"{target}: is a folder; name the picture in it, e.g. {target / 'picture.png'}")
    if name is None:
        known = " ".join(FORMATS)
        raise OutputError(f"{target}: unknown picture format {target.suffix!r}; use one of {known}")
    return name


def write_picture(
    target: Path,
    picture: FinishedPicture,
    *,
    overwrite: bool,
    jpeg_quality: int,
    report: ReportRows,
) -> None:
    """Write the picture in the format of its target's extension."""
    kind = format_of(target)
    with whole_file(target, overwrite=overwrite) as file:
        if kind == "PNG":
            exif = exif_block(picture.exif) if picture.exif else None
            write_png(file, picture.pixels, picture.profile, exif, report)
        elif kind == "TIFF":
            tags = for_tiff(picture.exif) if picture.exif else None
            write_tiff(file, picture.pixels, picture.profile, tags, report)
        else:
            _write_jpeg(file, picture, jpeg_quality)
            report(1, 1)


def _write_jpeg(file: BinaryIO, picture: FinishedPicture, quality: int) -> None:
    """Write an 8-bit JPEG at full colour resolution."""
    if max(picture.pixels.shape) > JPEG_LARGEST_SIDE:
        raise OutputError(f"JPEG ends at {JPEG_LARGEST_SIDE} pixels a side; write a PNG or TIFF")
    exif = b"Exif\0\0" + exif_block(for_jpeg(picture.exif)) if picture.exif else b""
    image = Image.fromarray(np.ascontiguousarray(picture.pixels))
    image.save(
        file,
        "JPEG",
        quality=quality,
        subsampling=CHROMA_KEPT,
        icc_profile=picture.profile,
        exif=exif,
    )
