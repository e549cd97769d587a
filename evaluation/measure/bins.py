"""How well expected errors agree with true ones: entries sorted by the expected error into bins of one size.

A picture gives a histogram over narrow classes of the expected error, sixteen to the octave. Histograms add
up, so no picture is held longer than it takes to count it. Bins of equal numbers of entries are cut from the
sum; a class that lies across a cut is shared in proportion.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: How far the true error may be from the expected one, in bins with at least this share of the squared error.
TOLERANCE, LEAST_SHARE = 0.3, 0.01

BINS = 10

# Classes of the expected error, in code values of 8 bit: from 2^-12 to 2^8, the outermost with all beyond.
_PER_OCTAVE, _LOWEST, _HIGHEST = 16, -12, 8
CLASSES = _PER_OCTAVE * (_HIGHEST - _LOWEST)


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Entries by class of their expected error, from the smallest: `CLASSES` numbers each."""

    counts: Floats  # of entries
    expected: Floats  # sums of squares of the expected errors, in code values of 8 bit
    true: Floats  # sums of squares of the true errors

    @classmethod
    def of(cls, expected: NDArray[np.float32], true: NDArray[np.float32]) -> "Histogram":
        """The histogram of entries with these expected errors (from 0 up) and true errors, one axis each."""
        with np.errstate(divide="ignore"):
            place = (np.log2(expected.astype(np.float64)) - _LOWEST) * _PER_OCTAVE
        number = np.clip(place, 0, CLASSES - 1).astype(np.intp)

        def summed(weights: NDArray[np.float32] | None) -> Floats:
            squares = None if weights is None else np.square(weights, dtype=np.float64)
            return np.bincount(number, squares, minlength=CLASSES).astype(np.float64)

        return cls(summed(None), summed(expected), summed(true))

    @classmethod
    def total(cls, parts: Iterable["Histogram"]) -> "Histogram":
        """All entries of some histograms."""
        total = cls(np.zeros(CLASSES), np.zeros(CLASSES), np.zeros(CLASSES))
        for part in parts:
            total.add(part)
        return total

    def add(self, part: "Histogram") -> None:
        """Count the entries of another histogram as well."""
        for column, more in zip(self.columns, part.columns, strict=True):
            column += more

    @property
    def columns(self) -> tuple[Floats, Floats, Floats]:
        """Counts and both sums, class by class."""
        return self.counts, self.expected, self.true


@dataclass(frozen=True, slots=True)
class Bin:
    """A share of the entries, those whose expected errors lie next to each other."""

    entries: float
    expected: float  # root mean square of the expected errors, in code values
    true: float  # root mean square of the true ones
    share: float  # of all squared errors

    @property
    def ratio(self) -> float | None:
        """The true error over the expected one; None where none is expected."""
        return self.true / self.expected if self.expected > 0 else None

    @property
    def counts(self) -> bool:
        """Whether enough of the squared error is here for the bin to be judged."""
        return self.share >= LEAST_SHARE

    @property
    def agrees(self) -> bool:
        """Whether the true error is as expected, within the tolerance."""
        return self.ratio is not None and abs(self.ratio - 1) <= TOLERANCE


def bins_of(histogram: Histogram, number: int = BINS) -> list[Bin]:
    """The entries in bins of one size, from the smallest expected errors to the largest."""
    entries, whole = float(histogram.counts.sum()), float(histogram.true.sum())
    if entries == 0:
        return []
    cuts = np.linspace(0, entries, number + 1)
    before = _cumulated(histogram.counts)
    parts = [np.diff(np.interp(cuts, before, _cumulated(column))) for column in histogram.columns]
    return [
        Bin(count, sqrt(expected / count), sqrt(true / count), true / whole if whole else 0.0)
        for count, expected, true in zip(*(np.maximum(part, 0).tolist() for part in parts), strict=True)
    ]


def _cumulated(column: Floats) -> Floats:
    """The sums up to each class, from none."""
    return np.concatenate([[0.0], column.cumsum()])
