"""The entrance: complete a nonnegative tensor from some of its entries."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from demosaic_ntc.errors import InputError, as_number
from demosaic_ntc.ntc.alternating import AlternatingMaximisation
from demosaic_ntc.ntc.atoms import ActiveSet, active_from, constant_start
from demosaic_ntc.ntc.bcg import Limits, Outcome, Progress, minimise
from demosaic_ntc.ntc.corrective import FullyCorrective
from demosaic_ntc.ntc.deadline import Deadline
from demosaic_ntc.ntc.face import LARGEST_SPREAD, spread_over_face
from demosaic_ntc.ntc.least import PROVEN_WITHIN, Path, fit_with_least_norm, zero_start
from demosaic_ntc.ntc.oracle import WeakSeparation
from demosaic_ntc.ntc.problem import Observations, Problem, observe
from demosaic_ntc.ntc.proving import ORACLES, separation
from demosaic_ntc.ntc.radius import chosen_misfit
from demosaic_ntc.ntc.solution import Certificate, LeastRadius, Solution, Status

RADII = ("auto", "least")
GAP, LEAST_GAP = 1e-6, 1e-4  # the defaults for a given radius, and where the radius is sought
ITERATIONS = 20_000
SPREAD = 16  # more hardly change the mean: measured on the paper's experiments


@dataclass(frozen=True, slots=True)
class _Run:
    """What a completion has at its disposal, whatever its radius."""

    oracles: WeakSeparation
    deadline: Deadline
    spread: int
    seed: int
    start: Solution | None
    progress: Callable[[Progress], None] | None


def complete(
    shape: tuple[int, ...],
    index: ArrayLike,
    value: ArrayLike,
    *,
    radius: float | str = "auto",
    noise: float = 0.0,
    weight: ArrayLike | None = None,
    gap: float | None = None,
    oracle: str = "auto",
    deadline: float | None = None,
    spread: int = SPREAD,
    seed: int = 0,
    start: Solution | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Solution:
    """Complete a nonnegative tensor: fit the samples with a bounded or with the least norm, certified.

    * ``shape``: the size of each mode of the tensor.
    * ``index``: (n, modes) whole numbers from 0: where the samples lie. Cells may repeat.
    * ``value``: (n,) nonnegative samples. Values above a given radius are legal; the fit then says so.
    * ``radius``: λ, the bound on the norm of the completion. For a tensor with entries in [0, μ] and
      nonnegative rank k it lies between μ and k μ. ``"least"`` finds the smallest within which the samples
      are fitted to the tolerance. ``"auto"`` does so, too, with the tolerance chosen by observations held out
      in turn: the least one where samples carry structure, a looser one where they are noisy or few.
    * ``noise``: deviation of the samples' errors, in their unit; only ``"least"`` and ``"auto"`` leave it.
    * ``weight``: (n,) how much each sample counts; all alike when left out.
    * ``gap``: relative to the mean square of the samples. For a given radius: the certified distance from the
      optimum at which to stop, 1e-6 when left out. For ``"least"`` and ``"auto"``: the mean squared misfit to
      be reached, 1e-4 when left out; the radius is the least one to about the root of it.
    * ``oracle``: ``"auto"`` proves by the cheapest exact means that fits the size, ``"heuristic"`` never
      proves, ``"exact"`` enumerates or branches, ``"gurobi"`` and ``"highs"`` solve integer programs.
    * ``deadline``: seconds after which the best solution so far is returned, with its honest gap.
    * ``spread``: the result is the mean of up to this many vertices, 1 to 64, for each that is found, where
      slices are left that no observation decides. With 1 one of them is taken.
    * ``seed``: makes random starts and draws repeatable.
    * ``start``: a solution of the same shape to go on from, such as one that ran out of time.
    * ``progress``: called once per iteration with a `Progress`.
    """
    observed = observe(shape, index, value, weight)
    _check(gap, oracle, deadline, radius)
    _check_more(noise, spread, seed, start, observed)
    limit = Deadline.after(None if deadline is None else as_number(deadline))
    run = _Run(separation(oracle, observed, limit, seed), limit, spread, seed, start, progress)
    if not isinstance(radius, str):
        return _within(Problem(observed, float(radius)), gap or GAP, run)
    misfit = max(noise * noise - observed.noise, (gap or LEAST_GAP) * observed.energy)
    if radius == "auto":
        misfit = _resumed(start, observed) or chosen_misfit(observed, misfit, limit, seed)
    return _least(observed, misfit, gap or LEAST_GAP, run)


def _within(problem: Problem, gap: float, run: _Run) -> Solution:
    """Complete within a given radius, from the best constant or from where another solution ended."""
    active = active_from(problem, run.start) if run.start else constant_start(problem)
    limits = Limits(gap * problem.observed.energy, ITERATIONS, run.deadline)
    outcome = minimise(active, run.oracles, FullyCorrective(), limits, run.progress)
    return _solution(active, run, outcome)


def _resumed(start: Solution | None, observed: Observations) -> float | None:
    """Return the misfit that the solution to go on from was chosen for, if it was."""
    return start.least.misfit - observed.noise if start and start.least else None


def _least(observed: Observations, misfit: float, gap: float, run: _Run) -> Solution:
    """Complete with the least norm that fits to a misfit, without the noise within cells."""
    start = run.start
    active = active_from(Problem(observed, start.radius), start) if start else zero_start(observed)
    path = Path(active, run.oracles, run.deadline, math.sqrt(gap), run.progress)
    exact = any(not isinstance(oracle, AlternatingMaximisation) for oracle in run.oracles.proving)
    fitted, proven = fit_with_least_norm(path, misfit, ITERATIONS, exact)
    objective = active.problem.objective(active.point)
    certificate = Certificate(objective, min(observed.noise + proven.misfit, objective))
    upper = active.problem.radius if active.point.any() else 0.0
    least = LeastRadius(min(proven.radius, upper), upper, observed.noise + misfit)
    proved = (
        certificate.gap <= gap * observed.energy or upper <= (1 + PROVEN_WITHIN * path.step) * least.lower
    )
    if fitted:
        status = Status.OPTIMAL if proved else Status.HEURISTIC
    else:
        status = Status.TIME if run.deadline.passed() else Status.ITERATIONS
    return _solution(active, run, Outcome(status, certificate, path.iterations), least)


def _solution(active: ActiveSet, run: _Run, outcome: Outcome, least: LeastRadius | None = None) -> Solution:
    """Return what was found, as the mean over solutions that agree wherever something was observed."""
    observed = active.problem.observed
    spread = 1 if outcome.status is Status.TIME else run.spread
    factors, weights = spread_over_face(active, spread, run.seed)
    parts = np.split(factors, observed.offsets[1:-1], axis=1)
    return Solution(
        observed.shape,
        active.problem.radius,
        weights,
        tuple(np.ascontiguousarray(part) for part in parts),
        outcome.status,
        outcome.certificate,
        outcome.iterations,
        dict(run.oracles.calls),
        least,
    )


def _check(gap: float | None, oracle: str, deadline: float | None, radius: float | str) -> None:
    """Refuse what makes no sense of how far to go, and within which radius."""
    if gap is not None and not 0 < as_number(gap) < math.inf:
        raise InputError(f"gap is {gap!r}; give a positive number such as 1e-6, or None")
    if not isinstance(oracle, str) or oracle not in ORACLES:
        raise InputError(f"oracle {oracle!r} is not known; choose one of {', '.join(ORACLES)}")
    if deadline is not None and not as_number(deadline) > 0:
        raise InputError(f"deadline is {deadline!r}; give a positive number of seconds, or None")
    if radius not in RADII if isinstance(radius, str) else not 0 < as_number(radius) < math.inf:
        raise InputError(f"radius is {radius!r}; give a positive number, 'least' or 'auto'")


def _check_more(noise: float, spread: int, seed: int, start: Solution | None, observed: Observations) -> None:
    """Refuse what makes no sense of the rest."""
    if not 0 <= as_number(noise) < math.inf:
        raise InputError(f"noise is {noise!r}; give the samples' standard deviation, a number of at least 0")
    if not (isinstance(spread, int) and 1 <= spread <= LARGEST_SPREAD):
        raise InputError(f"spread is {spread!r}; give a whole number from 1 to {LARGEST_SPREAD}")
    if not (isinstance(seed, Integral) and seed >= 0):
        raise InputError(f"seed is {seed!r}; give a whole number of at least 0")
    if not isinstance(start, Solution | None):
        raise InputError(f"start is {start!r}; give a solution, or leave it out")
    if start is not None and start.shape != observed.shape:
        raise InputError(f"start is of shape {start.shape}, not {observed.shape}; leave it out")
