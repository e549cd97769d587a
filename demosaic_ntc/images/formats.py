"""The formats that pictures are written in, by the extensions of their files."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from demosaic_ntc.choices import Subsampling
from demosaic_ntc.errors import OutputError
from demosaic_ntc.recipe import CheckedSettings, setting

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
    ".fits": "FITS",
    ".fit": "FITS",
}

#: Formats of 8 bits per channel; the others have 16 as well.
SHALLOW = ("JPEG", "WebP", "AVIF")


@dataclass(frozen=True, slots=True)
class Loss(CheckedSettings):
    """How much may be left out: a quality from 1 to 100, and colours at full, half or quarter resolution."""

    quality: int = setting(
        95,
        "Quality of JPEG, WebP, AVIF and JPEG XL; 100 is lossless in WebP and JPEG XL.",
        "Output",
        name="jpeg_quality",
        low=1,
        high=100,
        metavar="1…100",
    )
    subsampling: Subsampling = setting(
        "4:4:4",
        "Resolution of colours in JPEG and AVIF: full, half or a quarter.",
        "Output",
        name="jpeg_subsampling",
    )


def format_of(target: Path, among: Collection[str] = FORMATS.values()) -> str:
    """The format that the extension of a target names, if it is one of those that can be written."""
    known = {suffix: name for suffix, name in FORMATS.items() if name in among}
    name = known.get(target.suffix.lower())
    if name is None and target.is_dir():
        raise OutputError(f"{target}: is a folder; name the picture in it, e.g. {target / 'picture.png'}")
    if name is None:
        raise OutputError(f"{target}: unknown picture format {target.suffix!r}; use one of {' '.join(known)}")
    return name
