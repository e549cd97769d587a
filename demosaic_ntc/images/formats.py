"""The formats that pictures are written in, by the extensions of their files."""

from collections.abc import Collection
from pathlib import Path

from demosaic_ntc.errors import OutputError

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


def format_of(target: Path, among: Collection[str] = FORMATS.values()) -> str:
    """The format that the extension of a target names, if it is one of those that can be written."""
    known = {suffix: name for suffix, name in FORMATS.items() if name in among}
    name = known.get(target.suffix.lower())
    if name is None and target.is_dir():
        raise OutputError(f"{target}: is a folder; name the picture in it, e.g. {target / 'picture.png'}")
    if name is None:
        raise OutputError(f"{target}: unknown picture format {target.suffix!r}; use one of {' '.join(known)}")
    return name
