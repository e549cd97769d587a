"""Alternating maximisation: a heuristic oracle that finds good vertices fast and never certifies.

The paper's Algorithm 2 flips one bit of one factor at a time. Here each mode is solved in closed form
with the others fixed (`kernels.alternating.alternate`), which no sequence of flips within that mode can
beat, from 64 starts at a time: mutations of the best active vertex and random factors.
"""

import numpy as np

from demosaic_ntc.ntc.atoms import Vertex, vertex_of
from demosaic_ntc.ntc.kernels.alternating import Words, alternate
from demosaic_ntc.ntc.oracle import Found, Oracle, Remembered
from demosaic_ntc.ntc.problem import Bits, Floats, Observations

SWEEPS = 60
MUTATED_STARTS = 32
MUTATION_RATE = 0.15
KEPT = 30  # how many other local optima of a call are remembered


class AlternatingMaximisation:
    """Closed-form coordinate descent over the modes from batches of 64 starts."""

    name = "alternating"

    def __init__(
        self, observed: Observations, seed: int, memory: Remembered | None = None, batches: int = 1
    ) -> None:
        self._slots = observed.slots
        self._offsets = observed.offsets
        self._random = np.random.default_rng(seed)
        self._memory = memory
        self._batches = batches
        self._incumbent: Bits | None = None

    def __call__(self, gradient: Floats, target: float) -> Found:
        """Run batches of starts until one meets the target; remember the other good vertices."""
        best: Found | None = None
        for _ in range(self._batches):
            words = self._starts()
            values = alternate(self._slots, self._offsets, gradient, words, SWEEPS)
            found = self._harvest(words, values, gradient, target)
            if best is None or found.value < best.value:
                best = found
            if best.value <= target:
                break
        assert best is not None
        self._incumbent = best.vertex.factors
        return best

    def _starts(self) -> Words:
        """Draw 64 starts, bit b of each word belonging to start b."""
        words: Words = self._random.integers(0, 2**64, self._offsets[-1], dtype=np.uint64)
        if self._incumbent is not None:
            flips = self._random.random((self._offsets[-1], MUTATED_STARTS)) < MUTATION_RATE
            mutated = self._incumbent[:, None] ^ flips
            low = (mutated.astype(np.uint64) << np.arange(MUTATED_STARTS, dtype=np.uint64)).sum(axis=1)
            words = (words >> np.uint64(MUTATED_STARTS) << np.uint64(MUTATED_STARTS)) | low.astype(np.uint64)
        return words

    def _harvest(self, words: Words, values: Floats, gradient: Floats, target: float) -> Found:
        """Return the best start's vertex; remember the next best ones that differ in value."""
        order = np.argsort(values, kind="stable")
        _, distinct = np.unique(values[order], return_index=True)
        chosen = order[distinct[: KEPT + 1]]
        best = self._vertex(words, int(chosen[0]))
        if self._memory:
            self._memory.keep([self._vertex(words, int(b)) for b in chosen[1:] if values[b] <= target])
        return Found(best, float(gradient[best.support].sum()))

    def _vertex(self, words: Words, start: int) -> Vertex:
        factors = ((words >> np.uint64(start)) & np.uint64(1)).astype(np.uint8)
        return vertex_of(self._slots, factors)


def guessing_oracles(observed: Observations, seed: int) -> list[Oracle]:
    """Return the cheap oracles, cheapest first: vertices seen before, and 64 starts of the heuristic."""
    memory = Remembered()
    return [memory, AlternatingMaximisation(observed, seed, memory)]
