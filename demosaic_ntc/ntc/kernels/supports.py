"""Sums over supports: the observed cells at which the product of a vertex's factors is one.

A vertex is stored as its *factors*, one byte per slice with the modes concatenated, and as its
*support*. Supports of many vertices lie in one flat array; ``start[i]:start[i] + length[i]`` is the part
of vertex i.
"""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float64
from demosaic_ntc.jit.compiled import kernel
from demosaic_ntc.ntc.problem import Bits, Slots

Counts = NDArray[np.int64]
Words = NDArray[np.uint64]

_ONE = np.uint64(1)


@kernel
def support_of(slots: Slots, factors: Bits) -> Slots:
    """Return the cells at which every factor of a vertex is one."""
    cells, modes = slots.shape
    inside = np.empty(cells, np.int32)
    count = 0
    for cell in range(cells):
        product = factors[slots[cell, 0]]
        for mode in range(1, modes):
            product &= factors[slots[cell, mode]]
        inside[count] = cell
        count += product
    return inside[:count].copy()


@kernel
def supports_of_starts(columns: Slots, words: Words, chosen: Words) -> tuple[Slots, Counts]:
    """Return the supports of some of 64 vertices, one after the other, and their lengths.

    ``columns`` are the slots of the cells, (modes, cells); bit b of ``words[slot]`` is the factor of vertex b
    there. A cell's bits of all 64 vertices are the AND of the words of its slots.
    """
    modes, cells = columns.shape
    inside = np.empty(cells, np.uint64)
    length = np.zeros(chosen.shape[0], np.int64)
    for cell in range(cells):
        word = words[columns[0, cell]]
        for mode in range(1, modes):
            word &= words[columns[mode, cell]]
        inside[cell] = word
    for vertex in range(chosen.shape[0]):
        for cell in range(cells):
            length[vertex] += (inside[cell] >> chosen[vertex]) & _ONE
    flat = np.empty(length.sum() + 1, np.int32)  # one place more, which the last store may touch
    count = 0
    for vertex in range(chosen.shape[0]):
        for cell in range(cells):
            flat[count] = cell
            count += (inside[cell] >> chosen[vertex]) & _ONE
    return flat[:count], length


@kernel
def slope_at(
    weight: Float64, value: Float64, radius: float, point: Float64, gradient: Float64
) -> tuple[float, float, float]:
    """Write ∇f at the point x into ``gradient``; return f without noise, ⟨∇f, x⟩ and Σ min(∇f, 0).

    f(x) = Σ_u w_u (λ x_u − ȳ_u)², so ∇f_u = 2 λ w_u (λ x_u − ȳ_u).
    """
    misfit, here, negative = 0.0, 0.0, 0.0
    for cell in range(value.shape[0]):
        residual = radius * point[cell] - value[cell]
        slope = 2 * radius * weight[cell] * residual
        gradient[cell] = slope
        misfit += weight[cell] * residual * residual
        here += slope * point[cell]
        negative += min(slope, 0.0)
    return misfit, here, negative


@kernel
def sums_over_supports(values: Float64, flat: Slots, start: Counts, length: Counts, count: int) -> Float64:
    """Return Σ_{u in support} values[u] for each of the first ``count`` vertices."""
    sums = np.empty(count)
    for vertex in range(count):
        total = 0.0
        for position in range(start[vertex], start[vertex] + length[vertex]):
            total += values[flat[position]]
        sums[vertex] = total
    return sums


@kernel
def combine(weights: Float64, flat: Slots, start: Counts, length: Counts, point: Float64) -> None:
    """Write Σ_s weights[s] · vertex_s at the observed cells into ``point``."""
    point[:] = 0.0
    for vertex in range(weights.shape[0]):
        weight = weights[vertex]
        for position in range(start[vertex], start[vertex] + length[vertex]):
            point[flat[position]] += weight


@kernel
def keep_rows_and_columns(matrix: Float64, kept: Counts) -> None:
    """Move the rows and columns at ascending positions to the front of a square matrix."""
    first = 0  # rows and columns before it stay where they are
    while first < kept.shape[0] and kept[first] == first:
        first += 1
    for row in range(kept.shape[0]):
        for column in range(first if row < first else 0, kept.shape[0]):
            matrix[row, column] = matrix[kept[row], kept[column]]


@kernel
def inner_products(
    weight: Float64,
    value: Float64,
    flat: Slots,
    start: Counts,
    length: Counts,
    first: int,
    count: int,
    scratch: Float64,
    common: Float64,
    overlap: Float64,
) -> None:
    """Write ⟨v_i, v_j⟩ and ⟨v_i, value⟩, weighted, for the vertices i from ``first`` on and all j ≤ i.

    ``scratch`` holds a number per cell; it is zero before and after.
    """
    for new in range(first, count):
        total = 0.0
        for position in range(start[new], start[new] + length[new]):
            cell = flat[position]
            scratch[cell] = weight[cell]
            total += weight[cell] * value[cell]
        overlap[new] = total
        for old in range(new + 1):
            shared = 0.0
            for position in range(start[old], start[old] + length[old]):
                shared += scratch[flat[position]]
            common[new, old] = common[old, new] = shared
        for position in range(start[new], start[new] + length[new]):
            scratch[flat[position]] = 0.0
