"""Trace norm regularised CP decomposition (TNCP) by the alternating direction method of multipliers.

Y. Liu, F. Shang, L. Jiao, J. Cheng, H. Cheng, *Trace Norm Regularized CANDECOMP/PARAFAC Decomposition
With Missing Data*, IEEE Transactions on Cybernetics 45 (2015), 2437-2448, doi:10.1109/TCYB.2014.2374695.

The problem is min Σ_i α_i ‖Z_i‖_* + 1/2 ‖X − ⟦U_1, …, U_p⟧‖² with Z_i = U_i and X fixed on the observed
cells. With multipliers Y_i and a step η that grows by the factor ρ, an iteration is

    Z_i = the matrix U_i − Y_i/η with its singular values shrunk by α_i/η
    U_i = (X_(i) B_i + η Z_i + Y_i) (B_iᵀ B_i + η I)⁻¹,   B_i the Khatri-Rao product of the other U
    X   = ⟦U_1, …, U_p⟧ on the missing cells
    Y_i = Y_i + η (Z_i − U_i).

The package that arXiv:2111.04580 used has max(S, α_i/η), which raises the small singular values, where
the shrinkage max(S − α_i/η, 0) is meant, and its caller marked missing cells by −1, which is then also
the value at which they start. `published` repeats both, `corrected` neither.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .tensors import (
    DENSE_BYTES,
    Flags,
    Floats,
    RankOneSum,
    TensorSamples,
    average_cells,
    column_products,
    fill_with_mean,
    outer_rows,
    refuse_beyond,
)

# The observed tensor, the iterate and the next one, the reconstruction, one unfolding, flags.
_COPIES = 6

# Added to η in every system, as in the package: keeps it regular while η is small.
_RIDGE = 1e-5


def raise_small(singular: Floats, threshold: float) -> Floats:
    """The package's rule: no singular value below the threshold."""
    return np.maximum(singular, threshold)


def shrink(singular: Floats, threshold: float) -> Floats:
    """Soft-thresholding, the proximal map of the trace norm."""
    return np.maximum(singular - threshold, 0.0)


def start_from_markers(known: Floats, is_known: Flags) -> Floats:
    """Missing cells start at their marker −1 plus the marked tensor's norm over its size."""
    norm = math.sqrt(float(np.sum(np.square(known))) + float(np.sum(~is_known)))
    return np.where(is_known, known, norm / known.size - 1.0)


@dataclass(frozen=True, slots=True)
class TncpSettings:
    """Rank, step and stopping rule, how singular values are thresholded and where missing cells start."""

    threshold: Callable[[Floats, float], Floats]
    start: Callable[[Floats, Flags], Floats]
    rank: int = 10
    step: float = 1e-4
    growth: float = 1.05
    iterations: int = 500
    tolerance: float = 1e-5


PUBLISHED = TncpSettings(raise_small, start_from_markers)
CORRECTED = TncpSettings(shrink, fill_with_mean)


@dataclass(slots=True)
class _Multipliers:
    """The factors U_i with their copies Z_i and multipliers Y_i, each of shape (r_i, rank)."""

    factors: list[Floats]
    copies: list[Floats]
    duals: list[Floats]


def tncp(samples: TensorSamples, seed: int, settings: TncpSettings) -> Floats:
    """Complete the tensor by a CP decomposition whose factors have a small trace norm."""
    refuse_beyond(DENSE_BYTES, samples.shape, copies=_COPIES, method="TNCP")
    known, is_known = average_cells(samples)
    current = settings.start(known, is_known)
    norm = float(np.linalg.norm(current))
    state = _start(samples.shape, settings.rank, np.random.default_rng(seed))
    step = settings.step
    for _ in range(settings.iterations):
        step *= settings.growth
        _iterate(state, current, step, settings.threshold)
        fitted = RankOneSum(np.ones(settings.rank), tuple(factor.T for factor in state.factors))
        following = np.where(is_known, known, fitted.dense())
        moved = float(np.linalg.norm(following - current))
        current = following
        if moved < settings.tolerance * norm:
            break
    return current


