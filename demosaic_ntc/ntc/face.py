"""The mean over the face of solutions that agree wherever something was observed.

A slice of a vertex on which no observed cell depends may be in the vertex or not: fit, norm and
certificate are the same, and only entries that nobody saw differ. A single choice is a corner of the optimal
face, and where the truth is the other one its error is as large as it can be. The mean over the choices is
nearer to all of them. It is estimated by some vertices per vertex, drawn by a Gibbs sampler from all
that have the same support. A vertex without any observed cell has no say in the fit and becomes zero.
"""

from collections.abc import Iterator

import numpy as np

from demosaic_ntc.arrays import Float64
from demosaic_ntc.ntc.atoms import ActiveSet
from demosaic_ntc.ntc.kernels.faces import redraw_undecided
from demosaic_ntc.ntc.problem import Bits, Observations

SWEEPS = 4
LARGEST_SPREAD = 64
_AT_ONCE = 2**20  # words of 64 choices that are held at once: 8 MiB


def spread_over_face(active: ActiveSet, spread: int, seed: int) -> tuple[Bits, Float64]:
    """Return vertices and weights of the mean over up to ``spread`` choices for each active vertex.

    Parameters
    ----------
    active
        The active set; its fit is not changed.
    spread
        Choices per vertex, 1 to 64; with 1 the vertices stay as they are.
    seed
        Makes the draws repeatable.

    Returns
    -------
    The factors, (vertices, slots) of 0 and 1, and their weights, which sum to one.
    """
    vertices = active.shelf.vertices
    if spread == 1:
        return np.array([vertex.factors for vertex in vertices]), active.weights.copy()
    random = np.random.default_rng([seed, spread])
    at_once = max(_AT_ONCE // vertices[0].factors.size, 1)
    parts: list[Bits] = []
    for first in range(0, len(vertices), at_once):
        some = vertices[first : first + at_once]
        factors = np.array([vertex.factors if vertex.support.size else 0 * vertex.factors for vertex in some])
        parts.extend(_choices(active.problem.observed, factors, spread, random))
    copies = np.array([len(part) for part in parts])
    return np.concatenate(parts), np.repeat(active.weights / copies, copies)


def _choices(
    observed: Observations, factors: Bits, spread: int, random: np.random.Generator
) -> Iterator[Bits]:
    """Draw for each of some vertices, (vertices, slots), others with its support, (spread, slots).

    Where nothing is undecided it is alone. So it is where nothing is in it: the zero vertex stays zero.
    """
    whole = np.where(factors, np.uint64(2**64 - 1), np.uint64(0))
    words = whole.copy()
    open_ones = np.flatnonzero(factors.any(axis=1))
    for _ in range(SWEEPS):
        coins = random.integers(0, 2**64, (open_ones.size, factors.shape[1]), dtype=np.uint64)
        redrawn = words[open_ones]
        redraw_undecided(observed.columns, observed.offsets, redrawn, coins)
        words[open_ones] = redrawn
        open_ones = open_ones[(redrawn != whole[open_ones]).any(axis=1)]
    undecided = set(open_ones.tolist())
    shifts = np.arange(spread, dtype=np.uint64)[:, None]
    for vertex, own in enumerate(factors):
        drawn = (words[vertex] >> shifts) & np.uint64(1)
        yield drawn.astype(np.uint8) if vertex in undecided else own[None]
