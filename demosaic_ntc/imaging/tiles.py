"""A picture cut into tiles that see a margin around them, for steps whose support is finite."""

from collections.abc import Iterator
from dataclasses import dataclass

TILE_SIDE = 1280  # the margin costs 40 % there, and a tile's intermediate arrays some 500 MB


@dataclass(frozen=True, slots=True)
class Tile:
    """Rows and columns that a tile computes, those it looks at, and the first within the second."""

    core: tuple[slice, slice]
    seen: tuple[slice, slice]
    inner: tuple[slice, slice]

    @property
    def work(self) -> int:
        """How many pixels it looks at: tiles at the border are smaller than others."""
        rows, columns = self.seen
        return int((rows.stop - rows.start) * (columns.stop - columns.start))


def tiles_of(
    shape: tuple[int, int], margin: int, period: tuple[int, int], side: int = TILE_SIDE
) -> Iterator[Tile]:
    """Cut a picture into tiles; what each looks at starts at a multiple of the colour array's period."""
    for rows in _spans(shape[0], margin, period[0], side):
        for columns in _spans(shape[1], margin, period[1], side):
            (core_r, seen_r, inner_r), (core_c, seen_c, inner_c) = rows, columns
            yield Tile((core_r, core_c), (seen_r, seen_c), (inner_r, inner_c))


def _spans(length: int, margin: int, period: int, side: int) -> Iterator[tuple[slice, slice, slice]]:
    step = max(side // period, 1) * period
    for start in range(0, length, step):
        stop = min(start + step, length)
        yield span(start, stop, margin, period, length)


def span(start: int, stop: int, margin: int, period: int, length: int) -> tuple[slice, slice, slice]:
    """Return a stretch, what it looks at from a multiple of the period on, and the first in the second."""
    first, last = max(start - margin, 0) // period * period, min(stop + margin, length)
    return slice(start, stop), slice(first, last), slice(start - first, stop - first)
