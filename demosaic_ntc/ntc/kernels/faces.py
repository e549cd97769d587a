"""Vertices that agree with a given one at every observed cell, 64 at a time."""

import numpy as np

from demosaic_ntc.jit.compiled import kernel
from demosaic_ntc.ntc.kernels.alternating import Counts, Words, products_behind
from demosaic_ntc.ntc.problem import Slots

_ZERO = np.uint64(0)
_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


@kernel
def _redraw(
    columns: Slots, offsets: Counts, words: Words, coins: Words, before: Words, behind: Words
) -> None:
    """Redraw the undecided slices of the copies of one vertex."""
    modes, cells = columns.shape
    before[:] = _ALL
    products_behind(columns, words, behind)
    for mode in range(modes):
        decided = np.zeros(offsets[mode + 1] - offsets[mode], np.uint64)
        for cell in range(cells):
            if mode > 0:
                before[cell] &= words[columns[mode - 1, cell]]
            decided[columns[mode, cell] - offsets[mode]] |= before[cell] & behind[mode, cell]
        for row in range(decided.shape[0]):
            slot = offsets[mode] + row
            words[slot] = (words[slot] & decided[row]) | (coins[slot] & ~decided[row])


@kernel
def redraw_undecided(columns: Slots, offsets: Counts, words: Words, coins: Words) -> None:
    """Redraw, mode by mode, the slices on which no observed cell depends: one sweep of a Gibbs sampler.

    Bit b of ``words[i, slot]`` is the factor of copy b of vertex i at that slot. With the other modes fixed,
    slice k of a mode is decided for a copy where some observed cell of the slice lies in all of its other
    factors; where none does, either choice leaves the support as it is and ``coins[i, slot]`` decides.
    """
    modes, cells = columns.shape
    before, behind = np.empty(cells, np.uint64), np.empty((modes, cells), np.uint64)
    for vertex in range(words.shape[0]):
        _redraw(columns, offsets, words[vertex], coins[vertex], before, behind)
