"""Parts of a picture: bands of rows, tiles that see a margin around them, flags grown by a rim."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, Protocol

import numpy as np

from demosaic_ntc.arrays import Bits, Flags, Float32

TILE_SIDE = 768  # the margin costs 30 % there, and a tile's intermediate arrays some 100 MB
_SMALL = (320, 128)  # sides of small tiles
_BAND = 64  # rows that are worked on together: few enough to stay in a processor's cache
_TALL_BAND = 256  # rows of flags, which take a byte each


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
    axes = []
    for length, own in zip(shape, period, strict=True):
        # All of about the same length, for a narrow last one would be little but margin.
        step = -(-length // (-(-length // side) * own)) * own
        starts = range(0, length, step)
        axes.append([span(start, min(start + step, length), margin, own, length) for start in starts])
    for rows, columns in product(*axes):
        core, seen, inner = zip(rows, columns, strict=True)
        yield Tile(core, seen, inner)


def span(start: int, stop: int, margin: int, period: int, length: int) -> tuple[slice, slice, slice]:
    """Return a stretch, what it looks at from a multiple of the period on, and the first in the second."""
    first, last = max(start - margin, 0) // period * period, min(stop + margin, length)
    return slice(start, stop), slice(first, last), slice(start - first, stop - first)


def overlap(one: tuple[slice, slice], other: tuple[slice, slice]) -> tuple[slice, slice] | None:
    """Return what two boxes share, if they share anything."""
    rows, columns = (
        slice(max(a.start, b.start), min(a.stop, b.stop)) for a, b in zip(one, other, strict=True)
    )
    return (rows, columns) if rows.start < rows.stop and columns.start < columns.stop else None


def within(part: tuple[slice, slice], whole: tuple[slice, slice]) -> tuple[slice, slice]:
    """Return where a part lies in a whole."""
    rows, columns = (
        slice(inner.start - outer.start, inner.stop - outer.start)
        for inner, outer in zip(part, whole, strict=True)
    )
    return rows, columns


@dataclass(frozen=True, slots=True, eq=False)
class BitFlags:
    """Flags of a picture, (height, width), kept as one bit of the bytes of a plane, which others share."""

    plane: Bits
    value: np.uint8  # of the bit

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        height, width = self.plane.shape
        return height, width

    def __getitem__(self, place: tuple[slice, slice], /) -> Flags:
        """Return the flags of a window."""
        return np.asarray((self.plane[place] & self.value) != 0, np.bool_)

    def __setitem__(self, place: tuple[slice, slice], flags: Flags | bool, /) -> None:
        """Set or clear the flags of a window; the other bits of its bytes stay."""
        window = self.plane[place]
        window &= ~self.value
        window |= np.asarray(flags).astype(np.uint8) * self.value


def around_flagged(flags: Flags | BitFlags, tile: Tile, period: tuple[int, int], halo: int) -> list[Tile]:
    """Return tiles, each with a halo, that hold the flagged pixels that a tile sees: one, or small ones.

    What is computed at a pixel is the same in all; they are of the side with which they see least together.
    """
    ways = [_around(flags, tile.seen, period, halo)]
    for side in _SMALL:
        rows, columns = ([*range(axis.start, axis.stop, side), axis.stop] for axis in tile.seen)
        places = product(pairwise(rows), pairwise(columns))
        ways.append(
            [
                part
                for down, across in places
                for part in _around(flags, (slice(*down), slice(*across)), period, halo)
            ]
        )
    return min(ways, key=lambda parts: sum(part.work for part in parts))


def _around(
    flags: Flags | BitFlags, place: tuple[slice, slice], period: tuple[int, int], halo: int
) -> list[Tile]:
    """Return the tile around the flagged pixels in a place, with its own halo, if there are any."""
    window = flags[place]
    if not window.any():
        return []
    rows, columns = (np.flatnonzero(window.any(axis=axis)) for axis in (1, 0))
    spans = [
        span(axis.start + int(found[0]), axis.start + int(found[-1]) + 1, halo, step, length)
        for axis, found, step, length in zip(place, (rows, columns), period, flags.shape, strict=True)
    ]
    core, seen, inner = zip(*spans, strict=True)
    return [Tile(core, seen, inner)]


def row_bands(height: int, period: int = 1) -> list[slice]:
    """Return the rows of a picture, a few at a time: whole periods of them."""
    tall = -(-_BAND // period) * period
    return [slice(top, min(top + tall, height)) for top in range(0, height, tall)]


def close_to(flags: Flags, pixels: int) -> Flags:
    """Return which pixels are flagged or have a flag no more than so many rows and columns away."""
    close = np.zeros_like(flags)
    for top in range(0, len(flags), _TALL_BAND):
        first, bottom = max(top - pixels, 0), min(top + _TALL_BAND, len(flags))
        seen = flags[first : bottom + pixels]
        if seen.any():
            tall = _any_along_rows(seen, pixels)[top - first : bottom - first]
            close[top:bottom] = _any_along_rows(tall.T, pixels).T
    return close


def _any_along_rows(flags: Flags, pixels: int) -> Flags:
    """Return which flags have one no more than so many rows away, or are set.

    Windows of one length give those of twice the length; two that overlap give any length between.
    """
    length, stretch = 2 * pixels + 1, 1
    held = np.pad(flags, ((pixels, pixels), (0, 0)))
    while 2 * stretch <= length:
        held = held[:-stretch] | held[stretch:]
        stretch *= 2
    return held if stretch == length else held[: stretch - length] | held[length - stretch :]


class Windowed(Protocol):
    """Planes, (channels, height, width), that are read window by window."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Channels, height and width."""

    @property
    def size(self) -> int:
        """How many entries there are."""

    def __getitem__(self, place: tuple[slice, slice, slice], /) -> Any:
        """Return a window, float32, (channels, rows, columns)."""


class WritableWindowed(Windowed, Protocol):
    """Planes that are written window by window, too."""

    def __setitem__(self, place: tuple[slice, slice, slice], values: Float32, /) -> None:
        """Write a window, (channels, rows, columns)."""
