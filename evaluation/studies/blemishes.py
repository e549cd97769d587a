"""How much of drawn dust, hairs and scratches is found, and how much else is taken for such.

A blemish is found if more than half of its core is marked. What is marked and touches no blemish is false;
in a clean picture everything is. Blemishes count that stand out of the picture around them clearly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import label

from demosaic_ntc.detection.blemishes import find_blemishes

from ..data.blemishes import KINDS, add_blemishes
from ..data.sets import SetImage
from ..report.tables import Cell, DataTable, table_of

DEVIATIONS = 5.0

_FOUND = 0.5  # of the core
_CORNERS = np.ones((3, 3), np.bool_)

# Columns of the table with their formats.
_PERCENTS = (*KINDS, "all spots", "covered", "precise")
_COLUMNS = {
    "pictures": "",
    **dict.fromkeys(_PERCENTS, ".1f"),
    "false per MP": ".2f",
    "clean": ".2f",
    "CPU s/MP": ".2f",
}
_NOTE = (
    f"percent found of blemishes that change luma by more than {DEVIATIONS:g} deviations of luma around, "
    "percent of their pixels covered; percent of marks that touch one, other marks per megapixel, and "
    "marks per megapixel of clean pictures"
)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What was found in a picture, and in the same one without blemishes."""

    found: tuple[tuple[str, bool], ...]  # kinds of the blemishes that stand out, and whether each was
    covered: tuple[float, ...]  # the share of its pixels that is marked, of those found
    marked: int  # connected marks
    false: int  # of them that touch no blemish
    false_clean: int
    megapixels: float
    cpu_seconds: float


def search(clean: NDArray[np.uint8], sensitivity: float, generator: np.random.Generator) -> SearchResult:
    """Draw blemishes on a clean picture (height, width, 3) and look for them; then look without them."""
    scene = add_blemishes(clean, generator)
    start = process_time()
    flags = find_blemishes(scene.pixels, sensitivity=sensitivity)
    seconds = process_time() - start
    counted = [each for each in scene.blemishes if each.deviations > DEVIATIONS]
    found = [bool(flags[each.box][each.core].mean() > _FOUND) for each in counted]
    covered = [
        flags[each.box][each.whole].mean() for each, is_found in zip(counted, found, strict=True) if is_found
    ]
    marks, count = label(flags, _CORNERS)
    touched = {int(n) for each in scene.blemishes for n in np.unique(marks[each.box][each.whole])} - {0}
    return SearchResult(
        tuple(zip((each.kind for each in counted), found, strict=True)),
        tuple(map(float, covered)),
        marked=count,
        false=count - len(touched),
        false_clean=int(label(find_blemishes(clean, sensitivity=sensitivity), _CORNERS)[1]),
        megapixels=flags.size / 1e6,
        cpu_seconds=seconds,
    )


def search_pictures(
    pictures: Sequence[SetImage], sensitivity: float, seeds: Sequence[int]
) -> list[SearchResult]:
    """Look for blemishes in pictures, each with other ones for every seed."""
    return [
        search(picture.pixels(), sensitivity, np.random.default_rng([seed, number]))
        for number, picture in enumerate(pictures)
        for seed in seeds
    ]


def table(results: Sequence[tuple[str, Sequence[SearchResult]]]) -> DataTable:
    """What was found in sets of pictures."""
    rows = (_row(name, searches) for name, searches in results)
    return table_of("dust, hairs and scratches found", _COLUMNS, rows, _NOTE)


def _row(name: str, searches: Sequence[SearchResult]) -> dict[str, Any]:
    """The figures of a set."""
    pairs = [pair for each in searches for pair in each.found]

    def total(quantity: str) -> float:
        return float(sum(getattr(each, quantity) for each in searches))

    def percent(shares: Sequence[float]) -> Any:
        return 100 * float(np.mean(shares)) if shares else Cell("–")

    return {
        "pictures": name,
        **{kind: percent([found for k, found in pairs if k == kind]) for kind in KINDS},
        "all spots": percent([found for kind, found in pairs if kind.endswith("spots")]),
        "covered": percent([share for each in searches for share in each.covered]),
        "precise": 100 * (1 - total("false") / max(total("marked"), 1)),
        "false per MP": total("false") / total("megapixels"),
        "clean": total("false_clean") / total("megapixels"),
        "CPU s/MP": total("cpu_seconds") / total("megapixels"),
    }
