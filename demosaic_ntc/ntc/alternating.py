"""Alternating maximisation: a heuristic oracle that finds good vertices fast and never certifies.

The paper's Algorithm 2 flips one bit of one factor at a time. Here each mode is solved in closed form
with the others fixed (`kernels.alternating.alternate`), which no sequence of flips within that mode can
beat, from 64 starts at a time: mutations of the best vertex of the last call and random factors. Where
there are very many cells, the starts run on a random part of them, and the best go on with all.
"""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float64
from demosaic_ntc.ntc.atoms import vertices_of_starts
from demosaic_ntc.ntc.kernels.alternating import WORD_BITS, Words, alternate
from demosaic_ntc.ntc.oracle import HANDED_OUT, Oracle, OracleResult, VertexCache
from demosaic_ntc.ntc.problem import Bits, Observations, Slots

SWEEPS = 60
KEPT = 30  # how many other local optima of a call are remembered
NEARLY = 0.7  # where none meets the target, those of at least this part of the best value are taken, too
PART, PART_PER_SLICE = 20_000, 64  # cells on which the starts run where there are more than twice as many
FINALISTS = 8  # starts that go on with all cells

_EVERY = np.uint64(2**64 - 1)
_MUTATED = np.uint64(2**32 - 1)  # half of the starts are mutations of the best vertex of the last call


class AlternatingMaximisation:
    """Closed-form coordinate descent over the modes from batches of 64 starts."""

    name = "alternating"

    def __init__(
        self, observed: Observations, seed: int, memory: VertexCache | None = None, batches: int = 1
    ) -> None:
        self._columns = observed.columns
        self._offsets = observed.offsets
        self._random = np.random.default_rng(seed)
        self._memory = memory
        self._batches = batches
        self._incumbent: Bits | None = None

    def __call__(self, gradient: Float64, target: float) -> OracleResult:
        """Run batches of starts until one meets the target; remember the other good vertices."""
        best: OracleResult | None = None
        for _ in range(self._batches):
            words, values = self._improve(self._starts(), gradient)
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
            a, b, c, d, e = self._random.integers(0, 2**64, (5, self._offsets[-1]), dtype=np.uint64)
            flips = (a & b | c) & d & e  # each bit with the probability 5/32: a half, ¼, ⅝, 5/16, 5/32
            mutated = np.where(self._incumbent, ~flips, flips)
            words = (words & ~_MUTATED) | (mutated & _MUTATED)
        return words

    def _improve(self, words: Words, gradient: Float64) -> tuple[Words, Float64]:
        """Return the starts moved to local optima, and their values: infinite for those left on the way."""
        cells = gradient.size
        size = max(PART, PART_PER_SLICE * words.size)
        if cells <= 2 * size:
            return words, alternate(self._columns, self._offsets, gradient, words, _EVERY, SWEEPS)
        part = np.sort(self._random.integers(0, cells, size))
        columns: Slots = np.ascontiguousarray(self._columns[:, part])
        rough = alternate(columns, self._offsets, gradient[part], words, _EVERY, SWEEPS)
        finalists = _distinct_best(rough, FINALISTS)
        alive = np.bitwise_or.reduce(np.uint64(1) << finalists.astype(np.uint64))
        values = np.full(WORD_BITS, np.inf)
        exact = alternate(self._columns, self._offsets, gradient, words, alive, SWEEPS)
        values[finalists] = exact[finalists]
        return words, values

    def _harvest(self, words: Words, values: Float64, gradient: Float64, target: float) -> OracleResult:
        """Return the best start's vertex with other good ones; remember the next best."""
        chosen = _distinct_best(values, KEPT + 1)
        enough = max(target, NEARLY * values[chosen[0]])  # values below zero are of use
        good = chosen[: max(1, int((values[chosen] <= enough).sum()))]
        best, *others = vertices_of_starts(self._columns, words, good.astype(np.uint64))
        if self._memory:
            self._memory.keep(others[HANDED_OUT - 1 :])
        return OracleResult(best, float(gradient[best.support].sum()), others=tuple(others[: HANDED_OUT - 1]))


def _distinct_best(values: Float64, count: int) -> NDArray[np.int64]:
    """Return the starts with the lowest values, the best first, one of each value and finite ones only."""
    _, first = np.unique(values, return_index=True)
    return first[np.isfinite(values[first])][:count]


def make_heuristic_oracles(observed: Observations, seed: int) -> list[Oracle]:
    """Return the cheap oracles, cheapest first: vertices seen before, and 64 starts of the heuristic."""
    memory = VertexCache()
    return [memory, AlternatingMaximisation(observed, seed, memory)]
