"""How much of drawn dust, hairs and scratches is found, and how much else is taken for such.

A blemish is found if more than half of its core is marked. What is marked and touches no blemish is false;
in a clean picture everything is. Blemishes count that stand out of the picture around them clearly.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import process_time

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import label

from demosaic_ntc.imaging.flaws.blemishes import find_blemishes

from ..data.blemishes import Blemish, damaged
from ..data.sets import Picture

DEVIATIONS = 5.0

Flags = NDArray[np.bool_]

_FOUND = 0.5  # of the core
_CORNERS = np.ones((3, 3), np.bool_)


@dataclass(frozen=True, slots=True)
class Search:
    """What was found in a picture, and in the same one without blemishes."""

    counted: tuple[str, ...]  # kinds of the blemishes that stand out
    found: tuple[bool, ...]  # whether each was
    covered: tuple[float, ...]  # the share of its pixels that is marked, of those found
    marked: int  # connected marks
    false: int  # of them that touch no blemish
    false_clean: int
    megapixels: float
    cpu_seconds: float


def search(clean: NDArray[np.uint8], sensitivity: float, generator: np.random.Generator) -> Search:
    """Draw blemishes on a clean picture (height, width, 3) and look for them; then look without them."""
    scene = damaged(clean, generator)
    start = process_time()
    flags = find_blemishes(scene.pixels, sensitivity=sensitivity)
    seconds = process_time() - start
    counted = [each for each in scene.blemishes if each.deviations > DEVIATIONS]
    found = [bool(flags[each.box][each.core].mean() > _FOUND) for each in counted]
    marks, count = label(flags, _CORNERS)
    return Search(
        counted=tuple(each.kind for each in counted),
        found=tuple(found),
        covered=tuple(
            float(flags[each.box][each.whole].mean())
            for each, is_found in zip(counted, found, strict=True)
            if is_found
        ),
        marked=count,
        false=count - _touching(marks, scene.blemishes),
        false_clean=int(label(find_blemishes(clean, sensitivity=sensitivity), _CORNERS)[1]),
        megapixels=flags.size / 1e6,
        cpu_seconds=seconds,
    )


def _touching(marks: NDArray[np.int32], blemishes: Iterable[Blemish]) -> int:
    """How many of the numbered marks touch a blemish."""
    touched = {int(number) for each in blemishes for number in np.unique(marks[each.box][each.whole])}
    return len(touched - {0})


def search_pictures(
    pictures: Iterable[Picture], sensitivity: float, seeds: Sequence[int]
) -> Iterable[Search]:
    """Look for blemishes in pictures, each with other ones for every seed."""
    for number, picture in enumerate(pictures):
        for seed in seeds:
            yield search(picture.pixels(), sensitivity, np.random.default_rng([seed, number]))
