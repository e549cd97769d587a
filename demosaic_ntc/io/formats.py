"""What is said of files besides their bytes: how a plain mosaic is laid out, which format a name means."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demosaic_ntc.errors import InputError
from demosaic_ntc.recipe import CheckedSettings, setting

if TYPE_CHECKING:
    from demosaic_ntc.cfa import Cfa

from collections.abc import Collection
from pathlib import Path

from demosaic_ntc.choices import Subsampling
from demosaic_ntc.errors import OutputError

_GROUP = "Input"


def parse_cfa(text: str) -> "Cfa":
    """A colour array by its name or its rows."""
    from demosaic_ntc.cfa import Cfa  # noqa: PLC0415 (help does without)

    return Cfa.parse(text)


@dataclass(frozen=True, slots=True)
class Layout(CheckedSettings):
    """The colour array of a mosaic, its depth, and its size where no header gives it."""

    cfa: "Cfa | None" = setting(
        None,
        "Colour filter array (CFA) of a plain mosaic (16-bit TIFF or PNG), or instead of the raw's own: "
        "RGGB, BGGR, GRBG, GBRG, X-Trans, rows such as RG/GB, or mono for a monochrome sensor.",
        _GROUP,
        parse=parse_cfa,
    )
    width: int | None = setting(None, "Width of headerless data.", _GROUP, low=1)
    height: int | None = setting(None, "Height of headerless data.", _GROUP, low=1)
    bits: int | None = setting(
        None,
        "Bits per sample of headerless data or of a plain mosaic; packed 10 and 12 bits are recognised.",
        _GROUP,
        name="raw_bits",
        low=8,
        high=16,
        wrong="{} bits per sample are not supported",
    )

    def check_together(self) -> None:
        """Refuse half a size."""
        if (self.width is None) != (self.height is None):
            raise InputError("width and height go together; give both or none")


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
