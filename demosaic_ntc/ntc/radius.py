"""How closely to fit, chosen by held-out observations, for users who cannot know it.

A fit of least norm (:mod:`demosaic_ntc.ntc.least`) has one parameter, its misfit ε²: the larger, the smaller
the norm. Where the samples carry structure the closest fit predicts best; where they are noisy or hardly
any, a looser one does. The cells are dealt into folds; for each fold the others are fitted ever more closely
along one path, and every fit is judged on the fold itself. A misfit means the same for a part of the cells
as for all of them, which a radius does not: with fewer cells a smaller norm fits them.
"""

import math

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.ntc.alternating import make_heuristic_oracles
from demosaic_ntc.ntc.atoms import entries_at
from demosaic_ntc.ntc.least import Path, zero_start
from demosaic_ntc.ntc.oracle import WeakSeparation
from demosaic_ntc.ntc.problem import Observations, Problem
from demosaic_ntc.run import Deadline

FOLDS = 4
CELLS_FOR_ALL_FOLDS = 20_000  # with more, one fold tells as much as four of fewer cells
LEVELS = (0.3, 0.1, 0.05, 0.02, 0.01, 3e-3, 1e-3, 3e-4)  # of the energy: misfits tried; then the least
INDIFFERENT = 1.02  # held-out errors that differ by less than this factor are alike: then the closest fit
PATIENCE = 2  # levels without a better held-out error after which the paths end
PATH_STEP = 0.02  # relative: how far above the least radius the fits of a path may be
PATH_ITERATIONS = 2_000


def choose_misfit(observed: Observations, least: float, deadline: Deadline, seed: int) -> float:
    """Return the misfit, at least ``least``, whose fits of least norm predict held-out cells best.

    The misfit is a mean square over the cells, without the noise within them. Half the time until the
    deadline is spent at most.
    """
    if observed.value.size < 2 * FOLDS or observed.energy == 0.0:
        return least
    half = Deadline.after(deadline.remaining / 2, deadline.clock) if deadline.moment < math.inf else deadline
    fold = np.random.default_rng(seed).permutation(observed.value.size) % FOLDS
    used = FOLDS if observed.value.size <= CELLS_FOR_ALL_FOLDS else 1
    folds = [_Fold(observed, fold == held, half, seed) for held in range(used)]
    levels = [level * observed.energy for level in LEVELS if level * observed.energy > least]
    errors: dict[float, float] = {}
    for misfit in [*levels, least]:
        errors[misfit] = sum(each.held_out_error(misfit) for each in folds)
        if half.is_over() or list(errors).index(_best(errors)) < len(errors) - PATIENCE:
            break
    return _best(errors)


def _best(errors: dict[float, float]) -> float:
    """Return the closest fit that predicts as well as the best."""
    lowest = min(errors.values())
    return min(misfit for misfit, error in errors.items() if error <= INDIFFERENT * lowest)


class _Fold:
    """The fits to all cells but one fold, closer and closer."""

    def __init__(
        self, observed: Observations, held: NDArray[np.bool_], deadline: Deadline, seed: int
    ) -> None:
        self._held = observed.subset(held)
        fitted = observed.subset(~held)
        oracles = WeakSeparation(make_heuristic_oracles(fitted, seed))
        self._path = Path(zero_start(fitted), oracles, deadline, PATH_STEP)

    def held_out_error(self, misfit: float) -> float:
        """Go on to the next misfit and return the error on the fold; infinite where it was not reached."""
        if not self._path.fit(misfit, PATH_ITERATIONS):
            return math.inf
        active = self._path.active
        return Problem(self._held, active.problem.radius).objective(entries_at(self._held.slots, active))
