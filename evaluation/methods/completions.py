"""The ways to complete a tensor that an experiment can compare, by name.

Another baseline is one more file with a function of `Samples`, and one more line here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from demosaic_ntc import Solution, complete
from demosaic_ntc.ntc.complete import SPREAD

from ..data.paper_tables import PaperMethod
from ..measure.protocol import SOLVER_LAYERS, engine
from . import als, silrtc, tncp
from .control import constant_mean, mean_elsewhere
from .method import Method, named
from .tensors import Floats, RankOneSum, Samples

LEAST_GAP = 1e-4  # closer fits of least norm take longer and predict no better
FACES = (1, 2, 4, 8)  # vertices per vertex whose mean is compared, one being a corner of the optimal face


@dataclass(frozen=True, slots=True)
class Proof:
    """How a certifying method ended and what it proved: the optimum lies within `gap` below the objective."""

    status: str
    objective: float
    lower_bound: float
    gap: float
    radius: float
    iterations: int
    oracle_calls: Mapping[str, int]
    least_radius: float | None = None  # within a smaller one nothing fits


@dataclass(frozen=True, slots=True)
class Outcome:
    """An estimate of the tensor, and what the method proved about it, if it proves anything."""

    estimate: RankOneSum | Floats
    proof: Proof | None = None


@dataclass(frozen=True, slots=True)
class Completion(Method):
    """A way to complete a tensor, `run(samples, seed)`, and whose figures of the paper stand beside it."""

    paper: PaperMethod | None = None


@dataclass(frozen=True, slots=True)
class Solver:
    """How our own solver is called: its tolerance, the seconds it may take, and how far it averages."""

    gap: float = 1e-6
    deadline: float | None = None
    spread: int = SPREAD

    def solve(self, samples: Samples, seed: int, radius: float | Literal["least", "auto"]) -> Outcome:
        """Complete the tensor over the polytope of that radius, or with the least norm."""
        solution = complete(
            samples.shape,
            samples.index,
            samples.value,
            radius=radius,
            gap=self.gap,
            deadline=self.deadline,
            spread=self.spread,
            seed=seed,
        )
        factors = tuple(vertices.astype(np.float64) for vertices in solution.vertices)
        return Outcome(RankOneSum(solution.radius * solution.weights, factors), proof_of(solution))


def proof_of(solution: Solution) -> Proof:
    """What our solver proved."""
    certificate = solution.certificate
    return Proof(
        solution.status.name,
        certificate.objective,
        certificate.lower_bound,
        certificate.gap,
        solution.radius,
        solution.iterations,
        dict(solution.oracle_calls),
        solution.least.lower if solution.least else None,
    )


def catalogue(solver: Solver) -> dict[str, Completion]:
    """All methods by name: ours, baselines as published and with better settings, and controls."""
    coarse, fit = replace(solver, gap=max(solver.gap, LEAST_GAP)), f"{LEAST_GAP:g}"
    limit = "" if solver.deadline is None else f", {solver.deadline:g} s"
    code = f", gap {solver.gap:g}{limit}, {engine(SOLVER_LAYERS)}"
    least = f"this package, least radius that fits to {fit} of the mean square{code}"
    auto = f"this package, least radius, misfit by held-out samples, at least {fit}{code}"
    elsewhere = "samples kept, their mean elsewhere: what the paper's TNCP figures measure"
    corrected = tncp.CORRECTED
    published, markers = "published settings", "as the package has it: max for shrinkage, missing cells at -1"
    return named(
        (
            _ours("ntc", f"this package, true radius 1{code}", lambda s, seed: solver.solve(s, seed, 1.0)),
            _ours("ntc-least", least, lambda s, seed: coarse.solve(s, seed, "least")),
            _ours("ntc-auto", auto, lambda s, seed: coarse.solve(s, seed, "auto")),
            *(_face(spread, coarse, code) for spread in FACES),
            _peer("als", published, lambda s, seed: als.als(s, seed, als.PUBLISHED), "als"),
            _peer("als-tuned", "tuned ridge and tolerance", lambda s, x: als.als(s, x, als.TUNED), "als"),
            _peer("silrtc", published, lambda s, _: silrtc.silrtc(s, silrtc.PUBLISHED), "silrtc"),
            _peer("silrtc-tuned", "tuned shrinkage", lambda s, _: silrtc.silrtc(s, silrtc.TUNED), "silrtc"),
            _peer("tncp", markers, lambda s, seed: tncp.tncp(s, seed, tncp.PUBLISHED), "tncp"),
            _peer("tncp-corrected", "soft thresholding", lambda s, x: tncp.tncp(s, x, corrected), "tncp"),
            _peer("mean-elsewhere", elsewhere, lambda s, _: mean_elsewhere(s), "tncp"),
            _peer("mean", "the mean of the samples everywhere", lambda s, _: constant_mean(s), None),
        )
    )


def _ours(name: str, settings: str, solve: Callable[[Samples, int], Outcome]) -> Completion:
    """Our solver."""
    return Completion(name, settings, "ours", solve, "ntc")


def _face(spread: int, solver: Solver, code: str) -> Completion:
    """Our solver with a corner of the optimal face, or with means over some of its vertices."""
    settings = f"ntc-least, the mean of up to {spread} vertices for each where no sample decides{code}"
    averaging = replace(solver, spread=spread)
    return _ours(f"ntc-face-{spread}", settings, lambda s, seed: averaging.solve(s, seed, "least"))


def _peer(
    name: str,
    settings: str,
    complete: Callable[[Samples, int], RankOneSum | Floats],
    paper: PaperMethod | None,
) -> Completion:
    """A method that proves nothing."""
    return Completion(name, settings, "peer", lambda s, seed: Outcome(complete(s, seed)), paper)
