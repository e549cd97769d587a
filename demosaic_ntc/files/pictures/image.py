"""Finished pictures into files, in the format of the target's extension, whole or not at all."""

from collections.abc import Collection
from pathlib import Path

from demosaic_ntc.errors import OutputError
from demosaic_ntc.files.atomic import whole_file
from demosaic_ntc.files.developing.render import ReportRows
from demosaic_ntc.files.metadata import exif_block, for_tiff
from demosaic_ntc.files.pictures.lossy import (
    FinishedPicture,
    Loss,
    write_avif,
    write_jpeg,
    write_jpeg_xl,
    write_webp,
)
from demosaic_ntc.files.pictures.png_writing import write_png
from demosaic_ntc.files.pictures.tiff_writing import write_tiff

FORMATS = {
    ".png": "PNG",
    ".tif": "TIFF",
    ".tiff": "TIFF",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".webp": "WebP",
    ".avif": "AVIF",
    ".jxl": "JPEG XL",
    ".dng": "DNG",
}

#: Formats of 8 bits per channel; the others have 16 as well.
SHALLOW = ("JPEG", "WebP", "AVIF")

_LOSSY = {"JPEG": write_jpeg, "WebP": write_webp, "AVIF": write_avif, "JPEG XL": write_jpeg_xl}


def format_of(target: Path, among: Collection[str] = FORMATS.values()) -> str:
    """The format that the extension of a target names, if it is one of those that can be written."""
    known = {suffix: name for suffix, name in FORMATS.items() if name in among}
    name = known.get(target.suffix.lower())
    if name is None and target.is_dir():
        raise OutputError(f"{target}: is a folder; name the picture in it, e.g. {target / 'picture.png'}")
    if name is None:
        raise OutputError(f"{target}: unknown picture format {target.suffix!r}; use one of {' '.join(known)}")
    return name


def write_picture(
    target: Path, picture: FinishedPicture, *, overwrite: bool, loss: Loss, report: ReportRows
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
            _LOSSY[kind](file, picture, loss)
            report(1, 1)
