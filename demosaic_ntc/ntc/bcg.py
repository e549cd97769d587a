"""Blended Conditional Gradients with a weak separation oracle.

G. Braun, S. Pokutta, D. Tu and S. Wright, "Blended Conditional Gradients", ICML 2019, for the problem
(nntcon) of the paper restricted to the observed cells: minimise f(x) = noise + Σ w (λ x − ȳ)² over the
polytope. Each round either descends inside the active set, while that promises a decrease of Φ, or asks
the oracle for a vertex v with ⟨∇f(x), x − v⟩ ≥ Φ/K.

*Lower bound.* f is convex, so f* ≥ f(x) + min_v ⟨∇f(x), v − x⟩. Where the oracle proved that no vertex
has ⟨∇f, v⟩ below z, f* ≥ f(x) − (⟨∇f, x⟩ − z). Only such proofs, and f* ≥ noise, enter the certificate.

*Start of Φ.* Without any oracle, min_v ⟨∇f, v⟩ ≥ Σ_u min(∇f_u, 0), because vertices are 0-1: a free bound,
and half the gap that it allows is the first Φ.

*As published* (`SimplexDescent`). While two active vertices differ by Φ or more along the gradient, weight
moves among them; else the oracle is asked, heuristics first, then a proof. A vertex found means a step
towards that one vertex, Φ stays; none means that x stays and Φ is halved. Three liberties, none of which
weakens a proof: the first Φ comes from the free bound instead of a call of the oracle; Φ goes to half the
*proven* gap where that is smaller than half of Φ; and exact oracles are asked to refute Φ/K, though
Algorithm 1 is content where they refute Φ.

*With full correction* (`FullyCorrective`, the default) the same loop is used more freely. While Φ exceeds the
tolerance a proof could not end the run, so none is asked for: the best vertices are taken if they improve at
all, and Φ shrinks by rule or grows with what was found. That is a step size, not a certificate. Only when Φ
is down at half the tolerance must the exact oracle speak.

Without an exact oracle, or where it ran out of time, Φ shrinks by rule in both ways, and nothing is proven.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from demosaic_ntc.ntc.atoms import ActiveSet
from demosaic_ntc.ntc.corrective import Descent
from demosaic_ntc.ntc.kernels.supports import slope_at
from demosaic_ntc.ntc.oracle import OracleResult, WeakSeparation
from demosaic_ntc.ntc.solution import Certificate, Status
from demosaic_ntc.run import Deadline

ACCURACY = 1.2  # K of Algorithm 1
STALLED = 1e-13  # of the energy: decreases below this are rounding


@dataclass(frozen=True, slots=True)
class SolverProgress:
    """Where a running completion stands."""

    iteration: int
    objective: float
    lower_bound: float
    atoms: int
    radius: float


@dataclass(frozen=True, slots=True)
class StopRules:
    """When to stop."""

    tolerance: float  # on objective − lower bound
    iterations: int
    deadline: Deadline


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended; the active set holds the point."""

    status: Status
    certificate: Certificate
    iterations: int


def minimise(
    active: ActiveSet,
    separate: WeakSeparation,
    descent: Descent,
    limits: StopRules,
    progress: Callable[[SolverProgress], None] | None = None,
) -> RunResult:
    """Run Blended Conditional Gradients from the active set's point until a limit is reached."""
    problem, observed = active.problem, active.problem.observed
    lower = observed.noise
    floor = limits.tolerance / 2
    estimate = np.inf
    unproved = False
    iteration = 0
    while True:
        gradient = np.empty_like(active.point)
        misfit, here, negative = slope_at(
            observed.weight, observed.value, problem.radius, active.point, gradient
        )
        objective = observed.noise + misfit
        free = here - negative  # bounds ⟨∇f, x − v⟩ over all vertices, knowing only that they are 0-1
        lower = max(lower, objective - free)
        estimate = max(min(estimate, free / 2), floor)
        if progress:
            progress(SolverProgress(iteration, objective, lower, len(active), problem.radius))
        status = _verdict(objective - lower, unproved, iteration, limits)
        if status:
            return RunResult(status, Certificate(objective, min(lower, objective)), iteration)
        iteration += 1
        if local_gap(active) >= estimate:
            descent.descend(active)
        else:
            last = estimate <= floor
            prove = last or descent.as_published
            found = separate(gradient, here - estimate / ACCURACY, prove=prove, bound=last)
            lower = max(lower, objective - (here - found.lower_bound))
            gap, least = here - found.value, STALLED * observed.energy
            enough = estimate / ACCURACY if descent.as_published else 0.0
            if gap >= enough and gap > least:
                descent.absorb(active, (found.vertex, *found.others))
            estimate, unproved = next_estimate(
                estimate, here, found, last, limits.tolerance, steady=descent.as_published
            )
        active.refresh()


def local_gap(active: ActiveSet) -> float:
    """Return the largest ⟨∇f, a − s⟩ over pairs of active vertices."""
    slopes = active.slopes
    return float(slopes.max() - slopes.min())


def next_estimate(
    estimate: float, here: float, found: OracleResult, last: bool, tolerance: float, *, steady: bool
) -> tuple[float, bool]:
    """Return the next Φ, and whether the run must end because nothing is left that could prove it done.

    ``here`` is ⟨∇f, x⟩; ``last`` tells that Φ is at its least; a ``steady`` Φ never grows.
    """
    gap, proven = here - found.value, here - found.lower_bound
    if gap >= estimate / ACCURACY:
        return estimate if steady else max(estimate, gap / 2), False
    if np.isfinite(proven):
        return min(estimate, proven) / 2, last and proven > tolerance
    return min(estimate / 2, max(gap, estimate / 16)), last


def _verdict(gap: float, unproved: bool, iteration: int, limits: StopRules) -> Status | None:
    if gap <= limits.tolerance:
        return Status.OPTIMAL
    if unproved:
        return Status.HEURISTIC
    if limits.deadline.is_over():
        return Status.TIME
    if iteration >= limits.iterations:
        return Status.ITERATIONS
    return None
