"""The weak separation oracle of Algorithm 1, composed of simple oracles asked cheapest first.

Asked for a vertex v with ⟨c, v⟩ at most a target, an oracle answers with the best vertex it found and a
lower bound on ⟨c, v⟩ over *all* vertices: minus infinity when it only guesses. A vertex that meets the
target is output (1) of Algorithm 1; a lower bound above the target is output (2), its proof that no
such vertex exists. Neither means that nothing is known.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from demosaic_ntc.arrays import Float64
from demosaic_ntc.errors import SolverError
from demosaic_ntc.ntc.atoms import Shelf, Vertex

SHELF_SIZE = 400  # how many vertices seen before are kept,
SHELF_CELLS = 2**24  # and how many cells their supports may have together: 64 MiB
HANDED_OUT = 16  # vertices per answer: one correction of the weights takes them all in
TRUST = 1e-9  # how far a claimed value may be from the recomputed one, relative to Σ|c|


@dataclass(frozen=True, slots=True)
class OracleResult:
    """What an oracle found, and how far below it the true minimum may lie."""

    vertex: Vertex
    value: float
    lower_bound: float = -math.inf  # minus infinity when the oracle only guesses
    others: tuple[Vertex, ...] = ()  # more vertices that meet the target, or nearly as good as the best


NOTHING = OracleResult(Vertex(np.zeros(0, np.uint8), np.zeros(0, np.int32)), math.inf)
"""What an oracle answers that has nothing to say."""


class Oracle(Protocol):
    """Minimises a linear function over the vertices; may stop once `target` is met."""

    name: str

    def __call__(self, gradient: Float64, target: float) -> OracleResult:
        """Return the best vertex found and a lower bound on the minimum."""


class VertexCache:
    """Vertices seen before: other local optima of the heuristic, and those that left the active set."""

    name = "remembered"

    def __init__(self) -> None:
        self._shelf = Shelf()

    def __call__(self, gradient: Float64, target: float) -> OracleResult:
        """Return the best of the vertices seen before; those that meet the target leave the shelf."""
        values = self._shelf.sums(gradient)
        if not values.size:
            return NOTHING
        first = int(values.argmin())
        if not values[first] <= target:
            return OracleResult(self._shelf.vertices[first], float(values[first]))
        good = np.flatnonzero(values <= target)
        good = good[values[good].argsort(kind="stable")][:HANDED_OUT]
        best, *others = (self._shelf.vertices[position] for position in good.tolist())
        left = np.ones(values.size, np.bool_)
        left[good] = False
        self._shelf.keep(np.flatnonzero(left))
        return OracleResult(best, float(values[first]), others=tuple(others))

    def keep(self, vertices: Sequence[Vertex]) -> None:
        """Remember vertices, forgetting the oldest where there are too many."""
        if not vertices:
            return
        self._shelf.extend(vertices)
        excess = max(len(self._shelf) - SHELF_SIZE, 0)
        while self._shelf.cells_from(excess) > SHELF_CELLS:
            excess += 1
        if excess:
            self._shelf.keep(np.arange(excess, len(self._shelf)))


class WeakSeparation:
    """Asks its oracles in turn until one meets the target; the costly ones only when a proof is wanted."""

    def __init__(self, guessing: Sequence[Oracle], proving: Sequence[Oracle] = ()) -> None:
        self.guessing = tuple(guessing)
        self.proving = tuple(proving)
        self.calls: Counter[str] = Counter()

    def __call__(self, gradient: Float64, target: float, *, prove: bool, bound: bool = True) -> OracleResult:
        """Return the first vertex that meets the target, or the best one with the best proven bound.

        Without ``bound`` those are left out that give nothing else.
        """
        oracles = self.guessing + self.proving if prove else self.guessing
        best: OracleResult | None = None
        for oracle in oracles:
            if not bound and getattr(oracle, "only_bounds", False):
                continue
            found = self._ask(oracle, gradient, target)
            if best is not None:
                better = found if found.value < best.value else best
                lower = max(found.lower_bound, best.lower_bound)
                found = OracleResult(better.vertex, better.value, lower, better.others)
            best = found
            if found.value <= target:
                break
        assert best is not None
        return best

    def bound(self, gradient: Float64) -> float:
        """Return the bound that those prove who give nothing else, minus infinity without any."""
        bounding = [oracle for oracle in self.proving if getattr(oracle, "only_bounds", False)]
        return max((self._ask(each, gradient, -math.inf).lower_bound for each in bounding), default=-math.inf)

    def _ask(self, oracle: Oracle, gradient: Float64, target: float) -> OracleResult:
        """Call an oracle and check what it claims: a wrong bound would be a wrong certificate."""
        found = oracle(gradient, target)
        if found is NOTHING:
            return found
        self.calls[oracle.name] += 1
        value = float(gradient[found.vertex.support].sum())
        if value == found.value and found.lower_bound == -math.inf:
            return found
        slack = TRUST * float(np.abs(gradient).sum())
        if not abs(value - found.value) <= slack or found.lower_bound > value + slack:
            raise SolverError(
                f"the {oracle.name} oracle claims {found.value} (bound {found.lower_bound}) for a vertex "
                f"whose value is {value}; choose another oracle and report this"
            )
        return OracleResult(found.vertex, value, min(found.lower_bound, value), found.others)
