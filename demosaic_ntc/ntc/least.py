"""The least radius: the smallest norm within which the observations are fitted to a misfit ε².

Write φ(r) for the least root-mean-square misfit within radius r: convex, falling, zero where r is large
enough. The least radius solves φ(r) = ε. It is approached from below by Newton's method, as E. van den Berg
and M. P. Friedlander do for basis pursuit ("Probing the Pareto frontier for basis pursuit solutions", SIAM J.
Sci. Comput. 31, 2008), with one active set carried along.

*The bound.* Let z = w (ȳ − ψ) be the weighted residual at any point and D ≥ max_v ⟨z, v⟩ over the vertices.
If some ψ' of norm r' fits to ε, then ⟨z, ȳ − ψ'⟩ ≤ ε ‖ȳ − ψ‖ by Cauchy and Schwarz and ⟨z, ψ'⟩ ≤ r' D, so

    r' ≥ (⟨z, ȳ⟩ − ε ‖ȳ − ψ‖) / D.

Where z belongs to the best point within r, this is the Newton step. A point whose Frank-Wolfe gap is below
twice its misfit already gives a bound above r while ε is small beside it: no radius is solved to the end but
the last.

*The certificate.* D is proven only where an exact oracle has spoken; a heuristic's D makes the bound a good
guess, by which radii are chosen. Two proofs cost nothing: D ≤ Σ_u max(z_u, 0), and the norm is at least the
largest entry.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from demosaic_ntc.arrays import Float64
from demosaic_ntc.ntc.atoms import ActiveSet, Vertex, zero_vertex
from demosaic_ntc.ntc.bcg import SolverProgress, local_gap
from demosaic_ntc.ntc.corrective import Descent, FullyCorrective
from demosaic_ntc.ntc.kernels.supports import slope_at
from demosaic_ntc.ntc.oracle import OracleResult, WeakSeparation
from demosaic_ntc.ntc.problem import Observations, Problem
from demosaic_ntc.run import Deadline

PART_OF_MISFIT = 1.6  # a vertex is taken when its Frank-Wolfe gap is this part of the misfit, at first
START = 1e-3  # of the largest value: the first radius, before any bound is known
AIM = 0.6  # radii are chosen for this part of ε, so that the fit can be reached
STALLED = 1e-13  # of the energy: decreases below this are rounding
PROOFS = 20  # how often an exact oracle may send the path back
PROVEN_WITHIN = 4  # steps above its lower bound at which a radius counts as the least one


@dataclass(frozen=True, slots=True)
class Dual:
    """A weighted residual z and what bounds the least radius by it."""

    residual: Float64  # (cells,): z
    toward: float  # ⟨z, ȳ⟩
    length: float  # ‖ȳ − ψ‖ in the norm weighted by w

    def bound(self, misfit: float, steepest: float) -> float:
        """Return the bound on the radius that ε² = misfit and D = steepest give; none if D is zero."""
        room = self.toward - math.sqrt(misfit) * self.length
        return room / steepest if room > 0 and steepest > 0 else 0.0


def dual_at(problem: Problem, point: Float64) -> Dual:
    """Return the dual point that belongs to a point of the polytope."""
    observed = problem.observed
    difference = observed.value - problem.radius * point
    residual = observed.weight * difference
    return Dual(residual, float(residual @ observed.value), math.sqrt(float(residual @ difference)))


def entry_bound(observed: Observations, misfit: float) -> float:
    """Bound the norm of all fits to ε² = misfit by the largest entry: one cell may be missed by ε / √w."""
    return max(float((observed.value - np.sqrt(misfit / observed.weight)).max()), 0.0)


class Path:
    """Fits of least norm to ever smaller misfits, with one active set."""

    def __init__(
        self,
        active: ActiveSet,
        separate: WeakSeparation,
        deadline: Deadline,
        step: float,
        progress: Callable[[SolverProgress], None] | None = None,
        descent: Descent | None = None,
    ) -> None:
        """Start at the active set's point; radii are raised by ``step``, relative, beyond their bounds."""
        self.active = active
        self.separate = separate
        self.step = step
        self.iterations = 0
        self.guess = 0.0  # the largest bound on the radius that the heuristics allow, and what it came from
        self.dual: Dual | None = None
        self._part = PART_OF_MISFIT
        self._misled = False  # an exact oracle found a vertex that the heuristics overlook
        self._descent: Descent = descent or FullyCorrective()
        self._deadline = deadline
        self._progress = progress

    def fit(self, misfit: float, iterations: int) -> bool:
        """Raise the radius until the misfit, without the noise within cells, is at most this; say if so."""
        active, observed = self.active, self.active.problem.observed
        self.guess, self.dual = 0.0, None
        self._move_up(entry_bound(observed, misfit))
        while not self._deadline.is_over() and self.iterations < iterations:
            problem = active.problem
            gradient = np.empty_like(active.point)
            fit, here, _ = slope_at(observed.weight, observed.value, problem.radius, active.point, gradient)
            self._report(fit)
            if fit <= misfit:
                return True
            self.iterations += 1
            wanted = self._part * fit
            if self._descent.as_published and local_gap(active) >= wanted:
                self._descent.descend(active)
            else:
                found = self.separate(gradient, here - wanted, prove=self._misled, bound=False)
                if here - found.value < wanted:
                    self._raise(misfit, -found.value / (2 * problem.radius))
                self._take(found, here)
            active.refresh()
        return False

    def _take(self, found: OracleResult, here: float) -> None:
        """Take in what the oracle found, or move weight where that is of no use."""
        if here - found.value > STALLED * self.active.problem.observed.energy:
            self._descent.absorb(self.active, (found.vertex, *found.others))
        else:
            self._descent.descend(self.active)

    def _raise(self, misfit: float, steepest: float) -> None:
        """Go to the next radius of Newton's method."""
        dual = dual_at(self.active.problem, self.active.point)
        guess = dual.bound(misfit, steepest)
        if guess > self.guess:
            self.guess, self.dual = guess, dual
        self._move_up((1 + self.step) * dual.bound(AIM**2 * misfit, steepest))

    def _move_up(self, radius: float) -> None:
        if radius > self.active.problem.radius:
            self.active.move_to(radius)

    def go_back(self, radius: float, vertex: Vertex) -> None:
        """Shrink the radius, and take in the vertex that showed it to be too large.

        From here on no radius is raised before an exact oracle finds no vertex worth taking either: the
        heuristics, blind to that vertex, would lead the path to the same radius again. And steps get shorter,
        lest they lead beyond it once more.
        """
        self._misled = True
        self._part /= 2
        self.active.move_to(radius)
        self._descent.absorb(self.active, [vertex])
        self.active.refresh()

    def _report(self, fit: float) -> None:
        if self._progress:
            noise = self.active.problem.observed.noise
            radius = self.active.problem.radius
            self._progress(SolverProgress(self.iterations, noise + fit, noise, len(self.active), radius))


