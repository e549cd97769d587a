"""What the completion experiments pass around: sums of rank-one tensors and the samples taken from them.

A sum of rank-one tensors has the entries Σ_s weight_s Π_i factor_i[s, x_i]. Truths, solutions of
`demosaic_ntc.complete`, results of alternating least squares and constants are all of this form, and
are never expanded unless they are small.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.errors import TooLarge

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: Memory a dense method may take for its arrays, in bytes; what needs more is refused with the numbers.
DENSE_BYTES = 2 * 1024**3


@dataclass(frozen=True, slots=True)
class RankOneSum:
    """A tensor as the weighted sum of s outer products; `factors[i]` has the shape (s, r_i)."""

    weights: Floats
    factors: tuple[Floats, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each mode."""
        return tuple(factor.shape[1] for factor in self.factors)

    def at(self, index: Indices) -> Floats:
        """The entries at the rows of an (n, modes) array of indices."""
        return self.weights @ column_products([f[:, index[:, i]] for i, f in enumerate(self.factors)])

    def dense(self) -> Floats:
        """All entries, as one matrix product of the leading modes with the trailing ones."""
        refuse_beyond(DENSE_BYTES, self.shape, copies=1, method="a dense tensor")
        half = len(self.factors) // 2
        leading = outer_rows(self.factors[:half], self.weights)
        trailing = outer_rows(self.factors[half:], np.ones_like(self.weights))
        return (leading.T @ trailing).reshape(self.shape)


@dataclass(frozen=True, slots=True)
class Samples:
    """Entries drawn from a tensor; the same cell may appear more than once."""

    shape: tuple[int, ...]
    index: Indices
    value: Floats


def column_products(matrices: Sequence[Floats]) -> Floats:
    """The elementwise product of equally shaped matrices."""
    product = matrices[0].copy()
    for matrix in matrices[1:]:
        product *= matrix
    return product


def outer_rows(factors: Sequence[Floats], weights: Floats) -> Floats:
    """Row by row the outer product of the factors, flattened, times the row's weight: (s, Π r_i)."""
    rows = weights[:, None]
    for factor in factors:
        rows = (rows[:, :, None] * factor[:, None, :]).reshape(len(weights), -1)
    return rows


def observed(samples: Samples) -> tuple[Floats, Flags]:
    """The dense tensor with the mean of each observed cell, zero elsewhere, and where it was observed."""
    cells = np.ravel_multi_index(tuple(samples.index.T), samples.shape)
    size = math.prod(samples.shape)
    count = np.bincount(cells, minlength=size)
    total = np.bincount(cells, weights=samples.value, minlength=size)
    mean = np.divide(total, count, out=total, where=count > 0)
    return mean.reshape(samples.shape), (count > 0).reshape(samples.shape)


def refuse_beyond(limit: int, shape: tuple[int, ...], *, copies: int, method: str) -> None:
    """Raise `TooLarge` with the numbers when a dense method would not fit in `limit` bytes."""
    needed = 8 * copies * math.prod(shape)
    if needed > limit:
        size = " × ".join(map(str, shape))
        raise TooLarge(
            f"{method} for {size} entries needs {needed / 1024**3:.1f} GiB of the {limit / 1024**3:.1f} GiB"
            " that it may take; choose a smaller tensor or a method that works on the observed entries"
        )
