"""The oracles of small tensors: vertices of large slope for every subset of channels.

A vertex is a subset of channels and one of rows, as bits of whole numbers, and one of columns, as a word.
Asked about values z, an oracle looks for vertices of large ⟨z, v⟩: a likely one by alternation between rows
and columns, from two starts; or the best there is, over all subsets of rows, with the columns in closed form.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32
from demosaic_ntc.jit.compiled import fast_kernel, fast_step

Numbers = NDArray[np.int64]

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_ROUNDS = 4  # of alternation


class Search(NamedTuple):
    """Room for the oracles: vertices by subset of channels, and what they are found with."""

    residual: Float32  # (channels, rows, columns)
    inner: Float32  # of the same shape: the best z so far, with D = 1
    query: Float32  # of the same shape: the z that is asked about
    total: Float32  # (rows, columns): the sum over a subset of channels
    inside: Float32  # (columns): 1 for those in the vertex, else 0
    gain: Float32  # (columns)
    sums: Float32  # (subsets of rows, columns)
    slope: Float32  # (subsets of channels without the empty one): of the best vertex of each
    members: Numbers  # of the same shape: its rows, as bits


@fast_kernel
def empty_search(channels: int, rows: int, columns: int) -> Search:
    """Return room for the oracles."""
    subsets = (1 << channels) - 1
    return Search(
        np.zeros((channels, rows, columns), np.float32),
        np.zeros((channels, rows, columns), np.float32),
        np.zeros((channels, rows, columns), np.float32),
        np.zeros((rows, columns), np.float32),
        np.zeros(columns, np.float32),
        np.zeros(columns, np.float32),
        np.zeros((1 << rows, columns), np.float32),
        np.zeros(subsets, np.float32),
        np.zeros(subsets, np.int64),
    )


@fast_step
def _sum_channels(values: Float32, chosen: int, total: Float32) -> np.float32:
    """Add up the chosen channels into (row, column); return the sum of the positive entries."""
    channels, rows, columns = values.shape
    positive = _ZERO
    for i in range(rows):
        for j in range(columns):
            total[i, j] = _ZERO
    for channel in range(channels):
        if (chosen >> channel) & 1:
            for i in range(rows):
                for j in range(columns):
                    total[i, j] += values[channel, i, j]
    for i in range(rows):
        for j in range(columns):
            positive += max(total[i, j], _ZERO)
    return positive


@fast_step
def _alternate(total: Float32, inside: Float32, gain: Float32) -> tuple[np.float32, int]:
    """Improve a choice of columns by alternating with the rows; return the slope and the rows."""
    rows, columns = total.shape
    slope, members = _ZERO, 0
    for _ in range(_ROUNDS):
        before, members = members, 0
        for j in range(columns):
            gain[j] = _ZERO
        for i in range(rows):
            own = _ZERO
            for j in range(columns):
                own += total[i, j] * inside[j]
            if own > _ZERO:
                members |= 1 << i
                for j in range(columns):
                    gain[j] += total[i, j]
        if members == before:
            break
        slope = _ZERO
        for j in range(columns):
            inside[j] = _ONE if gain[j] > _ZERO else _ZERO
            slope += gain[j] * inside[j]
    return slope, members


@fast_step
def _strongest_row(total: Float32, gain: Float32) -> int:
    """Return the row with the largest sum of positive entries; write the sums of all rows."""
    rows, columns = total.shape
    strongest, most = 0, _ZERO
    for j in range(columns):
        gain[j] = _ZERO
    for i in range(rows):
        positive = _ZERO
        for j in range(columns):
            positive += max(total[i, j], _ZERO)
            gain[j] += total[i, j]
        if positive > most:
            strongest, most = i, positive
    return strongest


@fast_step
def find_likely(values: Float32, search: Search) -> np.float32:
    """Write a vertex of large ⟨values, v⟩ for each subset of channels, by alternation; return the best."""
    total, inside, gain, best = search.total, search.inside, search.gain, _ZERO
    for subset in range(search.slope.shape[0]):
        _sum_channels(values, subset + 1, total)
        strongest = _strongest_row(total, gain)
        for j in range(inside.shape[0]):
            inside[j] = _ONE if gain[j] > _ZERO else _ZERO
        slope, members = _alternate(total, inside, gain)
        for j in range(inside.shape[0]):
            inside[j] = _ONE if total[strongest, j] > _ZERO else _ZERO
        other, others = _alternate(total, inside, gain)
        if other > slope:
            slope, members = other, others
        search.slope[subset], search.members[subset] = slope, members
        best = max(best, slope)
    return best


@fast_step
def _try_all_rows(total: Float32, sums: Float32) -> tuple[np.float32, int]:
    """Return the largest slope over all subsets of rows, and the subset; they follow by doubling."""
    rows, columns = total.shape
    best, members = _ZERO, 0
    for j in range(columns):
        sums[0, j] = _ZERO
    for i in range(rows):
        half = 1 << i
        for subset in range(half):
            slope = _ZERO
            for j in range(columns):
                entry = sums[subset, j] + total[i, j]
                sums[half + subset, j] = entry
                slope += max(entry, _ZERO)
            if slope > best:
                best, members = slope, half + subset
    return best, members


@fast_step
def find_exact(values: Float32, search: Search) -> np.float32:
    """Return the largest ⟨values, v⟩ over all vertices; write the best of some subsets of channels."""
    best = _ZERO
    for subset in range(search.slope.shape[0]):
        search.slope[subset], search.members[subset] = _ZERO, 0
        if _sum_channels(values, subset + 1, search.total) > best:
            slope, members = _try_all_rows(search.total, search.sums)
            search.slope[subset], search.members[subset] = slope, members
            best = max(best, slope)
    return best


@fast_step
def find_columns(values: Float32, chosen: int, members: int, gain: Float32) -> np.uint64:
    """Return the best columns for some channels and rows, as bits."""
    channels, rows, columns = values.shape
    for j in range(columns):
        gain[j] = _ZERO
    for channel in range(channels):
        for i in range(rows):
            if (chosen >> channel) & (members >> i) & 1:
                for j in range(columns):
                    gain[j] += values[channel, i, j]
    bits = np.uint64(0)
    for j in range(columns):
        if gain[j] > _ZERO:
            bits |= np.uint64(1) << np.uint64(j)
    return bits
