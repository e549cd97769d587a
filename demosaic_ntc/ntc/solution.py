"""What a completion returns: a convex combination of vertices, and how far from optimal it may be."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demosaic_ntc.arrays import Float64
from demosaic_ntc.errors import InputError, TooLarge
from demosaic_ntc.html_repr import html_table
from demosaic_ntc.ntc.problem import Bits

LARGEST_DENSE_BYTES = 2**31
"""`Solution.dense` refuses tensors above this size."""

_CHUNK = 2**24  # atoms × rows of an index evaluated at a time


class Status(Enum):
    """Why the solver stopped."""

    OPTIMAL = "optimal"  # the certified gap, or the interval of the least radius, is at most what was asked
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
class LeastRadius:
    """Bounds on the least norm: no tensor of norm below ``lower`` fits to ``misfit``; ours has ``upper``.

    The lower bound is proven, whatever the status. Where no exact oracle could speak it may be far below.
    """

    lower: float
    upper: float
    misfit: float  # the mean squared error that a fit may have, noise included


@dataclass(frozen=True, slots=True)
class Solution:
    """A completed tensor ψ = radius · Σ_s weights[s] · ⊗_i vertices[i][s], never held densely."""

    shape: tuple[int, ...]
    radius: float
    weights: Float64  # (atoms,): nonnegative, sum to one
    vertices: tuple[Bits, ...]  # for each mode (atoms, size of the mode), 0 or 1
    status: Status
    certificate: Certificate
    iterations: int
    oracle_calls: Mapping[str, int]  # by kind of oracle
    least: LeastRadius | None = None  # where the radius was chosen as the least one

    def _repr_html_(self) -> str:
        """Show in a notebook what was found, what is proven and at what cost."""
        bounds = self.certificate
        calls = ", ".join(f"{kind} {count}" for kind, count in self.oracle_calls.items())
        facts = {
            "tensor": "×".join(map(str, self.shape)),
            "radius": f"{self.radius:.6g}",
            "vertices": str(len(self.weights)),
            "no fit within": f"{self.least.lower:.6g}" if self.least else "",
            "status": self.status.value,
            "objective": f"{bounds.objective:.6g}",
            "lower bound": f"{bounds.lower_bound:.6g}",
            "gap": f"{bounds.gap:.2g}",
            "iterations": str(self.iterations),
            "oracle calls": calls or "none",
        }
        return html_table({name: fact for name, fact in facts.items() if fact})

    def save(self, file: BinaryIO) -> None:
        """Write everything to a binary file that is open for writing, as a ``.npz`` archive.

        ``complete(…, start=Solution.load(file))`` goes on from it.
        """
        save_solution(self, file)

    @classmethod
    def load(cls, file: BinaryIO) -> "Solution":
        """Read what `save` wrote from a binary file that is open for reading; nothing in it is executed."""
        return load_solution(file)

    def at(self, index: ArrayLike) -> Float64:
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
        rows = max(_CHUNK // len(self.weights), 1)
        parts = [self._entries(where[start : start + rows]) for start in range(0, len(where), rows)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _entries(self, where: NDArray[np.int64]) -> Float64:
        product = self.vertices[0][:, where[:, 0]].copy()
        for mode in range(1, len(self.shape)):
            product &= self.vertices[mode][:, where[:, mode]]
        return self.radius * (self.weights @ product)

    def dense(self) -> Float64:
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


FORMAT = "demosaic-ntc solution 1"

ROUNDING = 1e-6  # by which weights may miss a sum of 1
LARGEST_UNFOLDED, LARGEST_RATIO = 1 << 28, 100  # bytes, and times the length of the file


def save_solution(solution: Solution, file: BinaryIO) -> None:
    """Write a solution as arrays; the factors take a bit each."""
    least, bounds = solution.least, solution.certificate
    np.savez_compressed(
        file,
        format=np.array(FORMAT),
        shape=np.array(solution.shape, np.int64),
        weights=solution.weights,
        factors=np.packbits(np.concatenate(solution.vertices, axis=1), axis=1),
        numbers=np.array([solution.radius, bounds.objective, bounds.lower_bound]),
        least=np.array([least.lower, least.upper, least.misfit] if least else []),
        status=np.array(solution.status.value),
        iterations=np.array(solution.iterations),
        oracles=np.array(list(solution.oracle_calls), np.str_),
        calls=np.array(list(solution.oracle_calls.values()), np.int64),
    )


def _check_size(kept: np.lib.npyio.NpzFile, length: int) -> None:
    """Refuse a file that unfolds to far more than any solution of its length."""
    members = kept.zip.infolist() if kept.zip is not None else []
    unfolded = 8 * sum(member.file_size for member in members)  # bits become bytes
    if unfolded > max(LARGEST_UNFOLDED, LARGEST_RATIO * length):
        raise InputError(f"the solution of {length} bytes unfolds to {unfolded}; solve anew")


def load_solution(file: BinaryIO) -> Solution:
    """Read a solution; what is none, or damaged, is refused."""
    try:
        start = file.tell()
        length = file.seek(0, 2) - start
        file.seek(start)
        with np.load(file, allow_pickle=False) as kept:
            _check_size(kept, length)
            if str(kept["format"]) != FORMAT:
                raise InputError(f"the solution is of format {kept['format']}; this reads {FORMAT!r}")
            shape = tuple(int(size) for size in kept["shape"])
            factors = np.unpackbits(kept["factors"], axis=1, count=sum(shape))
            vertices = np.split(factors, np.cumsum(shape)[:-1], axis=1)
            radius, objective, lower = (float(number) for number in kept["numbers"])
            weights = kept["weights"]
            is_convex = (weights >= 0).all() and abs(weights.sum() - 1) < ROUNDING
            if weights.shape != (len(factors),) or not is_convex or not 0 < radius < math.inf:
                raise InputError("the solution is damaged: weights or radius; solve anew")
            return Solution(
                shape,
                radius,
                weights,
                tuple(np.ascontiguousarray(part) for part in vertices),
                Status(str(kept["status"])),
                Certificate(objective, lower),
                int(kept["iterations"]),
                dict(zip(map(str, kept["oracles"]), map(int, kept["calls"]), strict=True)),
                LeastRadius(*map(float, kept["least"])) if kept["least"].size else None,
            )
    except InputError:
        raise
    except Exception as error:  # numpy, zipfile and zlib raise many kinds of damaged files, each its own
        raise InputError(
            f"this is not a saved solution ({error}); give a file that Solution.save wrote"
        ) from None
