"""The methods an experiment can compare, by name.

Another baseline is one more file with a function of `Samples`, and one more line here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from demosaic_ntc import Solution, complete

from . import als, silrtc, tncp
from .control import constant_mean, mean_elsewhere
from .paper_tables import PaperMethod
from .tensors import Floats, RankOneSum, Samples

LEAST_GAP = 1e-4  # closer fits of least norm take longer and predict no better


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
class Method:
    """A way to complete a tensor, and the method of the paper its figures stand beside."""

    name: str
    explanation: str
    solve: Callable[[Samples, int], Outcome]
    paper: PaperMethod | None

    @property
    def is_ours(self) -> bool:
        """Whether its failure is a fault of this package, and not a figure that is missing."""
        return self.paper == "ntc"


@dataclass(frozen=True, slots=True)
class Solver:
    """How our own solver is called: its tolerance and the seconds it may take."""

    gap: float = 1e-6
    deadline: float | None = None

    def solve(self, samples: Samples, seed: int, radius: float | Literal["least", "auto"]) -> Outcome:
        """Complete the tensor over the polytope of that radius, or with the least norm."""
        solution = complete(
            samples.shape,
            samples.index,
            samples.value,
            radius=radius,
            gap=self.gap,
            deadline=self.deadline,
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


def catalogue(solver: Solver) -> dict[str, Method]:
    """All methods by name."""
    methods = [*_ours(solver), *_baselines(), *_controls()]
    return {method.name: method for method in methods}


def _ours(solver: Solver) -> list[Method]:
    """Our solver with the radius the truth was built with, and with radii chosen from the samples."""
    coarse = replace(solver, gap=max(solver.gap, LEAST_GAP))
    return [
        Method("ntc", "this package, true radius 1", lambda s, seed: solver.solve(s, seed, 1.0), "ntc"),
        Method(
            "ntc-least",
            f"this package, least radius that fits to {LEAST_GAP:g} of the mean square",
            lambda s, seed: coarse.solve(s, seed, "least"),
            "ntc",
        ),
        Method(
            "ntc-auto",
            f"this package, least radius, misfit by held-out samples, at least {LEAST_GAP:g}",
            lambda s, seed: coarse.solve(s, seed, "auto"),
            "ntc",
        ),
    ]


def _baselines() -> list[Method]:
    """The published baselines, each with the published settings and with better ones."""
    return [
        Method("als", "published settings", lambda s, seed: Outcome(als.als(s, seed, als.PUBLISHED)), "als"),
        Method(
            "als-tuned",
            "tuned ridge and tolerance",
            lambda s, seed: Outcome(als.als(s, seed, als.TUNED)),
            "als",
        ),
        Method(
            "silrtc", "published settings", lambda s, _: Outcome(silrtc.silrtc(s, silrtc.PUBLISHED)), "silrtc"
        ),
        Method(
            "silrtc-tuned", "tuned shrinkage", lambda s, _: Outcome(silrtc.silrtc(s, silrtc.TUNED)), "silrtc"
        ),
        Method(
            "tncp",
            "as the package has it: max for shrinkage, missing cells at -1",
            lambda s, seed: Outcome(tncp.tncp(s, seed, tncp.PUBLISHED)),
            "tncp",
        ),
        Method(
            "tncp-corrected",
            "soft thresholding",
            lambda s, seed: Outcome(tncp.tncp(s, seed, tncp.CORRECTED)),
            "tncp",
        ),
    ]


def _controls() -> list[Method]:
    """Methods without a model."""
    return [
        Method(
            "mean-elsewhere",
            "samples kept, their mean elsewhere: what the paper's TNCP figures measure",
            lambda s, _: Outcome(mean_elsewhere(s)),
            "tncp",
        ),
        Method("mean", "the mean of the samples everywhere", lambda s, _: Outcome(constant_mean(s)), None),
    ]
