"""What a completion returns: a convex combination of vertices, and how far from optimal it may be."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demosaic_ntc.errors import InputError, TooLarge
from demosaic_ntc.ntc.problem import Bits, Floats
from demosaic_ntc.showing import html_table

LARGEST_DENSE_BYTES = 2**31
"""`Solution.dense` refuses tensors above this size."""

_CHUNK = 65_536  # rows of an index evaluated at a time, so that memory does not grow with atoms × rows


class Status(Enum):
    """Why the solver stopped."""

    OPTIMAL = "optimal"  # the certified gap is at most what was asked
    ITERATIONS = "iterations"  # the limit on iterations was reached
    TIME = "time"  # the deadline passed
    HEURISTIC = "heuristic"  # nothing better was found, but no oracle could prove that nothing is


@dataclass(frozen=True, slots=True)
class Certificate:
    """Bounds on the optimum: it lies between ``lower_bound`` and ``objective``, whatever the status."""

    objective: float
    lower_bound: float

    @property
    def gap(self) -> float:
        """How far above the optimum the objective may at most be."""
        return max(self.objective - self.lower_bound, 0.0)


@dataclass(frozen=True, slots=True)
class Solution:
    """A completed tensor ψ = radius · Σ_s weights[s] · ⊗_i vertices[i][s], never held densely."""

    shape: tuple[int, ...]
    radius: float
    weights: Floats  # (atoms,): nonnegative, sum to one
    vertices: tuple[Bits, ...]  # for each mode (atoms, size of the mode), 0 or 1
    status: Status
    certificate: Certificate
    iterations: int
    oracle_calls: Mapping[str, int]  # by kind of oracle

    def _repr_html_(self) -> str:
        """Show in a notebook what was found, what is proven and at what cost."""
        bounds = self.certificate
        calls = ", ".join(f"{kind} {count}" for kind, count in self.oracle_calls.items())
        facts = {
            "tensor": "×".join(map(str, self.shape)),
            "radius": f"{self.radius:.6g}",
            "vertices": str(len(self.weights)),
            "status": self.status.value,
            "objective": f"{bounds.objective:.6g}",
            "lower bound": f"{bounds.lower_bound:.6g}",
            "gap": f"{bounds.gap:.2g}",
            "iterations": str(self.iterations),
            "oracle calls": calls or "none",
        }
        return html_table(facts)

    def at(self, index: ArrayLike) -> Floats:
        """Return the entries at an (n, modes) array of indices.

        Parameters
        ----------
        index
            Whole numbers, counted from 0, one row per entry and one column per mode.

        Returns
        -------
        The n entries.
        """
        where = np.asarray(index)
        if where.ndim != 2 or where.shape[1] != len(self.shape) or where.dtype.kind not in "iu":
            raise InputError(
                f"index must be whole numbers of shape (n, {len(self.shape)}), not {where.shape}"
            )
        if where.size and ((where < 0) | (where >= np.array(self.shape))).any():
            raise InputError(f"index leaves the shape {self.shape}; indices count from 0")
        parts = [self._entries(where[start : start + _CHUNK]) for start in range(0, len(where), _CHUNK)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _entries(self, where: NDArray[np.int64]) -> Floats:
        product = self.vertices[0][:, where[:, 0]].copy()
        for mode in range(1, len(self.shape)):
            product &= self.vertices[mode][:, where[:, mode]]
        return self.radius * (self.weights @ product)

    def dense(self) -> Floats:
        """Return the whole tensor; refused, with its size, when that would not fit."""
        size = 8 * math.prod(self.shape)
        if size > LARGEST_DENSE_BYTES:
            raise TooLarge(
                f"the dense tensor of shape {self.shape} takes {size / 2**30:.1f} GiB, more than the "
                f"{LARGEST_DENSE_BYTES / 2**30:.0f} GiB allowed; use Solution.at for the entries you need"
            )
        total = np.zeros(self.shape)
        for atom, weight in enumerate(self.weights):
            block = np.ix_(*(np.flatnonzero(factors[atom]) for factors in self.vertices))
            total[block] += self.radius * weight
        return total
