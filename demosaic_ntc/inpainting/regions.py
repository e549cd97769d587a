"""A damaged picture cut into regions around its holes: what is whole is not looked at."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags
from demosaic_ntc.engine.tiles import Tile

Box = tuple[int, int, int, int]  # top, bottom, left, right

MARGIN = 48  # pixels seen around a region: what its patches and those they match can reach

_SMALL, _LARGE = 160, 1024  # sides: below the first a box is never cut, above the second always
_DENSE = 0.05  # share of missing pixels from which no cut is tried
_OVERHEAD = 20_000  # pixels that could be looked at in the time that one more region costs


def find_damaged_regions(missing: Flags) -> Iterator[Tile]:
    """Yield regions that hold all missing pixels, each of them once."""
    height, width = missing.shape
    for box in _cheapest_cover(missing, (0, height, 0, width)):
        (top, bottom, left, right), (rows, columns) = box, _view_box(missing, box)
        inner_rows = slice(top - rows.start, bottom - rows.start)
        inner_columns = slice(left - columns.start, right - columns.start)
        yield Tile((slice(top, bottom), slice(left, right)), (rows, columns), (inner_rows, inner_columns))


def _cheapest_cover(missing: Flags, box: Box) -> list[Box]:
    """Return boxes around the missing pixels in a box: one, or those of its halves if that is less work."""
    whole = _shrunk(missing, box)
    if whole is None:
        return []
    top, bottom, left, right = whole
    longest, share = max(bottom - top, right - left), missing[top:bottom, left:right].mean()
    if longest <= _SMALL or (longest <= _LARGE and share >= _DENSE):
        return [whole]
    parts = [part for half in _halves(missing, whole) for part in _cheapest_cover(missing, half)]
    if longest <= _LARGE and _work(missing, whole) <= sum(_work(missing, part) for part in parts):
        return [whole]
    return parts


def _work(missing: Flags, box: Box) -> int:
    """Return what a region costs, in pixels looked at."""
    rows, columns = _view_box(missing, box)
    return int((rows.stop - rows.start) * (columns.stop - columns.start)) + _OVERHEAD


def _view_box(missing: Flags, box: Box) -> tuple[slice, slice]:
    """Return the rows and columns that a box looks at."""
    (height, width), (top, bottom, left, right) = missing.shape, box
    rows = slice(max(top - MARGIN, 0), min(bottom + MARGIN, height))
    return rows, slice(max(left - MARGIN, 0), min(right + MARGIN, width))


def _shrunk(missing: Flags, box: Box) -> Box | None:
    """Return the least box around the missing pixels in a box, if there are any."""
    top, bottom, left, right = box
    rows = np.flatnonzero(missing[top:bottom, left:right].any(axis=1))
    if rows.size == 0:
        return None
    columns = np.flatnonzero(missing[top:bottom, left:right].any(axis=0))
    return top + int(rows[0]), top + int(rows[-1]) + 1, left + int(columns[0]), left + int(columns[-1]) + 1


def _halves(missing: Flags, box: Box) -> tuple[Box, Box]:
    """Cut a box across its longer side, through few missing pixels."""
    top, bottom, left, right = box
    inside = missing[top:bottom, left:right]
    if inside.shape[0] >= inside.shape[1]:
        cut = top + _best_cut(inside.sum(axis=1))
        return (top, cut, left, right), (cut, bottom, left, right)
    cut = left + _best_cut(inside.sum(axis=0))
    return (top, bottom, left, cut), (top, bottom, cut, right)


def _best_cut(counts: NDArray[np.int_]) -> int:
    """Return where the fewest missing pixels lie on the cut, in the middle half and close to the middle."""
    places = np.arange(len(counts) // 4, 3 * len(counts) // 4)
    middle = abs(places - len(counts) // 2)
    return int(places[np.lexsort((middle, counts[places]))[0]])
