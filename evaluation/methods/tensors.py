"""What the completion experiments pass around: sums of rank-one tensors and the samples taken from them.

A sum of rank-one tensors has the entries Σ_s weight_s Π_i factor_i[s, x_i]. Truths, solutions of
`demosaic_ntc.complete`, results of alternating least squares and constants are all of this form, and
are never expanded unless they are small.

How far an estimate is from the truth is told by NMSE = ‖estimate − truth‖² / ‖truth‖² over all entries
(Frobenius norms). For sums of rank-one tensors ⟨A, B⟩ = Σ_st a_s b_t Π_i ⟨A_i[s], B_i[t]⟩: the cost depends
on the number of terms and the mode sizes, not on the number of entries. The difference of two tensors is such
a sum too; its squared norm is exact to about 1e-15 of ‖truth‖², and so is the NMSE.
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

#: An NMSE below this cannot be told from zero.
RESOLUTION = 1e-15

# Rows of a Gram matrix computed at once: 512 × 10,000 terms are 40 MB.
_BLOCK = 512


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
class TensorSamples:
    """Entries drawn from a tensor, (n, modes) indices and n values; a cell may appear more than once."""

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


def average_cells(samples: TensorSamples) -> tuple[Floats, Flags]:
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


def constant_mean(samples: TensorSamples) -> RankOneSum:
    """The mean of the samples in every cell: what any method with a model must beat."""
    ones = tuple(np.ones((1, size)) for size in samples.shape)
    return RankOneSum(np.array([samples.value.mean()]), ones)


def mean_elsewhere(samples: TensorSamples) -> Floats:
    """The observed cells as they are and their mean in all others.

    This is what the figures of arXiv:2111.04580 under TNCP measure. The code of its authors runs SiLRTC
    first; the package writes that method's starting value, the mean, into the missing cells of the
    caller's array, TNCP is then handed the same array, finds nothing missing and returns it.
    """
    refuse_beyond(DENSE_BYTES, samples.shape, copies=4, method="the filled tensor")
    return fill_with_mean(*average_cells(samples))


def fill_with_mean(known: Floats, is_known: Flags) -> Floats:
    """A tensor with the mean of its known cells in the others."""
    return np.where(is_known, known, np.mean(known[is_known]))


def nmse(estimate: RankOneSum | Floats, truth: RankOneSum) -> float:
    """The normalised mean squared error of an estimate over the whole tensor."""
    if isinstance(estimate, RankOneSum):
        squared_error = _sum_squares(difference(estimate, truth))
    else:
        squared_error = float(np.sum(np.square(estimate - truth.dense())))
    return squared_error / _sum_squares(truth)


def inner(a: RankOneSum, b: RankOneSum) -> float:
    """The inner product of two tensors from their factors."""
    total = 0.0
    for start in range(0, len(a.weights), _BLOCK):
        block = slice(start, start + _BLOCK)
        gram = column_products(
            [left[block] @ right.T for left, right in zip(a.factors, b.factors, strict=True)]
        )
        total += float(a.weights[block] @ gram @ b.weights)
    return total


def _sum_squares(tensor: RankOneSum) -> float:
    """The sum of the squared entries; rounding below zero is cut off."""
    return max(inner(tensor, tensor), 0.0)


def difference(a: RankOneSum, b: RankOneSum) -> RankOneSum:
    """The sum of rank-one tensors that equals a − b."""
    factors = tuple(np.concatenate(pair) for pair in zip(a.factors, b.factors, strict=True))
    return RankOneSum(np.concatenate([a.weights, -b.weights]), factors)
