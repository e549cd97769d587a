"""A mosaic and its picture in few bytes: samples as they are stored, codes for what was not measured.

Of every pixel one colour stands in the mosaic; the other two are codes of 16 bits, equal steps that reach an
eighth beyond the samples on both sides. A step is a fifty-thousandth of the range of the samples: rounding
adds an error a hundred decibels below it. Where samples are noisy the third colour is estimated, too, and has
codes of its own. How far a second picture differs is kept in a byte for each code, with a relative step.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Float32, Places, Planes
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
            here, down, across = _find_within(places, rows, columns, self.shape)
            values[down, across] = instead[here]
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


def _find_within(
    places: Places, rows: slice, columns: slice, shape: tuple[int, ...]
) -> tuple[Places, Places, Places]:
    """Return which places, sorted by rows, lie in a window of the last two axes, and where in it they do."""
    (top, bottom, _), (left, right, _) = (
        part.indices(length) for part, length in zip((rows, columns), shape[-2:], strict=True)
    )
    first, last = np.searchsorted(places[:, 0], (top, bottom))
    here = first + np.flatnonzero((places[first:last, 1] >= left) & (places[first:last, 1] < right))
    return here, places[here, 0] - top, places[here, 1] - left


Codes = NDArray[np.uint16]

LAST_CODE = 65535
_BEYOND = 0.125  # of the range of the samples, on both sides
_LEAST_RANGE = 2.0**-10
_OTHERS = ((1, 2), (0, 2), (0, 1))  # the two channels besides each


@dataclass(frozen=True, slots=True)
class Quantiser:
    """Equal steps between values: code k stands for low + k step."""

    low: float
    step: float

    @classmethod
    def from_range(cls, least: float, largest: float) -> "Quantiser":
        """Return steps that hold all values from the least to the largest, and some beyond."""
        span = max(largest - least, _LEAST_RANGE)
        return cls(least - _BEYOND * span, (1 + 2 * _BEYOND) * span / LAST_CODE)

    def encode(self, values: Float32) -> Codes:
        """Return the nearest codes."""
        codes = (values - np.float32(self.low)) * np.float32(1 / self.step)
        codes += np.float32(0.5)
        return np.clip(codes, 0, LAST_CODE, out=codes).astype(np.uint16)

    def values(self, codes: Codes | Float32) -> Float32:
        """Return what codes stand for, or numbers between them."""
        values = codes.astype(np.float32)
        values *= np.float32(self.step)
        values += np.float32(self.low)
        return values


DifferenceCodes = NDArray[np.int8]

# Codes: what is kept of a difference d is off by at most a thirtieth of hypot(d, 40).
_LINEAR_PART = 40.0
_RATIO_STEP = np.arcsinh(LAST_CODE / _LINEAR_PART) / 127


@lru_cache
def _difference_tables() -> tuple[DifferenceCodes, Float32]:
    """Return a byte for every difference of two codes, from the least on, and what each byte stands for."""
    ratios = np.arange(-LAST_CODE, LAST_CODE + 1) / _LINEAR_PART
    encoded = np.rint(np.arcsinh(ratios) / _RATIO_STEP).astype(np.int8)
    every = np.arange(256).astype(np.int8)  # in the order of their bits
    return encoded, (_LINEAR_PART * np.sinh(every * _RATIO_STEP)).astype(np.float32)


def encode_difference(codes: Codes, others: Codes) -> DifferenceCodes:
    """Return how far codes lie above others, a byte each, the coarser the further they are apart."""
    apart = codes.astype(np.int32)
    apart -= others
    apart += LAST_CODE
    return np.take(_difference_tables()[0], apart)


def decode_difference(kept: DifferenceCodes) -> Float32:
    """Return the differences that bytes stand for, in codes."""
    return np.take(_difference_tables()[1], kept.view(np.uint8))


@dataclass(frozen=True, slots=True, eq=False)
class QuantisedPlanes:
    """A picture, (3, height, width), that is read and written window by window."""

    samples: MosaicSamples
    cfa: Cfa
    steps: Quantiser
    others: Codes  # (2, height, width): the two colours that are not measured at a pixel, the first first
    own: Codes | None = None  # (height, width): the measured one, where that is nowhere kept
    # Where else it is not kept: places, (count, 2), sorted by rows, and its codes there.
    freed: tuple[Places, Codes] | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width."""
        return 3, self.samples.shape[1], self.samples.shape[2]

    @property
    def size(self) -> int:
        """How many entries there are."""
        return 3 * self.samples.size

    def store_all(self) -> "QuantisedPlanes":
        """Return the same picture, all of whose measured entries can be written, too."""
        own = np.empty(self.shape[1:], np.uint16)
        for rows in row_bands(len(own)):
            own[rows] = self.steps.encode(self.samples.window(rows, slice(None)))
        return replace(self, own=own)

    def store_some(self, free: Flags) -> "QuantisedPlanes":
        """Return the same picture, a few of whose measured entries can be written, too, by their flags."""
        places = np.argwhere(free)
        codes = np.empty(len(places), np.uint16)
        for rows in row_bands(len(free)):
            here, down, across = _find_within(places, rows, slice(None), free.shape)
            if len(here):
                codes[here] = self.steps.encode(self.samples.window(rows, slice(None))[down, across])
        return replace(self, freed=(places, codes))

    def __getitem__(self, place: tuple[slice, ...], /) -> Planes:
        """Return a window of all channels, (3, rows, columns)."""
        rows, columns = self._window(place)
        return self.spread(
            self._read_measured(rows, columns),
            self.steps.values(self.others[:, rows, columns]),
            rows,
            columns,
        )

    def __setitem__(self, place: tuple[slice, ...], planes: Planes, /) -> None:
        """Write a window, (3, rows, columns); what is measured is not, where it is kept."""
        rows, columns = self._window(place)
        codes = self.steps.encode(planes)
        self.others[:, rows, columns] = self.pick_others(codes, rows, columns)
        if self.own is not None:
            for site, channel in self._sites_of(rows, columns):
                self.own[rows, columns][site] = codes[channel][site]
        if self.freed is not None:
            places, own = self.freed
            here, down, across = _find_within(places, rows, columns, self.shape)
            period = np.array(self.cfa.period)
            channels = self.cfa.pattern[tuple((places[here] % period).T)]
            own[here] = codes[channels, down, across]

    def pick_others(self, codes: Codes, rows: slice, columns: slice) -> Codes:
        """Return the codes of a window, (3, rows, columns), without those of what is measured."""
        others = np.empty((2, *codes.shape[1:]), np.uint16)
        for site, channel in self._sites_of(rows, columns):
            for which, other in enumerate(_OTHERS[channel]):
                others[which][site] = codes[other][site]
        return others

    def _sites_of(self, rows: slice, columns: slice) -> tuple[tuple[tuple[slice, slice], int], ...]:
        """Return the sites of the period in a window, and the channel measured at each."""
        return _sites(self.cfa, rows.start % self.cfa.period[0], columns.start % self.cfa.period[1])

    def spread(self, measured: Float32, others: Float32, rows: slice, columns: slice) -> Planes:
        """Return the planes of a window from what is measured there and the two other colours."""
        planes = np.empty((3, *measured.shape), np.float32)
        for site, channel in self._sites_of(rows, columns):
            planes[channel][site] = measured[site]
            for which, other in enumerate(_OTHERS[channel]):
                planes[other][site] = others[which][site]
        return planes

    def _read_measured(self, rows: slice, columns: slice) -> Float32:
        """Return the measured colour of a window, as measured where that is kept."""
        if self.own is not None:
            return self.steps.values(self.own[rows, columns])
        values = self.samples.window(rows, columns)
        if self.freed is not None:
            places, own = self.freed
            here, down, across = _find_within(places, rows, columns, self.shape)
            if len(here):
                values = values.copy()
                values[down, across] = self.steps.values(own[here])
        return values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the whole picture as an array."""
        return np.asarray(self[:, :, :], dtype)

    def _window(self, place: tuple[slice, ...]) -> tuple[slice, slice]:
        """Return rows and columns with their bounds."""
        _, height, width = self.shape
        rows, columns = (*place[1:], slice(None), slice(None))[:2]
        return slice(*rows.indices(height)[:2]), slice(*columns.indices(width)[:2])


@lru_cache
def _sites(cfa: Cfa, row: int, column: int) -> tuple[tuple[tuple[slice, slice], int], ...]:
    """Return the sites of the period in a window that starts there, and the channel measured at each."""
    down, across = cfa.period
    shifted = np.roll(cfa.pattern, (-row, -column), axis=(0, 1))
    return tuple(
        ((slice(y, None, down), slice(x, None, across)), int(channel))
        for (y, x), channel in np.ndenumerate(shifted)
    )
