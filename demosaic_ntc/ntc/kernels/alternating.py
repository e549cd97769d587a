"""Alternating maximisation, 64 starts to a machine word, and the one-bit flips of Algorithm 2."""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float64
from demosaic_ntc.jit.compiled import kernel
from demosaic_ntc.ntc.problem import Slots

Words = NDArray[np.uint64]
Counts = NDArray[np.int64]

WORD_BITS = 64
VECTOR = 8  # starts are listed in multiples of this: loops without a rest
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


@kernel
def _list_starts(alive: np.uint64, starts: Words) -> int:
    """List the starts in ``alive``; return how many places are taken, filled up to whole vectors."""
    count = 0
    for bit in range(WORD_BITS):
        if (alive >> np.uint64(bit)) & _ONE:
            starts[count] = np.uint64(bit)
            count += 1
    last = starts[max(count - 1, 0)]
    while count % VECTOR:
        starts[count] = last
        count += 1
    return count


@kernel
def _add_gains(
    row_of: Slots,
    first_slot: int,
    cost: Float64,
    before: Words,
    behind: Words,
    alive: np.uint64,
    starts: Words,
    gains: Float64,
) -> None:
    """Add cost[u] to gains[slice of u in the mode, s] for each start s that has u in its other factors.

    All starts are added to, those without u by zero: a straight loop is faster than picking bits.
    """
    count = starts.shape[0]
    for cell in range(row_of.shape[0]):
        word = before[cell] & behind[cell] & alive
        if word != _ZERO:
            row, amount = row_of[cell] - first_slot, cost[cell]
            for start in range(count):
                gains[row, start] += amount if (word >> starts[start]) & _ONE else 0.0


@kernel
def _choose_factors(
    gains: Float64, first_slot: int, words: Words, alive: np.uint64, starts: Words, values: Float64
) -> np.uint64:
    """Set each slice to one where its gain is negative; return the starts in which something changed.

    A gain of exactly zero means that no observed cell depends on the choice. It then stays as it was drawn:
    a fair coin, because unseen entries of the tensor depend on it and either rule would bias them.
    """
    changed = _ZERO
    count = starts.shape[0]
    totals = np.zeros(count)
    for row in range(gains.shape[0]):
        before = words[first_slot + row]
        chosen, undecided = _ZERO, _ZERO
        for start in range(count):
            gain = gains[row, start]
            totals[start] += min(gain, 0.0)
            chosen |= np.uint64(gain < 0.0) << starts[start]
            undecided |= np.uint64(gain == 0.0) << starts[start]
        after = (before & (~alive | undecided)) | (chosen & alive)
        changed |= before ^ after
        words[first_slot + row] = after
    for start in range(count):
        values[starts[start]] = totals[start]
    return changed


@kernel
def products_behind(columns: Slots, words: Words, behind: Words) -> None:
    """Write to behind[i, u] which starts have cell u in all of their factors of the modes after i."""
    modes, cells = columns.shape
    behind[modes - 1, :] = _ALL
    for mode in range(modes - 2, -1, -1):
        for cell in range(cells):
            behind[mode, cell] = behind[mode + 1, cell] & words[columns[mode + 1, cell]]


@kernel
def alternate(
    columns: Slots, offsets: Counts, cost: Float64, words: Words, alive: np.uint64, sweeps: int
) -> Float64:
    """Lower ⟨cost, vertex⟩ from up to 64 starts at once, mode by mode in closed form; return their values.

    ``columns`` are the slots of the cells, (modes, cells). Bit b of ``words[slot]`` is the factor of start b
    at that slot; only starts in ``alive`` move. With all factors but those of mode i fixed, the objective
    is linear in the latter with coefficients g_k = Σ_{u: u_i = k} cost_u Π_{j≠i} θ_{u_j}, so the best θ is
    [g_k < 0]. The products of all 64 starts are one AND of the modes before i, kept up to date, with the
    modes behind it, multiplied once per sweep. A start that a whole sweep leaves unchanged is done, and costs
    no more.
    """
    modes, cells = columns.shape
    values, listed = np.zeros(WORD_BITS), np.zeros(WORD_BITS, np.uint64)
    before, behind = np.empty(cells, np.uint64), np.empty((modes, cells), np.uint64)
    space = np.empty((np.diff(offsets).max(), WORD_BITS))
    for _ in range(sweeps):
        changed = _ZERO
        starts = listed[: _list_starts(alive, listed)]
        before[:] = _ALL
        products_behind(columns, words, behind)
        for mode in range(modes):
            if mode > 0:
                for cell in range(cells):
                    before[cell] &= words[columns[mode - 1, cell]]
            gains = space[: offsets[mode + 1] - offsets[mode]]
            gains[:, : starts.size] = 0.0
            _add_gains(columns[mode], offsets[mode], cost, before, behind[mode], alive, starts, gains)
            changed |= _choose_factors(gains, offsets[mode], words, alive, starts, values)
        alive &= changed
        if alive == _ZERO:
            break
    return values
