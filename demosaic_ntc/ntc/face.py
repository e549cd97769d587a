"""The mean over the face of solutions that agree wherever something was observed.

A slice of a vertex on which no observed cell depends may be in the vertex or not: fit, norm and
certificate are the same, and only entries that nobody saw differ. A single choice is a corner of the optimal
face, and where the truth is the other one its error is as large as it can be. The mean over the choices is
nearer to all of them. It is estimated by some vertices per vertex, drawn by a Gibbs sampler from all
that have the same support. A vertex without any observed cell has no say in the fit and becomes zero.
"""

import numpy as np

from demosaic_ntc.ntc.atoms import ActiveSet
from demosaic_ntc.ntc.kernels.faces import redraw_undecided
from demosaic_ntc.ntc.problem import Bits, Floats

SWEEPS = 4
LARGEST_SPREAD = 64


def spread_over_face(active: ActiveSet, spread: int, seed: int) -> tuple[Bits, Floats]:
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
    if spread == 1:
        return np.array([vertex.factors for vertex in active.shelf.vertices]), active.weights.copy()
    random = np.random.default_rng([seed, spread])
    parts = [
        _choices(active, vertex.factors, spread, random) if vertex.support.size else 0 * vertex.factors[None]
        for vertex in active.shelf.vertices
    ]
    weights = [
        np.full(len(part), share / len(part)) for part, share in zip(parts, active.weights, strict=True)
    ]
    return np.concatenate(parts), np.concatenate(weights)


def _choices(active: ActiveSet, factors: Bits, spread: int, random: np.random.Generator) -> Bits:
    """Draw vertices with the support of this one, (spread, slots); where nothing is undecided, only it."""
    observed = active.problem.observed
    whole = np.where(factors, np.uint64(2**64 - 1), np.uint64(0))
    words = whole.copy()
    for _ in range(SWEEPS):
        coins = random.integers(0, 2**64, factors.size, dtype=np.uint64)
        redraw_undecided(observed.columns, observed.offsets, words, coins)
        if (words == whole).all():
            return factors[None]
    drawn = words >> np.arange(spread, dtype=np.uint64)[:, None]
    return (drawn & np.uint64(1)).astype(np.uint8)
