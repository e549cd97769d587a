"""The completion of one small tensor with the least norm that explains its samples, and a proof of how small.

The tensor is (channel, row, column); of a group of patches, rows are its patches and columns their pixels, or
the other way about. A vertex chooses a subset of each, so it is two masks and a word of up to 64 bits, and
inner products of vertices are counts of bits. For samples y the norm ‖ψ‖₊ = Σ a_i of ψ = Σ a_i v_i, a ≥ 0, is
minimised subject to ‖y − ψ‖² ≤ ε², as :mod:`demosaic_ntc.ntc.least` does for tensors of any size: Blended
Conditional Gradients with fully corrective steps, along the path of least norms.

*Steps.* Within the active vertices, with Gram matrix G, b_i = ⟨v_i, y⟩, p = G⁻¹b and q = G⁻¹1, the best point
whose vertices all have the slope μ = ⟨y − ψ, v_i⟩ is a = p − μq, its misfit ‖y‖² − b·p + μ² 1·q. So the μ
that meets ε² is known in closed form; before vertices are enough for that, μ falls by a constant factor.
Vertices whose weight would turn negative leave.

*Oracles.* A vertex is taken whose slope exceeds μ. They are sought by alternation, from two starts for each
subset of channels; where that finds none, exactly: all subsets of rows by doubling, columns in closed form.

*Proof.* For any z with ⟨z, v⟩ ≤ D over all vertices, every ψ within ε has ‖ψ‖₊ ≥ (⟨z, y⟩ − ε ‖z‖) / D. The
exact oracle tells D. It is asked at points between the best z so far and the present residual, which settles
sooner than the residual itself.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32
from demosaic_ntc.engine.kernels.vertex_oracles import Search, find_columns, find_exact, find_likely
from demosaic_ntc.engine.kernels.vertex_set import (
    VertexSet,
    append_vertex,
    correct_weights,
    count_bits,
    write_residual,
)
from demosaic_ntc.jit.compiled import fast_kernel, fast_step

Words = NDArray[np.uint64]

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_SHRINK = 0.6  # of μ, until vertices are enough to meet ε²
_LOOSE = 0.2  # before that a vertex is worth taking whose slope exceeds μ by so much of it
_INNER = np.float32(0.7)  # the share of the best z so far in the next one
_GATE = np.float32(0.8)  # others than the best vertex are taken if they exceed μ by so much of what it does
_ROUNDING = 1e-5  # of D, for the sums in single precision that it is made of
_PROOFS = 8  # points in a row at which the exact oracle may find no vertex
_STEPS = 6  # for each vertex that there is room for
_LEAST_SLOPE = 1e-9  # over the largest sample: there is no room for the vertices that would meet ε²


class Tensor(NamedTuple):
    """The samples of a tensor."""

    value: Float32  # (channels, rows, columns): nonnegative; zero where there is no sample
    mask: Words  # (channels, rows): bit j is set where column j is a sample


class Bounds(NamedTuple):
    """What is known of the least norm."""

    lower: float
    upper: float
    vertices: int


@fast_kernel
def empty_tensor(channels: int, rows: int, columns: int) -> Tensor:
    """Return room for samples."""
    return Tensor(np.zeros((channels, rows, columns), np.float32), np.zeros((channels, rows), np.uint64))


@fast_step
def _take(
    tensor: Tensor, values: Float32, search: Search, slope: float, active: VertexSet, count: int
) -> int:
    """Add the vertices found whose slope is larger, the best first; return how many there are then."""
    best, least = _ZERO, np.float32(slope)
    for subset in range(search.slope.shape[0]):
        best = max(best, search.slope[subset])
    gate = least + _GATE * (best - least)
    for _ in range(search.slope.shape[0]):
        first = 0
        for subset in range(search.slope.shape[0]):
            first = subset if search.slope[subset] > search.slope[first] else first
        largest = search.slope[first]
        if largest <= least or (largest < gate and largest < best):
            break
        search.slope[first] = _ZERO
        members = search.members[first]
        bits = find_columns(values, first + 1, members, search.gain)
        count = append_vertex(tensor.value, tensor.mask, first + 1, members, bits, active, count)
    return count


@fast_step
def _ask(tensor: Tensor, search: Search, slope: float, is_first: bool) -> tuple[float, float]:
    """Write the z that the oracles are asked about; return ⟨z, y⟩ and ‖z‖²."""
    share = _ZERO if is_first else _INNER
    own, toward, square = (_ONE - share) / np.float32(slope), 0.0, 0.0
    channels, rows, columns = search.query.shape
    for channel in range(channels):
        for i in range(rows):
            for j in range(columns):
                entry = share * search.inner[channel, i, j] + own * search.residual[channel, i, j]
                search.query[channel, i, j] = entry
                toward += entry * tensor.value[channel, i, j]
                square += entry * entry
    return toward, square


@fast_step
def _keep_inner(search: Search, steepest: float) -> None:
    """Take the z that was asked about for the best so far."""
    channels, rows, columns = search.query.shape
    scale = np.float32(1.0 / steepest)
    for channel in range(channels):
        for i in range(rows):
            for j in range(columns):
                search.inner[channel, i, j] = scale * search.query[channel, i, j]


@fast_step
def _prove(
    tensor: Tensor, search: Search, slope: float, misfit: float, upper: float, ratio: float, lower: float
) -> tuple[float, bool]:
    """Ask the oracles until one finds a vertex or the norm is proven; return the lower bound, and if one did.

    ``slope`` is μ; without a lower bound, zero, the residual itself is asked about.
    """
    for attempt in range(_PROOFS):
        toward, square = _ask(tensor, search, slope, lower == 0.0)
        if find_likely(search.query, search) > _ONE + np.float32(0.1 * (ratio - 1.0)):
            return lower, True
        best = float(find_exact(search.query, search))
        steepest = best * (1.0 + _ROUNDING)
        bound = (toward - np.sqrt(misfit * square)) / steepest if steepest > 0.0 else 0.0
        if bound > lower:
            lower = bound
            _keep_inner(search, steepest)
        if upper <= ratio * lower:
            return lower, False
        if best > 1.0 + _ROUNDING or attempt == _PROOFS - 1:
            break
    return lower, best > 1.0 + _ROUNDING


@fast_step
def find_least_norm(tensor: Tensor, misfit: float, ratio: float, search: Search, active: VertexSet) -> Bounds:
    """Write the vertices and weights of a tensor of least norm; return the bounds that are proven of it.

    ``misfit`` is ε², the sum of squares allowed. Stops when the upper bound is at most ``ratio`` times the
    lower one, or when there is no room for more vertices; the upper bound is infinite where ε² was not met.
    """
    energy, largest, samples = 0.0, 0.0, 0
    channels, rows, columns = tensor.value.shape
    for channel in range(channels):
        for i in range(rows):
            samples += count_bits(tensor.mask[channel, i])
            for j in range(columns):
                entry = float(tensor.value[channel, i, j])
                energy += entry * entry
                largest = max(largest, entry)
    if energy <= misfit:
        return Bounds(0.0, 0.0, 0)
    most = min(samples, active.weight.shape[0] - 1)
    upper, lower, inner = np.inf, max(largest - np.sqrt(misfit), 0.0), 0.0
    count, slope, is_met = 0, 0.0, False
    for _ in range(_STEPS * most):
        write_residual(tensor.value, tensor.mask, active, count, search.residual)
        if is_met:
            upper = 0.0
            for i in range(count):
                upper += active.weight[i]
            if upper <= ratio * lower:
                break
            inner, is_found = _prove(tensor, search, slope, misfit, upper, ratio, inner)
            lower = max(lower, inner)
            if not is_found:
                break
            before, count = count, _take(tensor, search.query, search, 1.0, active, count)
            if count == before:
                break
        else:
            best = float(find_likely(search.residual, search))
            slope = _SHRINK * best if slope == 0.0 else slope
            before, count = count, _take(tensor, search.residual, search, slope, active, count)
            slope = _SHRINK * slope if best <= (1.0 + _LOOSE) * slope or count == before else slope
            if slope <= _LEAST_SLOPE * largest:
                break
        if count > 0:
            count, slope, is_met = correct_weights(active, count, energy, misfit, slope, is_met)
    return Bounds(min(lower, upper), upper, count)
