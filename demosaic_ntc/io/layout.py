"""What a user says about a mosaic that does not describe itself."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demosaic_ntc.errors import InputError
from demosaic_ntc.recipe import CheckedSettings, setting

if TYPE_CHECKING:
    from demosaic_ntc.cfa import Cfa

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
