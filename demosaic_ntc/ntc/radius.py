"""The radius λ chosen by held-out observations, for users who cannot know it.

λ is the regulariser: too small and the fit is a constant, too large and it follows the noise or, with few
samples, invents entries nobody saw. The cells are dealt into folds; for each fold the others are fitted
along a path of growing radii, every fit starting from the one before, and judged on the fold itself. The
radius with the least held-out error over all folds is refined once or twice and taken.
"""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.ntc.alternating import guessing_oracles
from demosaic_ntc.ntc.atoms import ActiveSet, constant_start, entries_at
from demosaic_ntc.ntc.bcg import Limits, minimise
from demosaic_ntc.ntc.corrective import FullyCorrective
from demosaic_ntc.ntc.deadline import Deadline
from demosaic_ntc.ntc.oracle import WeakSeparation
from demosaic_ntc.ntc.problem import Observations, Problem

FOLDS = 4
STEP = 1.5  # ratio between neighbouring radii of the path
LONGEST_PATH = 16
PATIENCE = 2  # steps without a better held-out error after which the path ends
REFINEMENTS = 2  # times that the best radius is compared with its neighbours at half the (log) step
PATH_GAP = 2e-2  # relative: the errors that decide differ by more than this
PATH_ITERATIONS = 1_000


def chosen_radius(observed: Observations, deadline: Deadline, seed: int) -> float:
    """Return the radius whose fits predict held-out cells best."""
    largest = float(observed.value.max())
    if observed.value.size < 2 * FOLDS or largest == 0.0:
        return largest or 1.0
    fold = np.random.default_rng(seed).permutation(observed.value.size) % FOLDS
    paths = [_Path(observed, fold == held, seed) for held in range(FOLDS)]
    mean = float(observed.weight @ observed.value)
    errors: dict[float, float] = {}
    for radius in mean * STEP ** np.arange(LONGEST_PATH):
        errors[radius] = _held_out_error(paths, radius, deadline)
        if deadline.passed() or list(errors).index(_best(errors)) < len(errors) - PATIENCE:
            break
    step = STEP
    for _ in range(REFINEMENTS):
        step **= 0.5
        for radius in (_best(errors) / step, _best(errors) * step):
            if not deadline.passed():
                errors[radius] = _held_out_error(paths, radius, deadline)
    return _best(errors)


def _held_out_error(paths: "list[_Path]", radius: float, deadline: Deadline) -> float:
    return sum(path.held_out_error(radius, deadline) for path in paths)


def _best(errors: dict[float, float]) -> float:
    return min(errors, key=lambda radius: errors[radius])


class _Path:
    """The fits to all cells but one fold, along growing radii."""

    def __init__(self, observed: Observations, held: NDArray[np.bool_], seed: int) -> None:
        self._held = observed.subset(held)
        self._fitted = observed.subset(~held)
        self._separate = WeakSeparation(guessing_oracles(self._fitted, seed))
        self._active: ActiveSet | None = None

    def held_out_error(self, radius: float, deadline: Deadline) -> float:
        """Fit at the next radius, starting from the last fit, and return the error on the fold."""
        if self._active is None:
            self._active = constant_start(Problem(self._fitted, radius))
        self._active.move_to(radius)
        limits = Limits(PATH_GAP * self._fitted.energy, PATH_ITERATIONS, deadline)
        minimise(self._active, self._separate, FullyCorrective(), limits)
        return Problem(self._held, radius).objective(entries_at(self._held.slots, self._active))
