"""Descent inside the active set, on its matrix of inner products Q alone.

Two ways to lower ‖Σ a_i p_i‖² = aᵀ Q a over the simplex. *Fully corrective*: Wolfe's finite method for
the least-norm point of a polytope (P. Wolfe, "Finding the nearest point in a polytope", Mathematical
Programming 11, 1976): go to the minimiser over the affine hull; where that leaves the simplex, stop at
its border, drop the vertex that reached weight zero, and go on. *Simplex descent*: the step of Blended
Conditional Gradients (G. Braun, S. Pokutta, D. Tu and S. Wright, ICML 2019, Algorithm 2).
"""

from typing import Protocol

import numpy as np

from demosaic_ntc.ntc.atoms import ActiveSet, Vertex
from demosaic_ntc.ntc.kernels.cholesky import affine_minimiser, append_to_cholesky, remove_from_cholesky
from demosaic_ntc.ntc.problem import Floats

SMALLEST_PIVOT = 1e-13  # of a point relative to its length: below, it lies in the others' affine hull
SMALLEST_WEIGHT = 1e-13


class Descent(Protocol):
    """Moves weight among the active vertices."""

    def absorb(self, active: ActiveSet, vertex: Vertex) -> None:
        """Take a new vertex into the active set and move towards it."""

    def descend(self, active: ActiveSet) -> None:
        """Lower the objective without a new vertex."""


class FullyCorrective:
    """Wolfe's step: after it the point is optimal over the convex hull of what remains active."""

    def __init__(self) -> None:
        self._factor: Floats = np.empty((16, 16))
        self._count = 0  # rows of the Cholesky factor of (Q + 1) that are up to date

    def absorb(self, active: ActiveSet, vertex: Vertex) -> None:
        """Add the vertex without weight and correct all weights."""
        active.append(vertex, 0.0)
        self.descend(active)

    def descend(self, active: ActiveSet) -> None:
        """Alternate between affine minimisation and dropping what it drives to zero."""
        self._extend(active)
        while True:
            ideal = affine_minimiser(self._factor, self._count)
            if not np.isfinite(ideal).all():
                self._count = 0
                self._extend(active)
                return
            if ideal.min() > SMALLEST_WEIGHT or len(active) == 1:
                active.weights = ideal
                return
            self._go_to_border(active, ideal)

    def _go_to_border(self, active: ActiveSet, ideal: Floats) -> None:
        leaving = np.flatnonzero(ideal <= SMALLEST_WEIGHT)
        weights = active.weights[leaving]
        reach = weights / np.maximum(weights - ideal[leaving], SMALLEST_WEIGHT)
        step = min(float(reach.min()), 1.0)
        active.weights = active.weights + step * (ideal - active.weights)
        active.weights[leaving[reach.argmin()]] = 0.0
        for position in np.flatnonzero(active.weights <= SMALLEST_WEIGHT)[::-1]:
            if len(active) > 1:
                self._drop(active, int(position))

    def _drop(self, active: ActiveSet, position: int) -> None:
        active.remove(position)
        remove_from_cholesky(self._factor, self._count, position)
        self._count -= 1

    def _extend(self, active: ActiveSet) -> None:
        """Bring the factor up to the active set; points in the affine hull of the others are let go."""
        self._make_room(len(active))
        gram = active.gram
        while self._count < len(active):
            pivot = append_to_cholesky(gram, self._factor, self._count)
            if pivot > SMALLEST_PIVOT * (gram[self._count, self._count] + 1.0):
                self._count += 1
            else:
                active.remove(self._count)
                gram = active.gram
        active.weights = active.weights / active.weights.sum()

    def _make_room(self, wanted: int) -> None:
        if wanted > len(self._factor):
            factor = np.empty((2 * wanted, 2 * wanted))
            factor[: self._count, : self._count] = self._factor[: self._count, : self._count]
            self._factor = factor


class SimplexDescent:
    """The simplex descent step of Blended Conditional Gradients."""

    def absorb(self, active: ActiveSet, vertex: Vertex) -> None:
        """Move on the segment from the point to the vertex, as far as the objective falls."""
        active.append(vertex, 0.0)
        slopes = active.gram @ active.weights
        here, there = float(active.weights @ slopes), float(active.gram[-1, -1])
        cross = float(slopes[-1])
        step = min(max((here - cross) / (here - 2 * cross + there), 0.0), 1.0)
        active.weights = (1 - step) * active.weights
        active.weights[-1] += step

    def descend(self, active: ActiveSet) -> None:
        """Go along the projected gradient to the border of the simplex, or to the best point before it."""
        weights, gram = active.weights, active.gram
        slopes = gram @ weights
        direction = slopes - slopes.mean()
        falling = direction > 0
        if not falling.any():
            return
        reach = weights[falling] / direction[falling]
        border = float(reach.min())
        curvature = float(direction @ gram @ direction)
        best = float(direction @ direction) / curvature if curvature > 0 else np.inf
        active.weights = np.maximum(weights - min(best, border) * direction, 0.0)
        if best >= border:
            active.remove(int(np.flatnonzero(falling)[reach.argmin()]))
