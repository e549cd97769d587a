"""The active vertices of a small tensor: their weights, and what the least norm within them takes.

A vertex is a subset of channels and one of rows, as bits of whole numbers, and one of columns, as a word.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32, Float64
from demosaic_ntc.jit.compiled import fast_kernel, fast_step, step
from demosaic_ntc.ntc.kernels.cholesky import remove_from_cholesky

Words = NDArray[np.uint64]
Numbers = NDArray[np.int64]

_SMALLEST_PIVOT = 1e-6  # of a vertex's own product: below, it lies in the span of the others
_ONE = np.uint64(1)


class VertexSet(NamedTuple):
    """Room for vertices: a row each; the rows below the count of those that are there mean something."""

    channels: Numbers  # (vertices): as bits, like the next two
    rows: Numbers
    columns: Words
    weight: Float64  # a
    overlap: Float64  # b: the sum of the samples within each
    factor: Float64  # (vertices, vertices): the lower Cholesky factor of their inner products
    fit: Float64  # p: the weights of the best fit
    rest: Float64  # q: what they lose for each unit of slope


@fast_kernel
def empty_vertex_set(most: int) -> VertexSet:
    """Return room for so many vertices."""
    return VertexSet(
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
        np.zeros(most, np.uint64),
        np.zeros(most),
        np.zeros(most),
        np.zeros((most, most)),
        np.zeros(most),
        np.zeros(most),
    )


@fast_step
def count_bits(word: np.uint64) -> int:
    """Return how many bits are set."""
    pairs = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    fours = (pairs & np.uint64(0x3333333333333333)) + (
        (pairs >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    bytes_ = (fours + (fours >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((bytes_ * np.uint64(0x0101010101010101)) >> np.uint64(56))


@fast_step
def _count_shared(mask: Words, channels: int, rows: int, columns: np.uint64) -> int:
    """Return how many samples lie within some channels, rows and columns."""
    shared = 0
    for channel in range(mask.shape[0]):
        if (channels >> channel) & 1:
            for i in range(mask.shape[1]):
                if (rows >> i) & 1:
                    shared += count_bits(mask[channel, i] & columns)
    return shared


@fast_step
def _sum_samples(value: Float32, mask: Words, channels: int, rows: int, columns: np.uint64) -> float:
    """Return the sum of the samples within some channels, rows and columns."""
    total = 0.0
    for channel in range(mask.shape[0]):
        for i in range(mask.shape[1]):
            if (channels >> channel) & (rows >> i) & 1:
                within = mask[channel, i] & columns
                for j in range(value.shape[2]):
                    total += value[channel, i, j] * np.float64((within >> np.uint64(j)) & _ONE)
    return total


@fast_step
def append_vertex(
    value: Float32, mask: Words, channels: int, rows: int, columns: np.uint64, active: VertexSet, count: int
) -> int:
    """Add a vertex of weight zero after the others; return their number, the same where it is of no use."""
    own = _count_shared(mask, channels, rows, columns)
    if own == 0 or count + 1 >= active.weight.shape[0]:
        return count
    factor, pivot = active.factor, float(own)
    new = factor[count]
    for i in range(count):
        both = columns & active.columns[i]
        product = float(_count_shared(mask, channels & active.channels[i], rows & active.rows[i], both))
        older = factor[i]
        for j in range(i):
            product -= older[j] * new[j]
        new[i] = product / older[i]
        pivot -= new[i] * new[i]
    if pivot <= _SMALLEST_PIVOT * own:
        return count
    new[count] = np.sqrt(pivot)
    active.channels[count], active.rows[count], active.columns[count] = channels, rows, columns
    active.weight[count] = 0.0
    active.overlap[count] = _sum_samples(value, mask, channels, rows, columns)
    return count + 1


@step
def _remove_vertex(active: VertexSet, count: int, removed: int) -> None:
    """Take a vertex out, and its row and column of the factor."""
    for i in range(removed, count - 1):
        active.channels[i], active.rows[i] = active.channels[i + 1], active.rows[i + 1]
        active.columns[i], active.weight[i] = active.columns[i + 1], active.weight[i + 1]
        active.overlap[i] = active.overlap[i + 1]
    remove_from_cholesky(active.factor, count, removed)


@fast_step
def _solve(active: VertexSet, count: int) -> tuple[float, float]:
    """Write p and q; return b·p and 1·q."""
    factor, fit, rest = active.factor, active.fit, active.rest
    for i in range(count):
        row, one, two = factor[i], active.overlap[i], 1.0
        for j in range(i):
            one -= row[j] * fit[j]
            two -= row[j] * rest[j]
        fit[i], rest[i] = one / row[i], two / row[i]
    for i in range(count - 1, -1, -1):
        row = factor[i]
        fit[i] /= row[i]
        rest[i] /= row[i]
        one, two = fit[i], rest[i]
        for j in range(i):
            fit[j] -= row[j] * one
            rest[j] -= row[j] * two
    explained, room = 0.0, 0.0
    for i in range(count):
        explained += active.overlap[i] * fit[i]
        room += rest[i]
    return explained, room


@fast_step
def _step_towards(active: VertexSet, count: int, slope: float) -> int:
    """Go towards p − μq as far as no weight turns negative; return the vertex that ends it, or −1."""
    share, first = 1.0, -1
    for i in range(count):
        ideal = active.fit[i] - slope * active.rest[i]
        if ideal <= 0.0:
            reach = active.weight[i] / max(active.weight[i] - ideal, 1e-300)
            if first < 0 or reach < share:
                share, first = min(reach, 1.0), i
    for i in range(count):
        ideal = active.fit[i] - slope * active.rest[i]
        active.weight[i] += share * (ideal - active.weight[i])
    return first


@fast_step
def correct_weights(
    active: VertexSet, count: int, energy: float, misfit: float, slope: float, was_met: bool
) -> tuple[int, float, bool]:
    """Give the vertices the best weights for a slope, or for the misfit ε² if that takes no smaller a slope.

    Once it was met, the misfit is kept. Returns how many vertices are left, the slope, and whether the misfit
    is met. ``energy`` is ‖y‖².
    """
    while count > 0:
        explained, room = _solve(active, count)
        left, is_met, own = energy - explained, False, slope
        if left < misfit and room > 0.0:
            meeting = np.sqrt((misfit - left) / room)
            if was_met or meeting >= slope:
                own, is_met = meeting, True
        leaving = _step_towards(active, count, own)
        if leaving < 0:
            return count, own, is_met
        _remove_vertex(active, count, leaving)
        count -= 1
    return count, slope, False


@fast_step
def write_residual(value: Float32, mask: Words, active: VertexSet, count: int, residual: Float32) -> None:
    """Write y − ψ at samples, zero elsewhere."""
    channels, rows, columns = value.shape
    for channel in range(channels):
        for i in range(rows):
            for j in range(columns):
                residual[channel, i, j] = value[channel, i, j]
    for vertex in range(count):
        weight, word = np.float32(active.weight[vertex]), active.columns[vertex]
        chosen, members = active.channels[vertex], active.rows[vertex]
        for channel in range(channels):
            for i in range(rows):
                if (chosen >> channel) & (members >> i) & 1:
                    for j in range(columns):
                        residual[channel, i, j] -= weight * np.float32((word >> np.uint64(j)) & _ONE)
    for channel in range(channels):
        for i in range(rows):
            shown = mask[channel, i]
            for j in range(columns):
                residual[channel, i, j] *= np.float32((shown >> np.uint64(j)) & _ONE)
