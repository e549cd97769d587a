"""The mean over the tensors that agree wherever there is a sample.

A slice of a vertex on which no sample depends may be in it or not: misfit and norm are the same. As
:mod:`demosaic_ntc.ntc.face` does for tensors of any size, 64 vertices with the same samples are drawn for
each by a Gibbs sampler, one per bit of a word for every slice, and their mean is taken.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32
from demosaic_ntc.engine.kernels.vertex_set import VertexSet, count_bits
from demosaic_ntc.jit.compiled import fast_kernel, fast_step

Words = NDArray[np.uint64]

_SWEEPS = 3
_ALL, _NONE, _ONE = np.uint64(2**64 - 1), np.uint64(0), np.uint64(1)
_SEED = np.uint64(88172645463325252)
_SHARE = np.float32(1 / 64)


class Draws(NamedTuple):
    """Room for 64 vertices: a word for each slice."""

    channels: Words
    rows: Words
    columns: Words
    state: Words  # (1): of the generator


@fast_kernel
def empty_draws(channels: int, rows: int, columns: int) -> Draws:
    """Return room for the draws of a tensor."""
    return Draws(
        np.zeros(channels, np.uint64),
        np.zeros(rows, np.uint64),
        np.zeros(columns, np.uint64),
        np.zeros(1, np.uint64),
    )


@fast_step
def _draw(state: Words) -> np.uint64:
    """Return 64 random bits: G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003)."""
    word: np.uint64 = state[0]
    word ^= word << np.uint64(13)
    word ^= word >> np.uint64(7)
    word ^= word << np.uint64(17)
    state[0] = word
    return word


@fast_step
def _start(active: VertexSet, vertex: int, draws: Draws) -> None:
    """Begin with 64 times the vertex itself."""
    for channel in range(draws.channels.shape[0]):
        draws.channels[channel] = _ALL if (active.channels[vertex] >> channel) & 1 else _NONE
    for i in range(draws.rows.shape[0]):
        draws.rows[i] = _ALL if (active.rows[vertex] >> i) & 1 else _NONE
    for j in range(draws.columns.shape[0]):
        draws.columns[j] = _ALL if (active.columns[vertex] >> np.uint64(j)) & _ONE else _NONE


@fast_step
def _redraw(words: Words, place: int, decided: np.uint64, state: Words) -> int:
    """Draw a slice anew where no sample decides; return 1 if there is such a draw, else 0."""
    if decided == _ALL:
        return 0
    words[place] = (words[place] & decided) | (_draw(state) & ~decided)
    return 1


@fast_step
def _sweep(mask: Words, draws: Draws) -> int:
    """Draw all slices anew, one after the other; return how many were open."""
    changed = 0
    for j in range(draws.columns.shape[0]):
        decided, bit = _NONE, np.uint64(j)
        for channel in range(mask.shape[0]):
            for i in range(mask.shape[1]):
                if (mask[channel, i] >> bit) & _ONE:
                    decided |= draws.channels[channel] & draws.rows[i]
        changed += _redraw(draws.columns, j, decided, draws.state)
    for i in range(draws.rows.shape[0]):
        decided = _NONE
        for channel in range(mask.shape[0]):
            for j in range(draws.columns.shape[0]):
                if (mask[channel, i] >> np.uint64(j)) & _ONE:
                    decided |= draws.channels[channel] & draws.columns[j]
        changed += _redraw(draws.rows, i, decided, draws.state)
    for channel in range(mask.shape[0]):
        decided = _NONE
        for i in range(mask.shape[1]):
            for j in range(draws.columns.shape[0]):
                if (mask[channel, i] >> np.uint64(j)) & _ONE:
                    decided |= draws.rows[i] & draws.columns[j]
        changed += _redraw(draws.channels, channel, decided, draws.state)
    return changed


@fast_step
def average_face(mask: Words, active: VertexSet, count: int, draws: Draws, mean: Float32) -> None:
    """Write the mean, (channels, rows, columns), over the tensors that agree with the vertices at samples."""
    channels, rows, columns = mean.shape
    draws.state[0] = _SEED
    for channel in range(channels):
        for i in range(rows):
            for j in range(columns):
                mean[channel, i, j] = np.float32(0.0)
    for vertex in range(count):
        _start(active, vertex, draws)
        for _ in range(_SWEEPS):
            if _sweep(mask, draws) == 0:
                break
        share = np.float32(active.weight[vertex]) * _SHARE
        for channel in range(channels):
            for i in range(rows):
                both = draws.channels[channel] & draws.rows[i]
                if both != _NONE:
                    for j in range(columns):
                        mean[channel, i, j] += share * np.float32(count_bits(both & draws.columns[j]))
