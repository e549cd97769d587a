"""Nonnegative tensor completion of one small group of patches, with a certified gap.

The tensor is (channel, patch, pixel), every entry with a weight; a vertex chooses a subset of each. This is
the algorithm of :mod:`demosaic_ntc.ntc.bcg` with the fully corrective step, written for a hundred thousand
tensors of a few hundred entries: single precision for entries, double for inner products. As there, a
heuristic looks for vertices and an exact oracle has the last word.

Entries are kept as residuals: with t the data, ψ the point and λ v a vertex scaled by the radius, p = ψ − t
and p_i = λ v_i − t, so the objective is ‖Σ α_i p_i‖² in the norm of the weights.
"""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.jit.compiled import fast_kernel
from demosaic_ntc.ntc.kernels.cholesky import (
    affine_minimiser,
    append_to_cholesky,
    delete_row_and_column,
    remove_from_cholesky,
)

Tensor = NDArray[np.float32]  # (channels, patches, pixels)
Floats = NDArray[np.float64]

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_SMALLEST_WEIGHT = 1e-7
_SMALLEST_PIVOT = 1e-9
_ROUNDS = 3
_STEP = 32  # pixels that a compiled loop takes at once; rows are padded with zeros to whole steps


@fast_kernel
def _sum_of_channels(gradient: Tensor, chosen: int, total: Tensor) -> np.float32:
    """Add up the chosen channels into (patch, pixel); return the sum of the negative entries."""
    channels, patches, pixels = gradient.shape
    flat, bound = total.ravel(), _ZERO
    for entry in range(flat.shape[0]):
        flat[entry] = _ZERO
    for channel in range(channels):
        if (chosen >> channel) & 1:
            for k in range(patches):
                for q in range(pixels):
                    total[k, q] += gradient[channel, k, q]
    for entry in range(flat.shape[0]):
        bound += flat[entry] if flat[entry] < _ZERO else _ZERO
    return bound


@fast_kernel
def _values_of_subsets(total: Tensor, sums: Tensor, values: Tensor) -> None:
    """Write, for every subset of patches, the sum over the pixels of the negative part of its sum.

    Subsets follow by doubling: those with patch k are those without it plus its row.
    """
    for q in range(sums.shape[1]):
        sums[0, q] = _ZERO
    values[0] = _ZERO
    for k in range(total.shape[0]):
        row, half = total[k], 1 << k
        for subset in range(half):
            without, with_it, value = sums[subset], sums[half + subset], _ZERO
            for q in range(row.shape[0]):
                entry = without[q] + row[q]
                with_it[q] = entry
                value += entry if entry < _ZERO else _ZERO
            values[half + subset] = value


@fast_kernel
def exact_vertex(
    gradient: Tensor, total: Tensor, sums: Tensor, values: Tensor
) -> tuple[np.float32, int, int]:
    """Minimise ⟨gradient, vertex⟩ over all subsets of channels and of patches; the pixels in closed form.

    Returns the least value and the subsets that reach it, as bit masks; (0, 0, 0) when none is negative.
    """
    channels, patches, _ = gradient.shape
    best, best_channels, best_patches = _ZERO, 0, 0
    for chosen in range(1, 1 << channels):
        if _sum_of_channels(gradient, chosen, total) >= best:
            continue
        _values_of_subsets(total, sums, values)
        for subset in range(1 << patches):
            if values[subset] < best:
                best, best_channels, best_patches = values[subset], chosen, subset
    return best, best_channels, best_patches


@fast_kernel
def _alternate(total: Tensor, pixel: Tensor, column: Tensor) -> tuple[np.float32, int]:
    """Improve a choice of pixels by alternating with the patches; return the value and the patches."""
    patches, pixels = total.shape
    value, members = _ZERO, 0
    for _ in range(_ROUNDS):
        before, members = members, 0
        for q in range(pixels):
            column[q] = _ZERO
        for k in range(patches):
            row, gain = total[k], _ZERO
            for q in range(pixels):
                gain += row[q] * pixel[q]
            if gain < _ZERO:
                members |= 1 << k
                for q in range(pixels):
                    column[q] += row[q]
        if members == before:
            break
        value = _ZERO
        for q in range(pixels):
            pixel[q] = _ONE if column[q] < _ZERO else _ZERO
            value += column[q] * pixel[q]
    return value, members


