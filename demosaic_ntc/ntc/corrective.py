"""Descent inside the active set, on its matrix of inner products Q alone.

Two ways to lower ‖Σ a_i p_i‖² = aᵀ Q a over the simplex. *Fully corrective*: Wolfe's finite method for
the least-norm point of a polytope (P. Wolfe, "Finding the nearest point in a polytope", Mathematical
Programming 11, 1976): go to the minimiser over the affine hull; where that leaves the simplex, stop at
its border, drop the vertex that reached weight zero, and go on. *Simplex descent*: the simplex gradient
descent of Blended Conditional Gradients (G. Braun, S. Pokutta, D. Tu and S. Wright, ICML 2019, Algorithm 2),
which is what the paper runs.
"""

from collections.abc import Sequence
from typing import ClassVar, Protocol

import numpy as np

from demosaic_ntc.arrays import Float64
from demosaic_ntc.ntc.atoms import ActiveSet, Vertex
from demosaic_ntc.ntc.kernels.corrective import correct_weights


class Descent(Protocol):
    """Moves weight among the active vertices."""

    as_published: ClassVar[bool]  # whether Φ and the oracle are used as in the published algorithm

    def absorb(self, active: ActiveSet, vertices: Sequence[Vertex]) -> None:
        """Take new vertices into the active set and move towards them."""

    def descend(self, active: ActiveSet) -> None:
        """Lower the objective without a new vertex."""


class FullyCorrective:
    """Wolfe's step: after it the point is optimal over the convex hull of what remains active."""

    as_published: ClassVar[bool] = False

    def __init__(self) -> None:
        self._factor: Float64 = np.empty((16, 16))
        self._count = 0  # members whose rows of the Cholesky factor, of common + 1, are up to date

    def absorb(self, active: ActiveSet, vertices: Sequence[Vertex]) -> None:
        """Add the vertices without weight and correct all weights."""
        active.extend(vertices)
        self.descend(active)

    def descend(self, active: ActiveSet) -> None:
        """Alternate between affine minimisation and dropping what it drives to zero."""
        radius = active.problem.radius
        self._make_room(len(active))
        members, weights = np.arange(len(active)), active.weights.copy()
        count, sound = correct_weights(
            active.common, active.overlap, radius, self._factor, self._count, members, weights
        )
        active.keep(members[:count])
        active.weights = weights[:count]
        self._count = count if sound else 0

    def _make_room(self, wanted: int) -> None:
        if wanted > len(self._factor):
            factor = np.empty((2 * wanted, 2 * wanted))
            factor[: self._count, : self._count] = self._factor[: self._count, : self._count]
            self._factor = factor


class SimplexDescent:
    """The steps of Blended Conditional Gradients as published."""

    as_published: ClassVar[bool] = True

    def absorb(self, active: ActiveSet, vertices: Sequence[Vertex]) -> None:
        """Go to the best point of the segment from the point to the first vertex; drop what has no weight."""
        place = _place_of(active, vertices[0])
        gram = active.gram
        slopes = gram @ active.weights
        here, cross, there = float(active.weights @ slopes), float(slopes[place]), float(gram[place, place])
        step = min(max((here - cross) / (here - 2 * cross + there), 0.0), 1.0)
        active.weights = (1 - step) * active.weights
        active.weights[place] += step
        active.keep(np.flatnonzero(active.weights))

    def descend(self, active: ActiveSet) -> None:
        """Go along the projected gradient to the border of the simplex, or to the best point before it.

        To the border wherever the objective is no higher there than here, so that a vertex is dropped. On
        the way the objective is a parabola: it has its first value again at twice its minimum's distance.
        """
        weights, gram = active.weights, active.gram
        slopes = gram @ weights
        direction = slopes - slopes.mean()
        falling = np.flatnonzero(direction > 0)
        if not falling.size:
            return
        reach = weights[falling] / direction[falling]
        border = float(reach.min())
        curvature = float(direction @ gram @ direction)
        best = float(direction @ direction) / curvature if curvature > 0 else np.inf
        dropping = border <= 2 * best
        active.weights = np.maximum(weights - (border if dropping else best) * direction, 0.0)
        if dropping:
            active.weights[falling[reach == border]] = 0.0
            active.keep(np.flatnonzero(active.weights))


def _place_of(active: ActiveSet, vertex: Vertex) -> int:
    """Return where a vertex stands among the active ones, at the end if it is new: they are a set."""
    for place, member in enumerate(active.shelf.vertices):
        if np.array_equal(member.support, vertex.support):
            return place
    active.extend([vertex])
    return len(active) - 1
