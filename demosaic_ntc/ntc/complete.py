"""The entrance: complete a nonnegative tensor from some of its entries."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from demosaic_ntc.errors import InputError, SolverError
from demosaic_ntc.ntc import integer
from demosaic_ntc.ntc.alternating import AlternatingMaximisation, guessing_oracles
from demosaic_ntc.ntc.atoms import ActiveSet, constant_start
from demosaic_ntc.ntc.bcg import Limits, Outcome, Progress, minimise
from demosaic_ntc.ntc.corrective import FullyCorrective
from demosaic_ntc.ntc.deadline import Deadline
from demosaic_ntc.ntc.enumeration import ENUMERATION_WORK, BranchAndBound, Enumeration
from demosaic_ntc.ntc.oracle import Oracle, WeakSeparation
from demosaic_ntc.ntc.problem import Observations, Problem, observe
from demosaic_ntc.ntc.radius import chosen_radius
from demosaic_ntc.ntc.solution import Solution

ORACLES = ("auto", "heuristic", "exact", "gurobi", "highs")
ITERATIONS = 20_000
THOROUGH_BATCHES = 8  # of 64 starts, before a run may end unproved
AUTO_PROOF_SECONDS = 10.0  # what "auto" allows an integer program, per proof
AUTO_PROOF_CELLS = 2_000  # with more, or with more slices to decide, none has a chance in that time
AUTO_PROOF_SLICES = 26


def complete(
    shape: tuple[int, ...],
    index: ArrayLike,
    value: ArrayLike,
    *,
    radius: float | str,
    weight: ArrayLike | None = None,
    gap: float = 1e-6,
    oracle: str = "auto",
    deadline: float | None = None,
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
) -> Solution:
    """Complete a nonnegative tensor: fit the samples subject to ‖ψ‖₊ ≤ radius, with a certificate.

    Parameters
    ----------
    shape
        The size of each mode of the tensor.
    index
        (n, modes) whole numbers from 0: where the samples lie. Cells may repeat.
    value
        (n,) nonnegative samples. Values above the radius are legal; the fit then says so.
    radius
        λ, the bound on the norm of the completion. For a tensor with entries in [0, μ] and nonnegative
        rank k it lies between μ and k μ. ``"auto"`` chooses it by observations held out in turn.
    weight
        (n,) how much each sample counts; all alike when left out.
    gap
        The certified distance from the optimum at which to stop, relative to the mean square of the
        samples.
    oracle
        ``"auto"`` proves by the cheapest exact means that fits the size, ``"heuristic"`` never proves,
        ``"exact"`` enumerates or branches, ``"gurobi"`` and ``"highs"`` solve integer programs.
    deadline
        Seconds after which the best solution so far is returned, with its honest gap.
    seed
        Makes the heuristic's random starts repeatable.
    progress
        Called once per iteration with a `Progress`.

    Returns
    -------
    The completed tensor as a combination of vertices, why the solver stopped, and its certificate.
    """
    observed = observe(shape, index, value, weight)
    _check(gap, oracle, deadline, radius)
    limit = Deadline.after(deadline)
    chosen = chosen_radius(observed, limit, seed) if isinstance(radius, str) else float(radius)
    return solve(Problem(observed, chosen), gap, oracle, limit, seed, progress)


def solve(
    problem: Problem,
    gap: float,
    oracle: str,
    deadline: Deadline,
    seed: int,
    progress: Callable[[Progress], None] | None = None,
) -> Solution:
    """Complete from the best constant: the all-ones vertex and zero."""
    observed = problem.observed
    separate = WeakSeparation(
        guessing_oracles(observed, seed), _proving_oracles(oracle, observed, deadline, seed)
    )
    active = constant_start(problem)
    limits = Limits(gap * observed.energy, ITERATIONS, deadline)
    outcome = minimise(active, separate, FullyCorrective(), limits, progress)
    return _solution(problem, active, separate, outcome)


def _solution(problem: Problem, active: ActiveSet, separate: WeakSeparation, outcome: Outcome) -> Solution:
    factors = np.array([vertex.factors for vertex in active.shelf.vertices], np.uint8)
    parts = np.split(factors, problem.observed.offsets[1:-1], axis=1)
    return Solution(
        problem.observed.shape,
        problem.radius,
        active.weights.copy(),
        tuple(np.ascontiguousarray(part) for part in parts),
        outcome.status,
        outcome.certificate,
        outcome.iterations,
        dict(separate.calls),
    )


def _proving_oracles(oracle: str, observed: Observations, deadline: Deadline, seed: int) -> list[Oracle]:
    """Return a last thorough guess, and the oracle that may speak the last word where there is one."""
    thorough = AlternatingMaximisation(observed, seed + 1, batches=THOROUGH_BATCHES)
    exact = _exact_oracle(oracle, observed, deadline)
    return [thorough, exact] if exact else [thorough]


def _exact_oracle(oracle: str, observed: Observations, deadline: Deadline) -> Oracle | None:
    """Return the oracle that may speak the last word, or none where nothing can."""
    seconds = None if math.isinf(deadline.remaining) else deadline.remaining
    if oracle == "heuristic":
        return None
    if oracle == "gurobi":
        return integer.gurobi(observed, seconds)
    if oracle == "highs":
        return integer.highs(observed, seconds)
    enumeration, branching = Enumeration(observed), BranchAndBound(observed)
    if enumeration.work <= ENUMERATION_WORK:
        return enumeration
    if branching.suitable:
        return branching
    if oracle == "exact":
        raise SolverError(
            f"shape {observed.shape} is too large for exact search; choose oracle='auto', 'gurobi' or 'highs'"
        )
    slices = sum(observed.shape) - max(observed.shape)
    if observed.value.size > AUTO_PROOF_CELLS or slices > AUTO_PROOF_SLICES:
        return None
    return integer.best_available(observed, min(AUTO_PROOF_SECONDS, deadline.remaining))


def _check(gap: float, oracle: str, deadline: float | None, radius: float | str) -> None:
    if not (isinstance(gap, (int, float)) and math.isfinite(gap) and gap > 0):
        raise InputError(f"gap is {gap!r}; give a positive number such as 1e-6")
    if oracle not in ORACLES:
        raise InputError(f"oracle {oracle!r} is not known; choose one of {', '.join(ORACLES)}")
    if deadline is not None and not deadline > 0:
        raise InputError(f"deadline is {deadline!r}; give a positive number of seconds, or None")
    if isinstance(radius, str):
        if radius != "auto":
            raise InputError(f"radius is {radius!r}; give a positive number, or 'auto'")
    elif not isinstance(radius, (int, float)) or not (math.isfinite(radius) and radius > 0):
        raise InputError(f"radius is {radius!r}; give a positive number, or 'auto'")