@fast_kernel
def likely_vertex(
    gradient: Tensor, total: Tensor, pixel: Tensor, column: Tensor
) -> tuple[np.float32, int, int]:
    """Look for a low ⟨gradient, vertex⟩ by alternation, from the strongest patch of every subset of channels.

    Returns the least value found and the subsets that reach it, as bit masks.
    """
    channels, patches, _ = gradient.shape
    best, best_channels, best_patches = _ZERO, 0, 0
    for chosen in range(1, 1 << channels):
        _sum_of_channels(gradient, chosen, total)
        strongest, lowest = 0, _ZERO
        for k in range(patches):
            row, negative = total[k], _ZERO
            for q in range(row.shape[0]):
                negative += row[q] if row[q] < _ZERO else _ZERO
            if negative < lowest:
                strongest, lowest = k, negative
        for q in range(pixel.shape[0]):
            pixel[q] = _ONE if total[strongest, q] < _ZERO else _ZERO
        value, members = _alternate(total, pixel, column)
        if value < best:
            best, best_channels, best_patches = value, chosen, members
    return best, best_channels, best_patches


@fast_kernel
def _write_vertex(
    gradient: Tensor, chosen: int, members: int, radius: np.float32, data: Tensor, gain: Tensor, out: Tensor
) -> None:
    """Write λ v − t for the vertex with these channels and patches and the best pixels for them.

    ``gain`` is room for the sum of their gradients, pixel by pixel.
    """
    channels, patches, pixels = gradient.shape
    for q in range(pixels):
        gain[q] = _ZERO
    for channel in range(channels):
        for k in range(patches):
            if (chosen >> channel) & (members >> k) & 1:
                slope = gradient[channel, k]
                for q in range(pixels):
                    gain[q] += slope[q]
    for channel in range(channels):
        for k in range(patches):
            inside = radius if (chosen >> channel) & (members >> k) & 1 else _ZERO
            known, point = data[channel, k], out[channel, k]
            for q in range(pixels):
                point[q] = (inside if gain[q] < _ZERO else _ZERO) - known[q]


@fast_kernel
def _inner_products(points: NDArray[np.float32], weight: Tensor, count: int, gram: Floats) -> None:
    """Fill row and column ``count`` of the matrix of weighted inner products."""
    newest, flat = points[count].ravel(), weight.ravel()
    for other in range(count + 1):
        older = points[other].ravel()
        total = _ZERO
        for entry in range(flat.shape[0]):
            total += flat[entry] * newest[entry] * older[entry]
        gram[count, other] = gram[other, count] = total


@fast_kernel
def _correct(points: NDArray[np.float32], gram: Floats, factor: Floats, alpha: Floats, count: int) -> int:
    """Move to the least-norm point of the convex hull by Wolfe's steps; return how many points remain."""
    while True:
        ideal = affine_minimiser(factor, count)
        step, first = 1.0, -1
        for i in range(count):
            if ideal[i] <= _SMALLEST_WEIGHT:
                reach = alpha[i] / max(alpha[i] - ideal[i], _SMALLEST_WEIGHT)
                if first < 0 or reach < step:
                    step, first = min(reach, 1.0), i
        for i in range(count):
            alpha[i] += step * (ideal[i] - alpha[i])
        if first < 0 or count == 1:
            return count
        delete_row_and_column(gram, count, first)
        remove_from_cholesky(factor, count, first)
        count -= 1
        for i in range(first, count):
            alpha[i] = alpha[i + 1]
            point, later = points[i].ravel(), points[i + 1].ravel()
            for entry in range(point.shape[0]):
                point[entry] = later[entry]


