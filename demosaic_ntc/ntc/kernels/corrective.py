"""Wolfe's fully corrective step on inner products alone, as one compiled loop."""

import numpy as np

from demosaic_ntc.arrays import Float64
from demosaic_ntc.jit.compiled import fast_kernel, kernel
from demosaic_ntc.ntc.kernels.supports import Counts

SMALLEST_PIVOT = 1e-13  # of a point relative to its length: below, it lies in the others' affine hull
SMALLEST_WEIGHT = 1e-13


@fast_kernel
def append_product_row(row: Float64, own: float, factor: Float64, count: int) -> float:
    """Extend a lower Cholesky factor by the row of products (row, own); return the new squared pivot."""
    pivot = own
    for column in range(count):
        entry = row[column]
        for inner in range(column):
            entry -= factor[column, inner] * factor[count, inner]
        entry /= factor[column, column]
        factor[count, column] = entry
        pivot -= entry * entry
    factor[count, count] = np.sqrt(max(pivot, 0.0))
    return pivot


@kernel
def remove_from_cholesky(factor: Float64, count: int, removed: int) -> None:
    """Delete row ``removed`` of the matrix whose lower factor this is, by Givens rotations."""
    for row in range(removed, count - 1):
        for column in range(row + 2):
            factor[row, column] = factor[row + 1, column]
    for column in range(removed, count - 1):
        diagonal, beside = factor[column, column], factor[column, column + 1]
        length = np.hypot(diagonal, beside)
        cosine, sine = diagonal / length, beside / length
        for row in range(column, count - 1):
            left, right = factor[row, column], factor[row, column + 1]
            factor[row, column] = cosine * left + sine * right
            factor[row, column + 1] = cosine * right - sine * left


@fast_kernel
def affine_fit(factor: Float64, overlap: Float64, members: Counts, radius: float, count: int) -> Float64:
    """Return the weights a, summing to one, for which λ Σ a_i v_i is nearest to ȳ.

    With b = λ a the misfit is bᵀ C b − 2 bᵀ o and a constant, where C_ij = ⟨v_i, v_j⟩ and o_i = ⟨v_i, ȳ⟩. On
    the plane Σ b = λ the matrix K = C + 1 has the same minimiser, and unlike C it is regular for vertices
    that are affinely independent, zero among them: K b = o + ν 1, and ν follows from Σ b = λ.
    """
    fit, level = np.empty(count), np.empty(count)  # K⁻¹ o and K⁻¹ 1
    for row in range(count):
        first, second = overlap[members[row]], 1.0
        for column in range(row):
            first -= factor[row, column] * fit[column]
            second -= factor[row, column] * level[column]
        fit[row], level[row] = first / factor[row, row], second / factor[row, row]
    for row in range(count - 1, -1, -1):
        first, second = fit[row] / factor[row, row], level[row] / factor[row, row]
        fit[row], level[row] = first, second
        for column in range(row):
            fit[column] -= factor[row, column] * first
            level[column] -= factor[row, column] * second
    shift = (radius - fit.sum()) / level.sum()
    weights: Float64 = (fit + shift * level) / radius
    return weights


@kernel
def _go_to_border(weights: Float64, ideal: Float64, count: int) -> None:
    """Move towards the ideal weights as far as all stay nonnegative; the one that stops it becomes zero."""
    step, stopping = 1.0, -1
    for member in range(count):
        if ideal[member] <= SMALLEST_WEIGHT:
            reach = weights[member] / max(weights[member] - ideal[member], SMALLEST_WEIGHT)
            if stopping < 0 or reach < step:
                step, stopping = min(reach, 1.0), member
    for member in range(count):
        weights[member] += step * (ideal[member] - weights[member])
    weights[stopping] = 0.0


@kernel
def _drop_weightless(factor: Float64, members: Counts, weights: Float64, ideal: Float64, count: int) -> int:
    """Take out the members at zero that the ideal weights would make negative; return how many remain."""
    for member in range(count - 1, -1, -1):
        if weights[member] <= SMALLEST_WEIGHT and ideal[member] <= SMALLEST_WEIGHT and count > 1:
            remove_from_cholesky(factor, count, member)
            members[member : count - 1] = members[member + 1 : count].copy()
            weights[member : count - 1] = weights[member + 1 : count].copy()
            ideal[member : count - 1] = ideal[member + 1 : count].copy()
            count -= 1
    return count


@kernel
def correct_weights(
    common: Float64,
    overlap: Float64,
    radius: float,
    factor: Float64,
    settled: int,
    members: Counts,
    weights: Float64,
) -> tuple[int, bool]:
    """Minimise ‖λ Σ a_i v_i − ȳ‖² over the simplex, from weights that are close.

    ``common[i, j]`` = ⟨v_i, v_j⟩ and ``overlap[i]`` = ⟨v_i, ȳ⟩. ``factor`` is the Cholesky factor of
    ``common`` plus one for the first ``settled`` of the ``members``, whatever λ is; the others are new.
    Affine minimisation and dropping what it drives to zero alternate (Wolfe 1976). Returns how many members
    remain, in front of ``members`` and ``weights``, and whether the factor is sound; where it is not, the
    weights are valid but not yet the best.
    """
    count = settled
    row = np.empty(members.shape[0])
    for position in range(settled, members.shape[0]):
        new = members[position]
        for member in range(count):
            row[member] = common[new, members[member]] + 1.0
        own = common[new, new] + 1.0
        if append_product_row(row, own, factor, count) > SMALLEST_PIVOT * own:
            members[count], weights[count] = new, weights[position]
            count += 1
    weights[:count] /= weights[:count].sum()
    while True:
        ideal = affine_fit(factor, overlap, members, radius, count)
        if not np.isfinite(ideal).all():
            return count, False
        if count == 1 or ideal.min() > SMALLEST_WEIGHT:
            weights[:count] = ideal
            return count, True
        _go_to_border(weights, ideal, count)
        count = _drop_weightless(factor, members, weights, ideal, count)
