"""How far an estimate is from the truth, without holding a large tensor.

The normalised mean squared error is NMSE = ‖estimate − truth‖² / ‖truth‖² over all entries (Frobenius
norms). For sums of rank-one tensors ⟨A, B⟩ = Σ_st a_s b_t Π_i ⟨A_i[s], B_i[t]⟩, so the cost depends on
the number of terms and the mode sizes, not on the number of entries. The difference of two tensors is
such a sum too; its squared norm is exact to about 1e-15 of ‖truth‖², and so is the NMSE.
"""

import numpy as np

from .tensors import Floats, RankOneSum

#: An NMSE below this cannot be told from zero.
RESOLUTION = 1e-15

# Rows of a Gram matrix computed at once: 512 × 10,000 terms are 40 MB.
_BLOCK = 512


def inner(a: RankOneSum, b: RankOneSum) -> float:
    """The inner product of two tensors from their factors."""
    total = 0.0
    for start in range(0, len(a.weights), _BLOCK):
        block = slice(start, start + _BLOCK)
        gram = np.ones((len(a.weights[block]), len(b.weights)))
        for left, right in zip(a.factors, b.factors, strict=True):
            gram *= left[block] @ right.T
        total += float(a.weights[block] @ gram @ b.weights)
    return total


def nmse(estimate: RankOneSum | Floats, truth: RankOneSum) -> float:
    """The normalised mean squared error of an estimate over the whole tensor."""
    if isinstance(estimate, RankOneSum):
        squared_error = squared_norm(difference(estimate, truth))
    else:
        squared_error = float(np.sum(np.square(estimate - truth.dense())))
    return squared_error / squared_norm(truth)


def squared_norm(tensor: RankOneSum) -> float:
    """The sum of the squared entries; rounding below zero is cut off."""
    return max(inner(tensor, tensor), 0.0)


def difference(a: RankOneSum, b: RankOneSum) -> RankOneSum:
    """The sum of rank-one tensors that equals a − b."""
    factors = tuple(np.concatenate(pair) for pair in zip(a.factors, b.factors, strict=True))
    return RankOneSum(np.concatenate([a.weights, -b.weights]), factors)