@fast_kernel
def _evaluate(
    points: NDArray[np.float32],
    alpha: Floats,
    count: int,
    weight: Tensor,
    data: Tensor,
    residual: Tensor,
    gradient: Tensor,
) -> tuple[float, float, float]:
    """Write the residual Σ α_i p_i and the gradient 2 w (ψ − t).

    Returns the objective, ⟨gradient, ψ⟩, and Σ min(gradient, 0), which no vertex is below.
    """
    flat, slope, mass, known = residual.ravel(), gradient.ravel(), weight.ravel(), data.ravel()
    entries = flat.shape[0]
    share, point = np.float32(alpha[0]), points[0].ravel()
    for entry in range(entries):
        flat[entry] = share * point[entry]
    for i in range(1, count):
        share, point = np.float32(alpha[i]), points[i].ravel()
        for entry in range(entries):
            flat[entry] += share * point[entry]
    for entry in range(entries):
        slope[entry] = 2 * mass[entry] * flat[entry]
    objective, here, free = _ZERO, _ZERO, _ZERO
    for entry in range(entries):
        objective += slope[entry] * flat[entry]
        here += slope[entry] * (flat[entry] + known[entry])
        free += slope[entry] if slope[entry] < _ZERO else _ZERO
    return float(objective) / 2, float(here), float(free)


@fast_kernel
def complete_group(
    data: Tensor, weight: Tensor, start: Tensor, radius: float, tolerance: float, atoms: int, residual: Tensor
) -> tuple[float, float]:
    """Complete a group from a point of the polytope; write ψ − t, return the objective and its certified gap.

    ``weight`` sums to one. Stops when the gap is proven to be at most ``tolerance``, or when as many vertices
    were tried as ``atoms`` allows; the gap that is returned is proven either way, by the exact oracle or by
    the free bound Σ min(gradient, 0). The oracle is weak: alternation first, exact search where that fails.
    """
    channels, patches, pixels = data.shape
    points = np.empty((atoms + 1, channels, patches, pixels), np.float32)
    gram, factor = np.empty((atoms + 1, atoms + 1)), np.empty((atoms + 1, atoms + 1))
    alpha, padded = np.zeros(atoms + 1), -(-pixels // _STEP) * _STEP
    gradient, total = np.empty_like(data), np.zeros((patches, padded), np.float32)
    pixel, column = np.zeros(padded, np.float32), np.zeros(padded, np.float32)
    sums, values = np.empty((1 << patches, padded), np.float32), np.empty(1 << patches, np.float32)
    first, inside, known = points[0].ravel(), start.ravel(), data.ravel()
    for entry in range(known.shape[0]):
        first[entry] = inside[entry] - known[entry]
    alpha[0], count, lower, tried = 1.0, 1, 0.0, 0
    _inner_products(points, weight, 0, gram)
    append_to_cholesky(gram, factor, 0)
    while True:
        objective, here, free = _evaluate(points, alpha, count, weight, data, residual, gradient)
        lower = max(lower, objective - (here - radius * free))
        if objective - lower <= tolerance:
            break
        target, value, chosen, members = (here - tolerance) / radius, _ZERO, 0, 0
        if tried < atoms:
            value, chosen, members = likely_vertex(gradient, total, pixel, column)
        if tried >= atoms or value >= target:
            value, chosen, members = exact_vertex(gradient, total, sums, values)
            lower = max(lower, objective - (here - radius * float(value)))
        if value >= target or tried >= atoms:
            break
        _write_vertex(gradient, chosen, members, np.float32(radius), data, column, points[count])
        _inner_products(points, weight, count, gram)
        if append_to_cholesky(gram, factor, count) <= _SMALLEST_PIVOT * (gram[count, count] + 1.0):
            break
        alpha[count] = 0.0
        count, tried = _correct(points, gram, factor, alpha, count + 1), tried + 1
    return objective, objective - lower