def _start(shape: tuple[int, ...], rank: int, generator: np.random.Generator) -> _Multipliers:
    """Random positive factors, everything else zero."""
    factors = [generator.random((size, rank)) for size in shape]
    zeros = [np.zeros_like(factor) for factor in factors]
    return _Multipliers(factors, list(zeros), list(zeros))


def _iterate(
    state: _Multipliers, tensor: Floats, step: float, threshold: Callable[[Floats, float], Floats]
) -> None:
    """Update the copies, then the factors one after another, then the multipliers."""
    modes = range(tensor.ndim)
    for i in modes:
        left, singular, right = np.linalg.svd(state.factors[i] - state.duals[i] / step, full_matrices=False)
        state.copies[i] = (left * threshold(singular, 1.0 / (tensor.ndim * step))) @ right
    for i in modes:
        pull = step * state.copies[i] + state.duals[i]
        state.factors[i] = _fit_mode(state.factors, tensor, i, pull, step)
    for i in modes:
        state.duals[i] = state.duals[i] + step * (state.copies[i] - state.factors[i])


def _fit_mode(factors: list[Floats], tensor: Floats, mode: int, pull: Floats, step: float) -> Floats:
    """The factor matrix of one mode by regularised least squares against the whole tensor."""
    gram = column_products([factor.T @ factor for i, factor in enumerate(factors) if i != mode])
    ridge = step + _RIDGE
    if ridge <= len(gram) * np.finfo(np.float64).eps * np.trace(gram):
        return _fit_mode_stacked(factors, tensor, mode, pull, ridge)
    side = _against_others(factors, tensor, mode) + pull
    return np.asarray(np.linalg.solve(gram + ridge * np.eye(len(gram)), side.T).T, dtype=np.float64)


def _fit_mode_stacked(factors: list[Floats], tensor: Floats, mode: int, pull: Floats, ridge: float) -> Floats:
    """The same factor matrix where the ridge would be lost in the rounding of BᵀB.

    It is the least squares solution of [B; √ridge I] Uᵀ = [X_(i)ᵀ; pullᵀ/√ridge], whose condition is the
    square root of the normal equations': tensors smaller than the rank do not end in a singular matrix.
    """
    rank = pull.shape[1]
    others = outer_rows([factor.T for i, factor in enumerate(factors) if i != mode], np.ones(rank))
    unfolding = np.moveaxis(tensor, mode, -1).reshape(-1, tensor.shape[mode])
    design = np.vstack([others.T, math.sqrt(ridge) * np.eye(rank)])
    sides = np.vstack([unfolding, pull.T / math.sqrt(ridge)])
    return np.asarray(np.linalg.lstsq(design, sides, rcond=None)[0].T, dtype=np.float64)


def _against_others(factors: list[Floats], tensor: Floats, mode: int) -> Floats:
    """X_(i) B_i: the unfolding times the Khatri-Rao product of the other factors, of shape (r_i, rank).

    The tensor is read as (before, r_i, after) and multiplied by the longer side first: nothing of its
    size is copied.
    """
    ones = np.ones(factors[0].shape[1])
    before = outer_rows([factor.T for factor in factors[:mode]], ones)
    after = outer_rows([factor.T for factor in factors[mode + 1 :]], ones)
    rank, size = len(ones), tensor.shape[mode]
    if before.shape[1] >= after.shape[1]:
        part = (before @ tensor.reshape(before.shape[1], -1)).reshape(rank, size, -1)
        product: Floats = np.einsum("srq,sq->rs", part, after)
    else:
        part = (tensor.reshape(-1, after.shape[1]) @ after.T).reshape(-1, size, rank)
        product = np.einsum("lrs,sl->rs", part, before)
    return product
