"""What exposures that differ are worth: highlights that the reference clips, and its shadows."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from skimage.color import deltaE_ciede2000, rgb2lab

from demosaic_ntc.arrays import Flags, Float64
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.workflows.api import develop, merge

from ..data.sets import SetImage
from ..report.tables import DataTable, table_of
from .gains import BORDER
from .raws import Bracket, write_bracket

BRACKETS = {"0 −2": (0, -2), "0 +2 −2": (0, 2, -2)}
_DARKER = 2  # stops, so that what lies above white is seen
_COLUMNS = {
    "exposures": "", "pictures": "d", "clipped": ".1%", "single ΔE": ".2f", "merged ΔE": ".2f", "95 %": ".2f",
    "worst": ".2f", "dark single": ".2f", "dark merged": ".2f", "change": "+.2f",
}  # fmt: skip
Row = dict[str, Any]


def measure_bracket(name: str, pictures: Sequence[SetImage], threads: int, seed: int) -> Row:
    """The row of a bracket: means over the pictures, and the worst of them."""
    found = [_measure(picture, BRACKETS[name], threads, seed + k) for k, picture in enumerate(pictures)]
    mean = {key: float(np.mean([each[key] for each in found])) for key in found[0]}
    worst = max(each["merged ΔE"] for each in found)
    change = mean["dark merged"] - mean["dark single"]
    return {"exposures": name, "pictures": len(pictures), **mean, "worst": worst, "change": change}


def _measure(picture: SetImage, stops: Sequence[int], threads: int, seed: int) -> Row:
    """How far the reference alone and all frames are off, in highlights and in the darkest quarter."""
    with TemporaryDirectory() as folder:
        made = write_bracket(Path(folder), picture, stops, seed)
        how: dict[str, Any] = {
            "look": "neutral",
            "linear": True,
            "highlights": "reconstruct",
            "threads": threads,
        }
        how |= {"exposure": -_DARKER, "bits": "float"}
        single = develop(made.paths[0], **how).image
        merged = merge(made.paths, reference="first", **how).image
    inner = slice(BORDER, -BORDER)
    bright = np.zeros_like(made.clipped)
    bright[inner, inner] = made.clipped[inner, inner]
    alone, together = (compare_colours(each, made.light)[bright] for each in (single, merged))
    dark = [measure_shadows(each, made) for each in (single, merged)]
    return {
        "clipped": made.clipped.mean(), "single ΔE": alone.mean(), "merged ΔE": together.mean(),
        "95 %": np.quantile(together, 0.95), "dark single": dark[0], "dark merged": dark[1],
    }  # fmt: skip


def compare_colours(image: Float64, light: Float64) -> Float64:
    """ΔE00 between a linear picture that was darkened and the light it is of."""
    seen = (np.clip(image, 0, 1), np.clip(light / 2**_DARKER, 0, 1))
    one, other = (rgb2lab(SRGB_CURVE.encode(each)) for each in seen)
    return np.asarray(deltaE_ciede2000(one, other))  # type: ignore[no-untyped-call]


def measure_shadows(image: Float64, made: Bracket) -> float:
    """Decibels in the darkest quarter, under the curve of pictures."""
    grey = made.light.mean(axis=2)
    dark: Flags = grey <= np.quantile(grey, 0.25)
    shown = SRGB_CURVE.encode(np.clip(image * 2.0**_DARKER, 0, 1))
    return float(-10 * np.log10(np.square(shown - SRGB_CURVE.encode(np.clip(made.light, 0, 1)))[dark].mean()))


def brackets_table(rows: Iterable[Row]) -> DataTable:
    """All brackets."""
    note = (
        f"ΔE00 at −{_DARKER} EV where the reference clips and a shorter frame does not: means over pictures, "
        "of their 95th percentiles too, and the worst mean; dB in the darkest quarter"
    )
    return table_of("brackets", _COLUMNS, rows, note)