def zero_start(observed: Observations) -> ActiveSet:
    """Return the active set of the zero tensor, within a radius that is small but not zero."""
    problem = Problem(observed, START * (float(observed.value.max()) or 1.0))
    return ActiveSet(problem, [zero_vertex(problem)], np.ones(1))


def within(radius: float, bound: float, step: float) -> bool:
    """Return whether a radius counts as the least one beside a lower bound on it."""
    return radius <= (1 + PROVEN_WITHIN * step) * bound


@dataclass(frozen=True, slots=True)
class Proven:
    """What is proven about fits to a misfit: none has a smaller norm; within the radius none is closer."""

    radius: float
    misfit: float


def fit_with_least_norm(path: Path, misfit: float, iterations: int, exact: bool) -> tuple[bool, Proven]:
    """Fit to a misfit with the least norm; say if that succeeded, and what is proven.

    With an exact oracle the bound that the path ended with is proven. Where it is wrong, because a vertex was
    overlooked, the path goes on from there with that vertex. Where the oracle ran out of time, its bound is
    taken as it is, and the interval stays open.
    """
    observed = path.active.problem.observed
    lower, closest = entry_bound(observed, misfit), 0.0
    for proofs_left in reversed(range(PROOFS if exact else 1)):
        fitted = path.fit(misfit, iterations)
        problem = path.active.problem
        dual = path.dual or dual_at(problem, path.active.point)
        steepest = float(np.maximum(dual.residual, 0.0).sum())
        found = None
        if exact and fitted and dual.length > 0:
            found = path.separate(-dual.residual, -math.inf, prove=True, bound=False)
            steepest = min(steepest, -found.lower_bound)
        if steepest > 0:
            lower = max(lower, dual.bound(misfit, steepest))
        allowed = max(lower, dual.bound(misfit, -found.value)) if found and found.value < 0 else lower
        if not found or within(problem.radius, allowed, path.step) or not allowed or not proofs_left:
            break
        path.go_back((1 + path.step) * allowed, found.vertex)
    if found:
        steepest = min(steepest, -path.separate.bound(-dual.residual))
    if steepest > 0:
        lower = max(lower, dual.bound(misfit, steepest))
    if dual.length > 0:
        closest = max(dual.toward - problem.radius * steepest, 0.0) / dual.length
    return fitted, Proven(lower, closest**2)
