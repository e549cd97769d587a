"""How bright our looks are beside the camera's own picture and another converter's, on real raws.

Pictures are developed by bilinear interpolation without denoising: a look is a matter of brightness, not of
detail.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

from demosaic_ntc import Developed, develop
from demosaic_ntc.choices import LookName
from demosaic_ntc.errors import Unsupported
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.raw.reading import read_embedded

from ..measure.metrics import Bytes, luma, newly_clipped
from ..methods.programs import run_program
from ..report.tables import Cell, DataTable, figure, table_of

OTHER = "rawtherapee-cli"
_LOOKS: tuple[LookName, ...] = ("auto", "camera")

# Columns of the table with their formats.
_COLUMNS = {
    "raw": "",
    **dict.fromkeys(("neutral", "auto", "camera look", "camera's own", "RawTherapee"), ".0f"),
    "newly clipped": ".2%",
}
_NOTE = (
    "Median luma of 255, sRGB, of the picture as measured (neutral), by our two looks, in the picture the "
    "camera stored, and by RawTherapee's defaults; in brackets the difference to the camera's. Last: pixels "
    "with a channel that the automatic look clips and the neutral one does not."
)


@dataclass(frozen=True, slots=True)
class Brightness:
    """The median lumas of one raw, of 255; None where there is no such picture."""

    name: str
    neutral: float
    ours: dict[str, float]
    camera: float | None
    other: float | None
    newly_clipped: float  # share of the pixels


def measure(source: Path) -> Brightness:
    """Develop a raw in every look and compare."""
    neutral = _pixels(_develop(source, "neutral"))
    looks = {name: _develop(source, name) for name in _LOOKS}
    automatic = _pixels(looks["auto"])
    embedded = read_embedded(source, InputLimits())
    return Brightness(
        name=source.name,
        neutral=luma(neutral),
        ours={name: luma(_pixels(each)) for name, each in looks.items() if each.facts.look == name},
        camera=None if embedded is None else luma(embedded),
        other=_measure_other(source),
        newly_clipped=newly_clipped(automatic, neutral),
    )


def _develop(source: Path, look: LookName) -> Developed:
    """A raw in one of our looks."""
    return develop(source, look=look, method="bilinear", denoise="off", bits=8)


def _pixels(photo: Developed) -> Bytes:
    """The pixels of a developed photo."""
    return np.asarray(photo.image, dtype=np.uint8)


def _measure_other(source: Path) -> float | None:
    """The median luma by RawTherapee's defaults; None where it is not installed or makes no picture."""
    with TemporaryDirectory() as folder, suppress(Unsupported):
        target = Path(folder) / "picture.png"
        run_program([OTHER, "-o", str(target), "-n", "-b8", "-Y", "-d", "-c", str(source)], target)
        with Image.open(target) as picture:
            return luma(np.asarray(picture.convert("RGB")))
    return None


def look_table(found: Iterable[Brightness]) -> DataTable:
    """The lumas, a row per raw."""
    rows = []
    for each in found:
        ours = (_compare_lumas(each.ours.get(name), each.camera) for name in _LOOKS)
        lumas = (each.name, each.neutral, *ours, each.camera, each.other, each.newly_clipped)
        rows.append(dict(zip(_COLUMNS, lumas, strict=True)))
    return table_of("Looks of raws", _COLUMNS, rows, _NOTE)


def _compare_lumas(value: float | None, other: float | None) -> Cell:
    """A luma, and how far it is from another."""
    if value is None or not other:
        return figure(value, ".0f")
    return Cell(f"{value:.0f} ({value / other - 1:+.0%})", value)
