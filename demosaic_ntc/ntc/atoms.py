"""Vertices of the polytope, and the active set: the vertices whose convex combination is the point.

With p_i = λ v_i − ȳ, the objective at Σ a_i v_i is noise + ‖Σ a_i p_i‖² in the norm weighted by w. All
that inner steps need is therefore the matrix of the inner products ⟨p_i, p_j⟩, kept up to date as
vertices come and go: a step inside the active set never touches the observations.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from demosaic_ntc.ntc.kernels.cholesky import delete_row_and_column
from demosaic_ntc.ntc.kernels.supports import Counts, combine, sums_over_supports, support_of
from demosaic_ntc.ntc.problem import Bits, Floats, Problem, Slots


@dataclass(frozen=True, slots=True)
class Vertex:
    """A 0-1 rank-1 tensor: its factors, and the observed cells at which it is one."""

    factors: Bits  # (slots,): the modes concatenated
    support: Slots


def vertex_of(slots: Slots, factors: Bits) -> Vertex:
    """Return the vertex with these factors."""
    return Vertex(factors, support_of(slots, factors))


class Shelf:
    """Vertices in a row, their supports packed in one array so that sums over all of them are one loop."""

    def __init__(self) -> None:
        self.vertices: list[Vertex] = []
        self._flat: Slots = np.empty(1024, np.int32)
        self._used = 0
        self._start: Counts = np.empty(16, np.int64)
        self._length: Counts = np.empty(16, np.int64)

    def __len__(self) -> int:
        return len(self.vertices)

    def append(self, vertex: Vertex) -> None:
        """Put a vertex at the end."""
        count, size = len(self.vertices), vertex.support.size
        if self._used + size > self._flat.size:
            self._repack(size)
        if count == self._start.size:
            self._start = np.resize(self._start, 2 * count)
            self._length = np.resize(self._length, 2 * count)
        self._flat[self._used : self._used + size] = vertex.support
        self._start[count], self._length[count] = self._used, size
        self._used += size
        self.vertices.append(vertex)

    def remove(self, position: int) -> None:
        """Take a vertex away; those behind it move up."""
        count = len(self.vertices)
        del self.vertices[position]
        self._start[position : count - 1] = self._start[position + 1 : count]
        self._length[position : count - 1] = self._length[position + 1 : count]

    def sums(self, values: Floats) -> Floats:
        """Return ⟨values, v⟩ for each vertex."""
        return sums_over_supports(values, self._flat, self._start, self._length, len(self.vertices))

    def combination(self, weights: Floats, point: Floats) -> None:
        """Write Σ weights · vertex into the point."""
        combine(weights, self._flat, self._start, self._length, point)

    def _repack(self, wanted: int) -> None:
        """Close the holes that removed vertices left, and make room."""
        held = sum(vertex.support.size for vertex in self.vertices)
        flat = np.empty(2 * (held + wanted), np.int32)
        self._used = 0
        for position, vertex in enumerate(self.vertices):
            flat[self._used : self._used + vertex.support.size] = vertex.support
            self._start[position] = self._used
            self._used += vertex.support.size
        self._flat = flat


class ActiveSet:
    """A convex combination of vertices with the inner products of its members."""

    def __init__(self, problem: Problem, vertices: Sequence[Vertex], weights: Floats) -> None:
        self.problem = problem
        self.shelf = Shelf()
        self.weights: Floats = np.zeros(0)
        self.point: Floats = np.zeros(problem.observed.value.size)
        self._gram: Floats = np.empty((16, 16))
        self._overlap: Floats = np.empty(16)  # Σ_u∈support w ȳ for each vertex
        self._scratch: Floats = np.zeros(problem.observed.value.size)
        for vertex in vertices:
            self.append(vertex, 0.0)
        self.weights = np.array(weights, np.float64)
        self.refresh()

    def __len__(self) -> int:
        return len(self.shelf)

    @property
    def gram(self) -> Floats:
        """The inner products ⟨p_i, p_j⟩ of the members."""
        count = len(self)
        return self._gram[:count, :count]

    def append(self, vertex: Vertex, weight: float) -> None:
        """Add a vertex; the weights of the others shrink to make room for its own."""
        count = len(self)
        if count == len(self._gram):
            self._grow()
        self.shelf.append(vertex)
        self._gram[count, : count + 1] = self._gram[: count + 1, count] = self._products(vertex)
        self.weights = np.append((1 - weight) * self.weights, weight)

    def remove(self, position: int) -> None:
        """Drop a vertex and its weight, as it is."""
        count = len(self)
        self.shelf.remove(position)
        delete_row_and_column(self._gram, count, position)
        self._overlap[position : count - 1] = self._overlap[position + 1 : count].copy()
        self.weights = np.delete(self.weights, position)

    def refresh(self) -> None:
        """Compute the point anew from the weights, so that rounding errors never add up."""
        self.weights = np.maximum(self.weights, 0.0)
        self.weights /= self.weights.sum()
        self.shelf.combination(self.weights, self.point)

    def _products(self, vertex: Vertex) -> Floats:
        """Return ⟨p_i, p_new⟩ = λ² Σ_both w − λ (b_i + b_new) + Σ w ȳ², the vertex itself last."""
        observed, radius, inside = self.problem.observed, self.problem.radius, vertex.support
        count = len(self)
        self._scratch[inside] = observed.weight[inside]
        common = self.shelf.sums(self._scratch)
        self._scratch[inside] = 0.0
        self._overlap[count - 1] = observed.weight[inside] @ observed.value[inside]
        sums = self._overlap[:count] + self._overlap[count - 1]
        return np.asarray(radius * radius * common - radius * sums + observed.energy)

    def _grow(self) -> None:
        count = len(self)
        gram = np.empty((2 * count, 2 * count))
        gram[:count, :count] = self._gram[:count, :count]
        self._gram = gram
        self._overlap = np.resize(self._overlap, 2 * count)


def constant_start(problem: Problem) -> ActiveSet:
    """Return the active set of the best constant: the all-ones vertex and, where λ exceeds it, zero."""
    observed = problem.observed
    ones = np.ones(int(observed.offsets[-1]), np.uint8)
    share = min(float(observed.weight @ observed.value) / problem.radius, 1.0)
    vertices = [vertex_of(observed.slots, ones), vertex_of(observed.slots, 0 * ones)]
    return ActiveSet(problem, vertices, np.array([share, 1.0 - share]))


def entries_at(slots: Slots, active: ActiveSet) -> Floats:
    """Return the active set's point, of the unit polytope, at other cells than the observed ones."""
    point = np.zeros(len(slots))
    for vertex, weight in zip(active.shelf.vertices, active.weights, strict=True):
        point[support_of(slots, vertex.factors)] += weight
    return point
