"""A damaged picture cut into regions around its holes: what is whole is not looked at."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.imaging.tiles import Tile

Flags = NDArray[np.bool_]
Box = tuple[int, int, int, int]  # top, bottom, left, right

MARGIN = 48  # pixels seen around a region: what its patches and those they match can reach

_SMALL, _LARGE = 160, 2048  # sides: below the first a box is never cut, above the second always
_DENSE = 0.05  # share of missing pixels from which cutting further saves nothing


def damaged_regions(missing: Flags) -> Iterator[Tile]:
    """Yield regions that hold all missing pixels, each of them once."""
    height, width = missing.shape
    for top, bottom, left, right in _boxes(missing, (0, height, 0, width)):
        seen_rows = slice(max(top - MARGIN, 0), min(bottom + MARGIN, height))
        seen_columns = slice(max(left - MARGIN, 0), min(right + MARGIN, width))
        inner_rows = slice(top - seen_rows.start, bottom - seen_rows.start)
        inner_columns = slice(left - seen_columns.start, right - seen_columns.start)
        core = slice(top, bottom), slice(left, right)
        yield Tile(core, (seen_rows, seen_columns), (inner_rows, inner_columns))


def _boxes(missing: Flags, box: Box) -> Iterator[Box]:
    """Shrink a box to its missing pixels and cut it in two, again and again, while that saves work."""
    top, bottom, left, right = box
    rows = np.flatnonzero(missing[top:bottom, left:right].any(axis=1))
    if rows.size == 0:
        return
    columns = np.flatnonzero(missing[top:bottom, left:right].any(axis=0))
    top, bottom = top + int(rows[0]), top + int(rows[-1]) + 1
    left, right = left + int(columns[0]), left + int(columns[-1]) + 1
    inside = missing[top:bottom, left:right]
    longest = max(inside.shape)
    if longest <= _SMALL or (longest <= _LARGE and inside.mean() >= _DENSE):
        yield top, bottom, left, right
    elif inside.shape[0] >= inside.shape[1]:
        cut = top + _best_cut(inside.sum(axis=1))
        yield from _boxes(missing, (top, cut, left, right))
        yield from _boxes(missing, (cut, bottom, left, right))
    else:
        cut = left + _best_cut(inside.sum(axis=0))
        yield from _boxes(missing, (top, bottom, left, cut))
        yield from _boxes(missing, (top, bottom, cut, right))


def _best_cut(counts: NDArray[np.int_]) -> int:
    """Return where the fewest missing pixels lie on the cut, in the middle half and close to the middle."""
    places = np.arange(len(counts) // 4, 3 * len(counts) // 4)
    middle = abs(places - len(counts) // 2)
    return int(places[np.lexsort((middle, counts[places]))[0]])
