"""Alternating maximisation, 64 starts to a machine word, and the one-bit flips of Algorithm 2."""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.compiled import kernel
from demosaic_ntc.ntc.problem import Bits, Floats, Slots

Words = NDArray[np.uint64]
Counts = NDArray[np.int64]

WORD_BITS = 64
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_TOP_SIX = np.uint64(58)


def _positions_of_single_bits() -> NDArray[np.uint8]:
    """Tabulate log2 of a power of two by the top six bits of its product with a de Bruijn number."""
    table = np.zeros(WORD_BITS, np.uint8)
    for bit in range(WORD_BITS):
        product = (int(_DE_BRUIJN) << bit) & int(_ALL)
        table[product >> int(_TOP_SIX)] = bit
    return table


_BIT_POSITION = _positions_of_single_bits()


@kernel
def _scatter_gains(
    slots: Slots, mode: int, first_slot: int, cost: Floats, words: Words, alive: np.uint64, gains: Floats
) -> None:
    """Add cost[u] to gains[slice of u in the mode, b] for every start b that has u in its other factors."""
    cells, modes = slots.shape
    for cell in range(cells):
        word = alive
        for other in range(modes):
            if other != mode:
                word &= words[slots[cell, other]]
        row = slots[cell, mode] - first_slot
        while word != _ZERO:
            lowest = word & (~word + _ONE)
            gains[row, _BIT_POSITION[(lowest * _DE_BRUIJN) >> _TOP_SIX]] += cost[cell]
            word ^= lowest


@kernel
def _choose_factors(
    gains: Floats, first_slot: int, words: Words, alive: np.uint64, values: Floats
) -> np.uint64:
    """Set each slice to one where its gain is negative; return the starts in which something changed.

    A gain of exactly zero means that no observed cell depends on the choice. It then stays as it was drawn:
    a fair coin, because unseen entries of the tensor depend on it and either rule would bias them.
    """
    changed = _ZERO
    for bit in range(WORD_BITS):
        if (alive >> np.uint64(bit)) & _ONE:
            values[bit] = 0.0
    for row in range(gains.shape[0]):
        before = words[first_slot + row]
        chosen, undecided = _ZERO, _ZERO
        for bit in range(WORD_BITS):
            gain = gains[row, bit]
            if gain < 0.0:
                chosen |= _ONE << np.uint64(bit)
                values[bit] += gain
            elif gain == 0.0:
                undecided |= _ONE << np.uint64(bit)
        after = (before & (~alive | undecided)) | (chosen & alive)
        changed |= before ^ after
        words[first_slot + row] = after
    return changed


@kernel
def alternate(slots: Slots, offsets: Counts, cost: Floats, words: Words, sweeps: int) -> Floats:
    """Lower ⟨cost, vertex⟩ from 64 starts at once, mode by mode in closed form; return the values reached.

    Bit b of ``words[s]`` says whether start b has slice s in its factor. With all modes but i fixed,
    ⟨cost, ⊗θ⟩ = Σ_k θ_k g_k with g_k = Σ_{u: u_i = k} cost_u Π_{j≠i} θ_{u_j}, so the best θ is [g_k < 0].
    The products of all 64 starts are one AND per mode. A start that a whole sweep leaves unchanged is done.
    """
    modes = slots.shape[1]
    values = np.zeros(WORD_BITS)
    alive = _ALL
    for _ in range(sweeps):
        changed = _ZERO
        for mode in range(modes):
            gains = np.zeros((offsets[mode + 1] - offsets[mode], WORD_BITS))
            _scatter_gains(slots, mode, offsets[mode], cost, words, alive, gains)
            changed |= _choose_factors(gains, offsets[mode], words, alive, values)
        alive &= changed
        if alive == _ZERO:
            break
    return values


@kernel
def flip_bits(slots: Slots, cost: Floats, factors: Bits) -> float:
    """Algorithm 2 of the paper: one pass over all factors, keeping each flip that lowers ⟨cost, vertex⟩."""
    cells, modes = slots.shape
    total = 0.0
    for slot in range(-1, factors.shape[0]):
        if slot >= 0:
            factors[slot] = 1 - factors[slot]
        flipped = 0.0
        for cell in range(cells):
            product = factors[slots[cell, 0]]
            for mode in range(1, modes):
                product &= factors[slots[cell, mode]]
            flipped += cost[cell] * product
        if slot < 0 or flipped < total:
            total = flipped
        else:
            factors[slot] = 1 - factors[slot]
    return total
