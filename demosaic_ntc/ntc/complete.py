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
from demosaic_ntc.ntc.bcg import RunResult, SolverProgress, StopRules, minimise
from demosaic_ntc.ntc.corrective import Descent, FullyCorrective, SimplexDescent
from demosaic_ntc.ntc.face import LARGEST_SPREAD, spread_over_face
from demosaic_ntc.ntc.least import Path, fit_with_least_norm, within, zero_start
from demosaic_ntc.ntc.oracle import WeakSeparation
from demosaic_ntc.ntc.problem import Observations, Problem, observe
from demosaic_ntc.ntc.proving import ORACLES, separation
from demosaic_ntc.ntc.radius import choose_misfit
from demosaic_ntc.ntc.solution import Certificate, LeastRadius, Solution, Status
from demosaic_ntc.run import Deadline

RADII = ("auto", "least")
DESCENTS: dict[str, type[Descent]] = {"corrective": FullyCorrective, "simplex": SimplexDescent}
GAP, LEAST_GAP = 1e-6, 1e-4  # the defaults for a given radius, and where the radius is sought
ITERATIONS, SIMPLEX_ITERATIONS = 20_000, 200_000  # the published steps are many, and each is cheap
SPREAD = 16  # more hardly change the mean: measured on the paper's experiments


@dataclass(frozen=True, slots=True)
class _Run:
    """What a completion has at its disposal, whatever its radius."""

    oracles: WeakSeparation
    descent: Descent
    deadline: Deadline
    spread: int
    seed: int
    start: Solution | None
    progress: Callable[[SolverProgress], None] | None


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
    descent: str = "corrective",
    deadline: float | None = None,
    spread: int = SPREAD,
    seed: int = 0,
    start: Solution | None = None,
    progress: Callable[[SolverProgress], None] | None = None,
) -> Solution:
    """Complete a nonnegative tensor: fit the samples with a bounded or with the least norm, certified.

    * ``shape``: the size of each mode of the tensor.
    * ``index``: (n, modes) whole numbers from 0: where the samples lie. Cells may repeat.
    * ``value``: (n,) nonnegative samples. Values above a given radius are legal; the fit then says so.
    * ``radius``: λ, the bound on the norm of the completion. For a tensor with entries in [0, μ] and
      nonnegative rank k it lies between μ and k μ. ``"least"`` finds the smallest within which the samples
      are fitted to the tolerance; ``"auto"`` does so, too, with a tolerance chosen by held-out samples.
    * ``noise``: deviation of the samples' errors, in their unit; only ``"least"`` and ``"auto"`` leave it.
    * ``weight``: (n,) how much each sample counts; all alike when left out.
    * ``gap``: relative to the mean square of the samples. For a given radius: the certified distance from the
      optimum at which to stop, 1e-6 when left out. For ``"least"`` and ``"auto"``: the mean squared misfit to
      be reached, 1e-4 when left out; OPTIMAL then means a radius proven least to four times the root of it.
    * ``oracle``: ``"auto"`` proves by the cheapest exact means for the size, at last by seconds of an integer
      program; ``"heuristic"`` never proves; ``"exact"`` searches; ``"gurobi"``, ``"highs"`` name a solver.
    * ``descent``: ``"corrective"``; or ``"simplex"``, Blended Conditional Gradients as published: slower.
    * ``deadline``: seconds after which the best solution so far is returned, with its honest gap.
    * ``spread``: where no observation decides, the mean of so many vertices, 1 to 64, is taken for each.
    * ``seed``: makes random starts and draws repeatable.
    * ``start``: a solution of the same shape to go on from. ``progress``: takes a `SolverProgress` each time.
    """
    observed = observe(shape, index, value, weight)
    _check(gap, oracle, descent, deadline, radius)
    _check_more(noise, spread, seed, start, observed)
    limit = Deadline.after(None if deadline is None else as_number(deadline))
    oracles = separation(oracle, observed, limit, seed)
    run = _Run(oracles, DESCENTS[descent](), limit, spread, seed, start, progress)
    if not isinstance(radius, str):
        return _within(Problem(observed, float(radius)), gap or GAP, run)
    misfit = max(noise * noise - observed.noise, (gap or LEAST_GAP) * observed.energy)
    if radius == "auto":
        misfit = _resume_misfit(start, observed) or choose_misfit(observed, misfit, limit, seed)
    return _least(observed, misfit, gap or LEAST_GAP, run)


def _within(problem: Problem, gap: float, run: _Run) -> Solution:
    """Complete within a given radius, from the best constant or from where another solution ended."""
    active = active_from(problem, run.start) if run.start else constant_start(problem)
    limits = StopRules(gap * problem.observed.energy, _iterations(run), run.deadline)
    outcome = minimise(active, run.oracles, run.descent, limits, run.progress)
    return _solution(active, run, outcome)


def _iterations(run: _Run) -> int:
    """Return how many iterations a run may take."""
    return SIMPLEX_ITERATIONS if run.descent.as_published else ITERATIONS


def _resume_misfit(start: Solution | None, observed: Observations) -> float | None:
    """Return the misfit that the solution to go on from was chosen for, if it was."""
    return start.least.misfit - observed.noise if start and start.least else None


def _least(observed: Observations, misfit: float, gap: float, run: _Run) -> Solution:
    """Complete with the least norm that fits to a misfit, without the noise within cells."""
    start = run.start
    active = active_from(Problem(observed, start.radius), start) if start else zero_start(observed)
    path = Path(active, run.oracles, run.deadline, math.sqrt(gap), run.progress, run.descent)
    exact = any(not isinstance(oracle, AlternatingMaximisation) for oracle in run.oracles.proving)
    fitted, proven = fit_with_least_norm(path, misfit, _iterations(run), exact)
    objective = active.problem.objective(active.point)
    certificate = Certificate(objective, min(observed.noise + proven.misfit, objective))
    upper = active.problem.radius if active.point.any() else 0.0
    least = LeastRadius(min(proven.radius, upper), upper, observed.noise + misfit)
    if fitted:
        status = Status.OPTIMAL if within(upper, least.lower, path.step) else Status.HEURISTIC
    else:
        status = Status.TIME if run.deadline.is_over() else Status.ITERATIONS
    return _solution(active, run, RunResult(status, certificate, path.iterations), least)


def _solution(active: ActiveSet, run: _Run, outcome: RunResult, least: LeastRadius | None = None) -> Solution:
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


def _check(gap: float | None, oracle: str, descent: str, deadline: float | None, radius: float | str) -> None:
    """Refuse what makes no sense of how far to go, and within which radius."""
    if gap is not None and not 0 < as_number(gap) < math.inf:
        raise InputError(f"gap is {gap!r}; give a positive number such as 1e-6, or None")
    if not isinstance(oracle, str) or oracle not in ORACLES:
        raise InputError(f"oracle {oracle!r} is not known; choose one of {', '.join(ORACLES)}")
    if not isinstance(descent, str) or descent not in DESCENTS:
        raise InputError(f"descent {descent!r} is not known; choose one of {', '.join(DESCENTS)}")
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
