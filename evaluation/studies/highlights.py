"""How far completed highlights are from the truth, beside other ways and other programs.

All are shown by one rendering that rolls off towards white and keeps the hue. Half of the scenes was kept out
while our parameters were chosen.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from skimage.color import deltaE_ciede2000, rgb2lab

from demosaic_ntc.arrays import Flags, Float64
from demosaic_ntc.errors import Unsupported
from demosaic_ntc.io.colour import SRGB_CURVE, XYZ_FROM_SRGB

from ..data.highlights import ClippedScene
from ..methods.highlights import OURS, PEERS, WAYS
from ..report.tables import DataTable, table_of

_FOOT = 0.5  # light up to which the rendering is straight
_VIVID = 5.0  # chroma from which a hue is told
_FEWEST = 50  # pixels that make a mean

# Columns of the table with their formats.
FIGURES = {
    "clipped": ".2f",
    "1–2 channels": ".2f",
    "all three": ".2f",
    "ring": ".2f",
    "stops": ".3f",
    "hue": ".1f",
}
_NOTE = (
    "ΔE00 in the part that is clipped, of it where one or two channels are and where all three are, and in a "
    "ring of 4 pixels around it; the error of luminance there in stops, and of hue in degrees where there is "
    "colour. Means over scenes, one rendering for all that rolls off towards white."
)

Figures = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of all ways that could be run on a scene."""

    scene: str
    is_kept_out: bool
    ways: Mapping[str, Figures]

    @property
    def is_ahead(self) -> bool | None:
        """Whether ours is ahead of the best of other programs; None where none of them was run."""
        others = [each["clipped"] for name, each in self.ways.items() if name in PEERS]
        known = [value for value in others if value is not None]
        ours = self.ways[OURS]["clipped"] if OURS in self.ways else None
        return None if not known or ours is None else ours <= min(known)


def measure(scene: ClippedScene, names: Collection[str]) -> Measured:
    """Reconstruct a scene in all ways that are wanted and installed."""
    found = dict[str, Figures]()
    for name in names:
        try:
            found[name] = compare(WAYS[name](scene), scene)
        except Unsupported:
            continue
    return Measured(scene.name, scene.is_kept_out, found)


def compare(picture: Float64, scene: ClippedScene) -> Figures:
    """The figures of a picture of linear light; None for what has too few pixels."""
    lights = (scene.truth, picture)
    truth, shown = (np.asarray(rgb2lab(SRGB_CURVE.encode(roll_off(light)))) for light in lights)
    distance: Any = deltaE_ciede2000
    error, regions = distance(truth, shown), scene.regions()
    figures = {name: _mean(error, part) for name, part in regions.items()}
    ours, wanted = (np.maximum(light @ XYZ_FROM_SRGB[1], 1e-4) for light in (picture, scene.truth))
    angle = np.arctan2(truth[..., 2], truth[..., 1]) - np.arctan2(shown[..., 2], shown[..., 1])
    turned = np.abs(np.angle(np.exp(1j * angle), deg=True))
    vivid = regions["clipped"] & (np.hypot(truth[..., 1], truth[..., 2]) > _VIVID)
    stops = np.abs(np.log2(ours / wanted))
    return {**figures, "stops": _mean(stops, regions["clipped"]), "hue": _mean(turned, vivid)}


def _mean(values: Float64, part: Flags) -> float | None:
    """The mean over a part of a picture, if that is large enough."""
    return float(values[part].mean()) if np.count_nonzero(part) >= _FEWEST else None


def roll_off(light: Float64) -> Float64:
    """Light that tends to white: straight up to a foot of the largest channel, then a hyperbola."""
    inside = np.maximum(light, 0)
    largest = np.maximum(inside.max(axis=2, keepdims=True), 1e-9)
    above = np.maximum(largest - _FOOT, 0) / (1 - _FOOT)
    return np.asarray(inside * (np.minimum(largest, _FOOT) + (1 - _FOOT) * above / (1 + above)) / largest)


def tables(found: Sequence[Measured]) -> list[DataTable]:
    """Means of all ways over scenes that parameters were chosen on, others, and all; and by scene."""
    kept_out = [each for each in found if each.is_kept_out]
    parts = {
        "chosen on": [each for each in found if not each.is_kept_out],
        "kept out": kept_out,
        "all": found,
    }
    made = [
        table_of(f"Highlights, {len(part)} scenes ({name})", {"way": "", **FIGURES}, _rows(part), _NOTE)
        for name, part in parts.items()
        if part
    ]
    return [*made, _scene_table(found)]


def _rows(found: Sequence[Measured]) -> list[dict[str, Any]]:
    """The means of every way."""
    names = dict.fromkeys(name for each in found for name in each.ways)
    rows = list[dict[str, Any]]()
    for name in names:
        figures = [each.ways[name] for each in found if name in each.ways]
        rows.append({"way": name, **{column: _mean_of(figures, column) for column in FIGURES}})
    return rows


def _mean_of(figures: Sequence[Figures], column: str) -> float | None:
    """The mean of a figure where it is known."""
    known = [value for each in figures if (value := each[column]) is not None]
    return float(np.mean(known)) if known else None


def _scene_table(found: Sequence[Measured]) -> DataTable:
    """ΔE00 of what is clipped, scene by scene."""
    names = dict.fromkeys(name for each in found for name in each.ways)
    judged = [each for each in found if each.is_ahead is not None]
    behind = [each.scene for each in judged if not each.is_ahead]
    note = f"Ours is behind the best of other programs in {len(behind)} of {len(judged)} scenes."
    rows = [
        {"scene": each.scene, **{name: each.ways.get(name, {}).get("clipped") for name in names}}
        for each in found
    ]
    return table_of("Highlights by scene", {"scene": "", **dict.fromkeys(names, ".2f")}, rows, note)
