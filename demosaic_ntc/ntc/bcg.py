"""Blended Conditional Gradients with a weak separation oracle.

G. Braun, S. Pokutta, D. Tu and S. Wright, "Blended Conditional Gradients", ICML 2019, for the problem
(nntcon) of the paper restricted to the observed cells: minimise f(x) = noise + Σ w (λ x − ȳ)² over the
polytope. Each round either descends inside the active set, while that promises a decrease of Φ, or asks
the oracle for a vertex v with ⟨∇f(x), x − v⟩ ≥ Φ/K.

*Lower bound.* f is convex, so f* ≥ f(x) + min_v ⟨∇f(x), v − x⟩. Where the oracle proved that no vertex
has ⟨∇f, v⟩ below z, f* ≥ f(x) − (⟨∇f, x⟩ − z). Only such proofs, and f* ≥ noise, enter the certificate.

*Start of Φ.* Without any oracle, min_v ⟨∇f, v⟩ ≥ Σ_u min(∇f_u, 0), because vertices are 0-1: a free bound,
and half the gap that it allows is the first Φ.

*When guessing fails.* The oracle's heuristics are asked first. While Φ exceeds the tolerance a proof
could not end the run, so none is asked for: the best vertex is taken if it improves at all, and Φ shrinks
by rule. That is a step size, not a certificate. Only when Φ is down at half the tolerance must the exact
oracle speak.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from demosaic_ntc.ntc.atoms import ActiveSet
from demosaic_ntc.ntc.corrective import Descent
from demosaic_ntc.ntc.deadline import Deadline
from demosaic_ntc.ntc.kernels.supports import slope_at
from demosaic_ntc.ntc.oracle import Found, WeakSeparation
from demosaic_ntc.ntc.solution import Certificate, Status

ACCURACY = 1.2  # K of Algorithm 1
STALLED = 1e-13  # of the energy: decreases below this are rounding


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a running completion stands."""

    iteration: int
    objective: float
    lower_bound: float
    atoms: int
    radius: float


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop."""

    tolerance: float  # on objective − lower bound
    iterations: int
    deadline: Deadline


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended; the active set holds the point."""

    status: Status
    certificate: Certificate
    iterations: int


def minimise(
    active: ActiveSet,
    separate: WeakSeparation,
    descent: Descent,
    limits: Limits,
    progress: Callable[[Progress], None] | None = None,
) -> Outcome:
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
            progress(Progress(iteration, objective, lower, len(active), problem.radius))
        status = _verdict(objective - lower, unproved, iteration, limits)
        if status:
            return Outcome(status, Certificate(objective, min(lower, objective)), iteration)
        iteration += 1
        if local_gap(active) >= estimate:
            descent.descend(active)
        else:
            prove = estimate <= floor
            found = separate(gradient, here - estimate / ACCURACY, prove=prove)
            lower = max(lower, objective - (here - found.lower_bound))
            estimate, unproved = _next_estimate(estimate, here, found, prove, limits.tolerance)
            if here - found.value > STALLED * observed.energy:
                descent.absorb(active, (found.vertex, *found.others))
        active.refresh()


def local_gap(active: ActiveSet) -> float:
    """Return the largest ⟨∇f, a − s⟩ over pairs of active vertices."""
    slopes = active.slopes
    return float(slopes.max() - slopes.min())


def _next_estimate(
    estimate: float, here: float, found: Found, prove: bool, tolerance: float
) -> tuple[float, bool]:
    """Return the next Φ, and whether the run must end because nothing is left that could prove it done."""
    gap = here - found.value
    if gap >= estimate / ACCURACY:
        return max(estimate, gap / 2), False
    if np.isfinite(found.lower_bound):
        return min(estimate, here - found.lower_bound) / 2, prove and here - found.lower_bound > tolerance
    return min(estimate / 2, max(gap, estimate / 16)), prove


def _verdict(gap: float, unproved: bool, iteration: int, limits: Limits) -> Status | None:
    if gap <= limits.tolerance:
        return Status.OPTIMAL
    if unproved:
        return Status.HEURISTIC
    if limits.deadline.passed():
        return Status.TIME
    if iteration >= limits.iterations:
        return Status.ITERATIONS
    return None
