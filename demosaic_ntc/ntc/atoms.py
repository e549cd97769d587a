"""Vertices of the polytope, and the active set: the vertices whose convex combination is the point.

With p_i = λ v_i − ȳ, the objective at Σ a_i v_i is noise + ‖Σ a_i p_i‖² in the norm weighted by w. All
that inner steps need is therefore ⟨p_i, p_j⟩ = λ² ⟨v_i, v_j⟩ − λ (⟨v_i, ȳ⟩ + ⟨v_j, ȳ⟩) + ⟨ȳ, ȳ⟩. The
products of the vertices with each other and with ȳ do not depend on λ; they are kept up to date as
vertices come and go. A step inside the active set never touches the observations, and the radius may
change at any time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from demosaic_ntc.arrays import Float64
from demosaic_ntc.ntc.kernels.supports import (
    Counts,
    Words,
    combine,
    inner_products,
    keep_rows_and_columns,
    sums_over_supports,
    support_of,
    supports_of_starts,
)
from demosaic_ntc.ntc.problem import Bits, Observations, Problem, Slots
from demosaic_ntc.ntc.solution import Solution


@dataclass(frozen=True, slots=True)
class Vertex:
    """A 0-1 rank-1 tensor: its factors, and the observed cells at which it is one."""

    factors: Bits  # (slots,): the modes concatenated
    support: Slots


def vertex_of(slots: Slots, factors: Bits) -> Vertex:
    """Return the vertex with these factors."""
    return Vertex(factors, support_of(slots, factors))


def vertices_of_starts(columns: Slots, words: Words, chosen: Words) -> list[Vertex]:
    """Return some of 64 vertices whose factors are the bits of words, (slots,)."""
    flat, length = supports_of_starts(columns, words, chosen)
    factors = ((words >> chosen[:, None]) & np.uint64(1)).astype(np.uint8)
    ends = np.cumsum(length).tolist()
    starts = [0, *ends[:-1]]
    return [
        Vertex(own, flat[start:end].copy()) for own, start, end in zip(factors, starts, ends, strict=True)
    ]


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

    def extend(self, vertices: Sequence[Vertex]) -> None:
        """Put vertices at the end."""
        count, wanted = len(self.vertices), len(self.vertices) + len(vertices)
        sizes = [vertex.support.size for vertex in vertices]
        room = sum(sizes)
        if self._used + room > self._flat.size:
            self._repack(room)
        if wanted > self._start.size:
            self._start = np.resize(self._start, 2 * wanted)
            self._length = np.resize(self._length, 2 * wanted)
        ends = self._used + np.cumsum(sizes)
        self._length[count:wanted] = sizes
        self._start[count:wanted] = ends - sizes
        np.concatenate([v.support for v in vertices], out=self._flat[self._used : self._used + room])
        self._used += room
        self.vertices.extend(vertices)

    def cells_from(self, first: int) -> int:
        """Return how many cells the supports have together, those before the first left out."""
        return int(self._length[first : len(self.vertices)].sum())

    def keep(self, positions: Counts) -> None:
        """Take all vertices away but those at these ascending positions."""
        self.vertices = [self.vertices[position] for position in positions.tolist()]
        self._start[: positions.size] = self._start[positions]
        self._length[: positions.size] = self._length[positions]

    def sums(self, values: Float64) -> Float64:
        """Return ⟨values, v⟩ for each vertex."""
        return sums_over_supports(values, self._flat, self._start, self._length, len(self.vertices))

    def products(
        self, first: int, observed: Observations, scratch: Float64, common: Float64, overlap: Float64
    ) -> None:
        """Fill in the inner products of the vertices from the first on: with all others, and with ȳ."""
        count = len(self.vertices)
        weight, value = observed.weight, observed.value
        inner_products(
            weight, value, self._flat, self._start, self._length, first, count, scratch, common, overlap
        )

    def combination(self, weights: Float64, point: Float64) -> None:
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

    def __init__(self, problem: Problem, vertices: Sequence[Vertex], weights: Float64) -> None:
        self.problem = problem
        self.shelf = Shelf()
        self.weights: Float64 = np.zeros(0)
        self.point: Float64 = np.zeros(problem.observed.value.size)
        self._common: Float64 = np.empty((16, 16))  # Σ w over the cells that two vertices share
        self._overlap: Float64 = np.empty(16)  # Σ w ȳ over the cells of each vertex
        self._scratch: Float64 = np.zeros(problem.observed.value.size)
        self.extend(vertices)
        self.weights = np.array(weights, np.float64)
        self.refresh()

    def __len__(self) -> int:
        return len(self.shelf)

    @property
    def common(self) -> Float64:
        """The inner products ⟨v_i, v_j⟩ of the members."""
        count = len(self)
        return self._common[:count, :count]

    @property
    def overlap(self) -> Float64:
        """The inner products ⟨v_i, ȳ⟩ of the members with what was observed."""
        return self._overlap[: len(self)]

    @property
    def gram(self) -> Float64:
        """The inner products ⟨p_i, p_j⟩ of the members, computed when asked for."""
        radius, sums = self.problem.radius, self.overlap[:, None] + self.overlap
        products: Float64 = radius * (radius * self.common - sums) + self.problem.observed.energy
        return products

    @property
    def slopes(self) -> Float64:
        """The derivatives ⟨∇f, v_i⟩ towards the members."""
        radius = self.problem.radius
        derivatives: Float64 = 2 * radius * (radius * (self.common @ self.weights) - self.overlap)
        return derivatives

    def extend(self, vertices: Sequence[Vertex]) -> None:
        """Add vertices without weight."""
        before = len(self)
        if before + len(vertices) > len(self._overlap):
            self._grow(before + len(vertices))
        self.shelf.extend(vertices)
        self.shelf.products(before, self.problem.observed, self._scratch, self._common, self._overlap)
        self.weights = np.concatenate([self.weights, np.zeros(len(vertices))])

    def keep(self, positions: Counts) -> None:
        """Drop all members but those at these ascending positions, weights as they are."""
        if positions.size < len(self):
            self.shelf.keep(positions)
            keep_rows_and_columns(self._common, positions)
            self._overlap[: positions.size] = self._overlap[positions]
            self.weights = self.weights[positions]

    def refresh(self) -> None:
        """Compute the point anew from the weights, so that rounding errors never add up."""
        self.weights = np.maximum(self.weights, 0.0)
        self.weights /= self.weights.sum()
        self.shelf.combination(self.weights, self.point)

    def move_to(self, radius: float) -> None:
        """Change the radius: the same tensor, with zero in the room that is gained, or all of it shrunk."""
        share = min(self.problem.radius / radius, 1.0)
        self.problem = Problem(self.problem.observed, radius)
        self.weights = share * self.weights
        if share < 1.0:
            empty = np.flatnonzero(self.overlap + np.diagonal(self.common) == 0.0)
            if not empty.size:
                self.extend([zero_vertex(self.problem)])
            self.weights[empty[0] if empty.size else -1] += 1.0 - share
        self.refresh()

    def _grow(self, wanted: int) -> None:
        count = len(self)
        common = np.empty((2 * wanted, 2 * wanted))
        common[:count, :count] = self._common[:count, :count]
        self._common = common
        self._overlap = np.resize(self._overlap, 2 * wanted)


def zero_vertex(problem: Problem) -> Vertex:
    """Return the vertex that is zero everywhere."""
    return Vertex(np.zeros(int(problem.observed.offsets[-1]), np.uint8), np.zeros(0, np.int32))


def constant_start(problem: Problem) -> ActiveSet:
    """Return the active set of the best constant: the all-ones vertex and, where λ exceeds it, zero."""
    observed = problem.observed
    ones = np.ones(int(observed.offsets[-1]), np.uint8)
    share = min(float(observed.weight @ observed.value) / problem.radius, 1.0)
    vertices = [vertex_of(observed.slots, ones), zero_vertex(problem)]
    return ActiveSet(problem, vertices, np.array([share, 1.0 - share]))


def active_from(problem: Problem, solution: Solution) -> ActiveSet:
    """Return the active set of a solution's tensor, as far as the radius allows.

    Vertices that are the same at all observed cells become one again.
    """
    slots = problem.observed.slots
    merged: dict[bytes, tuple[Vertex, float]] = {}
    for factors, weight in zip(np.concatenate(solution.vertices, axis=1), solution.weights, strict=True):
        vertex = vertex_of(slots, np.ascontiguousarray(factors))
        key = vertex.support.tobytes()
        first, before = merged.get(key, (vertex, 0.0))
        merged[key] = first, before + float(weight)
    vertices, weights = zip(*merged.values(), strict=True)
    active = ActiveSet(Problem(problem.observed, solution.radius), vertices, np.array(weights))
    active.move_to(problem.radius)
    return active


def entries_at(slots: Slots, active: ActiveSet) -> Float64:
    """Return the active set's point, of the unit polytope, at other cells than the observed ones."""
    point = np.zeros(len(slots))
    for vertex, weight in zip(active.shelf.vertices, active.weights, strict=True):
        point[support_of(slots, vertex.factors)] += weight
    return point
