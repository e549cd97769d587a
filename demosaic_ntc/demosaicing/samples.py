"""The samples of a mosaic as they are stored: small numbers, and what each of them is worth at its site."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Float32, Places
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.engine.tiles import row_bands
from demosaic_ntc.run import imap_threads

_NOTHING = (np.zeros((0, 2), np.int64), np.zeros(0, np.float32))


@dataclass(frozen=True, slots=True, eq=False)
class MosaicSamples:
    """A mosaic with full scale 1 that is read window by window.

    What is stored are the values themselves, float32, or numbers of 16 bits with tables of their values, one
    for each site of a period that is anchored at the top left.
    """

    stored: NDArray[Any]  # (height, width)
    tables: Mapping[tuple[int, int], Float32] = field(default_factory=dict)
    period: tuple[int, int] = (1, 1)
    adjust: Callable[[Float32, slice, slice], Float32] | None = None  # values of some rows and columns
    mended: tuple[Places, Float32] = _NOTHING  # other values at some places, (count, 2), sorted by rows

    @property
    def shape(self) -> tuple[int, int, int]:
        """One plane, its height and width."""
        return 1, self.stored.shape[0], self.stored.shape[1]

    @property
    def size(self) -> int:
        """How many samples there are."""
        return int(self.stored.size)

    def __getitem__(self, place: tuple[slice, slice, slice], /) -> Float32:
        """Return a window of the one plane, (1, rows, columns)."""
        return self.window(place[1], place[2])[None]

    def window(self, rows: slice, columns: slice) -> Float32:
        """Return the values in a window, (rows, columns), contiguous."""
        values = self._plain(rows, columns)
        places, instead = self.mended
        if len(places):
            (top, bottom, _), (left, right, _) = (
                part.indices(length) for part, length in zip((rows, columns), self.shape[1:], strict=True)
            )
            some = slice(*np.searchsorted(places[:, 0], (top, bottom)))
            here = (places[some, 1] >= left) & (places[some, 1] < right)
            down, across = places[some][here].T
            values[down - top, across - left] = instead[some][here]
        return values

    def _plain(self, rows: slice, columns: slice) -> Float32:
        """Return the values in a window as they are stored."""
        part = self.stored[rows, columns]
        if not self.tables:
            return (
                np.array(part, np.float32) if len(self.mended[0]) else np.ascontiguousarray(part, np.float32)
            )
        values = np.empty(part.shape, np.float32)
        down, across = self.period
        top, left = rows.start or 0, columns.start or 0
        for (y, x), table in self.tables.items():
            site = slice((y - top) % down, None, down), slice((x - left) % across, None, across)
            values[site] = np.take(table, part[site], mode="clip")
        if self.adjust is None:
            return values
        return self.adjust(values, slice(top, top + part.shape[0]), slice(left, left + part.shape[1]))

    def whole(self) -> Float32:
        """Return all values, (height, width)."""
        return self.window(slice(None), slice(None))

    def extremes(self, cfa: Cfa, missing: Flags | None = None, threads: int = 1) -> tuple[Float32, Float32]:
        """Return the least and the largest value of each channel, (3) each; infinite where there is none."""

        def look(rows: slice) -> tuple[Float32, Float32]:
            low, high = np.full(3, np.inf, np.float32), np.full(3, -np.inf, np.float32)
            values = self.window(rows, slice(None))
            for (y, x), channel in np.ndenumerate(cfa.pattern):
                site = slice(y, None, cfa.period[0]), slice(x, None, cfa.period[1])
                own = values[site] if missing is None else values[site][~missing[rows][site]]
                low[channel] = min(low[channel], own.min(initial=np.inf))
                high[channel] = max(high[channel], own.max(initial=-np.inf))
            return low, high

        found = imap_threads(look, row_bands(self.stored.shape[0], cfa.period[0]), threads)
        low, high = (np.array(each, np.float32) for each in zip(*found, strict=True))
        return low.min(axis=0), high.max(axis=0)
