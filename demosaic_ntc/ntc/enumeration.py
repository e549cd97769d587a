"""Exact oracles for small tensors: enumeration of all modes but one, and branch and bound.

Minimising ⟨c, ⊗θ⟩ needs no integer program when all modes but the largest are small: fix their factors,
and the best factor of the largest mode is [g_k < 0] in closed form. Where the second largest mode is too
long to enumerate, branch and bound decides its slices one by one.
"""

import math

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float64
from demosaic_ntc.ntc.atoms import Vertex, vertex_of
from demosaic_ntc.ntc.kernels.search import branch_and_bound, enumerate_subsets
from demosaic_ntc.ntc.oracle import OracleResult
from demosaic_ntc.ntc.problem import Bits, Observations

ENUMERATION_WORK = 2.0**26  # additions per call, about a twentieth of a second
BRANCHING_OUTER_BITS = 10  # the modes beyond the two largest are enumerated: at most 2^10 subsets
BRANCHING_NODES = 10_000_000
LARGEST_BLOCK = 1_000_000  # numbers in the dense block of observed slices
ROUNDING = 1e-14  # of Σ|c|: what sums in another order may differ by


class SmallBlock:
    """The observed cells as a dense block without unobserved slices, its modes sorted by size."""

    def __init__(self, observed: Observations) -> None:
        self._observed = observed
        seen = np.bincount(observed.columns.ravel(), minlength=int(observed.offsets[-1])) > 0
        used = [slots + start for slots, start in zip(_split(seen, observed), observed.offsets, strict=False)]
        self._order = np.argsort([slots.size for slots in used], kind="stable")
        self.slices = [used[mode] for mode in self._order]
        self.sizes = tuple(len(slices) for slices in self.slices)
        self._place = np.zeros(seen.size, np.int64)  # of each slot among the used ones of its mode
        self._positions: NDArray[np.int64] | None = None

    @property
    def size(self) -> int:
        """How many numbers the block holds."""
        return math.prod(self.sizes)

    def fill(self, gradient: Float64) -> Float64:
        """Return the block with the gradient at its observed cells, zero elsewhere."""
        if self._positions is None:
            for slices in self.slices:
                self._place[slices] = np.arange(slices.size)
            places = [self._place[self._observed.columns[mode]] for mode in self._order]
            self._positions = np.ravel_multi_index(places, self.sizes)
        block = np.zeros(self.size)
        block[self._positions] = gradient
        return block.reshape(self.sizes)

    def vertex(self, choices: list[NDArray[np.bool_]]) -> Vertex:
        """Return the vertex whose factors are these choices among the slices of each mode."""
        factors: Bits = np.zeros(self._observed.offsets[-1], np.uint8)
        for slices, chosen in zip(self.slices, choices, strict=True):
            factors[slices[chosen]] = 1
        return vertex_of(self._observed.slots, factors)


def _split(seen: NDArray[np.bool_], observed: Observations) -> list[NDArray[np.int64]]:
    """List, mode by mode, the slices that were seen, counted from 0."""
    return [np.flatnonzero(part) for part in np.split(seen, observed.offsets[1:-1])]


def _bits(mask: int, size: int) -> NDArray[np.bool_]:
    return ((mask >> np.arange(size)) & 1).astype(bool)


class Enumeration:
    """Exact: all subsets of all modes but the largest, in Gray-code order."""

    name = "enumeration"

    def __init__(self, observed: Observations) -> None:
        self._block = SmallBlock(observed)

    @property
    def work(self) -> float:
        """Roughly how many additions a call takes."""
        *others, largest = self._block.sizes
        return math.inf if sum(others) > 60 else 2.0 ** sum(others) * largest

    def __call__(self, gradient: Float64, target: float) -> OracleResult:
        """Return the minimiser, or the first vertex that meets the target."""
        block = self._block.fill(gradient)
        sizes = (1, *self._block.sizes[:-1])  # a mode of one slice in front, so that vectors fit too
        widths = [math.prod((*sizes, self._block.sizes[-1])[level + 1 :]) for level in range(len(sizes))]
        masks = np.zeros(len(sizes), np.int64)
        value, complete = enumerate_subsets(
            block.ravel(), np.array(sizes, np.int64), np.array(widths, np.int64), target, masks
        )
        choices = [_bits(int(mask), size) for mask, size in zip(masks[1:], sizes[1:], strict=True)]
        last = block
        for chosen in choices:
            last = last[chosen].sum(axis=0)
        vertex = self._block.vertex([*choices, (last < 0) & (masks[0] > 0)])
        rounding = ROUNDING * float(np.abs(gradient).sum())
        exact = float(gradient[vertex.support].sum())
        return OracleResult(vertex, exact, value - rounding if complete else -math.inf)


class BranchAndBound:
    """Exact up to a number of nodes: enumerates the small modes and branches on the second largest."""

    name = "branch-and-bound"

    def __init__(self, observed: Observations, nodes: int = BRANCHING_NODES) -> None:
        self._block = SmallBlock(observed)
        self._nodes = nodes

    @property
    def suitable(self) -> bool:
        """Whether the modes beyond the two largest can be enumerated and the block be held."""
        return sum(self._block.sizes[:-2]) <= BRANCHING_OUTER_BITS and self._block.size <= LARGEST_BLOCK

    def __call__(self, gradient: Float64, target: float) -> OracleResult:
        """Return the minimiser, or the first vertex that meets the target, or what the nodes allowed."""
        sizes = (1,) * max(0, 2 - len(self._block.sizes)) + self._block.sizes
        block = self._block.fill(gradient).reshape(sizes)
        best, best_value, bound, nodes = None, 0.0, 0.0, self._nodes
        for outer, matrix in _sort_by_promise(block):
            order = np.argsort(-np.abs(matrix).sum(axis=1), kind="stable")
            rows = np.zeros(matrix.shape[0], np.uint8)
            value, lower, nodes = branch_and_bound(matrix[order], target, best_value, nodes, rows)
            bound = min(bound, lower)
            if value < best_value:
                inner = np.zeros(matrix.shape[0], bool)
                inner[order] = rows.astype(bool)
                best, best_value = [*outer, inner, matrix[inner].sum(axis=0) < 0], value
            if best_value <= target:
                break
        vertex = self._block.vertex((best or [_bits(0, size) for size in sizes])[-len(self._block.sizes) :])
        rounding = ROUNDING * float(np.abs(gradient).sum())
        return OracleResult(vertex, float(gradient[vertex.support].sum()), bound - rounding)


def _sort_by_promise(block: Float64) -> list[tuple[list[NDArray[np.bool_]], Float64]]:
    """List the nonempty subsets of all modes but the last two with the matrix each leaves, best first."""
    partial: list[tuple[list[NDArray[np.bool_]], Float64]] = [([], block)]
    for size in block.shape[:-2]:
        masks = [_bits(mask, size) for mask in range(1, 2**size)]
        partial = [([*outer, mask], part[mask].sum(axis=0)) for outer, part in partial for mask in masks]
    return sorted(partial, key=lambda item: float(np.minimum(item[1], 0).sum()))
