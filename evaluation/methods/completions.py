"""The ways to complete a tensor that an experiment can compare, by name.

Another baseline is one more file with a function of `TensorSamples`, and one more line here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from demosaic_ntc import complete
from demosaic_ntc.ntc.complete import SPREAD

from ..data.paper_tables import PaperMethod
from ..measure.protocol import SOLVER_LAYERS, engine
from . import als, low_rank, tncp
from .method import Method, index_by_name
from .tensors import Floats, RankOneSum, TensorSamples, constant_mean, mean_elsewhere

LEAST_GAP = 1e-4  # closer fits of least norm take longer and predict no better
FACES = (1, 2, 4, 8)  # vertices per vertex whose mean is compared, one being a corner of the optimal face

#: How a certifying method ended and what it proved: the optimum lies within `gap` below the objective, and
#: nothing fits within a smaller radius than the least.
PROOF = ("status", "objective", "lower_bound", "gap", "radius", "iterations", "least_radius", "oracle_calls")


@dataclass(frozen=True, slots=True)
class CompletionResult:
    """An estimate of the tensor, and what the method proved about it, by the names of PROOF."""

    estimate: RankOneSum | Floats
    proof: Mapping[str, Any] = field(default_factory=dict)


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
    oracle: str = "auto"
    descent: str = "corrective"

    def solve(
        self, samples: TensorSamples, seed: int, radius: float | Literal["least", "auto"]
    ) -> CompletionResult:
        """Complete the tensor over the polytope of that radius, or with the least norm."""
        how: Any = {**asdict(self), "seed": seed}
        solution = complete(samples.shape, samples.index, samples.value, radius=radius, **how)
        factors = tuple(vertices.astype(np.float64) for vertices in solution.vertices)
        proven, least = solution.certificate, solution.least
        proof = (
            *(solution.status.name, proven.objective, proven.lower_bound, proven.gap, solution.radius),
            *(solution.iterations, least.lower if least else None),
            " ".join(f"{kind}={count}" for kind, count in solution.oracle_calls.items()),
        )
        estimate = RankOneSum(solution.radius * solution.weights, factors)
        return CompletionResult(estimate, dict(zip(PROOF, proof, strict=True)))


def variants(solver: Solver, oracles: Sequence[str], descents: Sequence[str]) -> Iterator[Completion]:
    """Our solver within the true radius by every oracle with every descent, named by both."""
    for oracle in oracles or ["auto"]:
        for descent in descents or ["corrective"]:
            name, how = f"ntc {oracle} {descent}", replace(solver, oracle=oracle, descent=descent)
            yield _ours(name, f"this package, true radius 1, {oracle}, {descent}{_code(solver)}", how, 1.0)


def _code(solver: Solver) -> str:
    """What results of our solver depend on."""
    limit = "" if solver.deadline is None else f", {solver.deadline:g} s"
    return f", gap {solver.gap:g}{limit}, {engine(SOLVER_LAYERS)}"


def catalogue(solver: Solver) -> dict[str, Completion]:
    """All methods by name: ours, baselines as published and with better settings, and controls."""
    coarse, fit = replace(solver, gap=max(solver.gap, LEAST_GAP)), f"{LEAST_GAP:g}"
    code = _code(solver)
    least = f"this package, least radius that fits to {fit} of the mean square{code}"
    auto = f"this package, least radius, misfit by held-out samples, at least {fit}{code}"
    elsewhere = "samples kept, their mean elsewhere: what the paper's TNCP figures measure"
    published, markers = "published settings", "as the package has it: max for shrinkage, missing cells at -1"
    face = f"ntc-least, the mean of up to {{}} vertices for each where no sample decides{code}"
    tuned = "tuned ridge and tolerance"
    return index_by_name(
        (
            _ours("ntc", f"this package, true radius 1{code}", solver, 1.0),
            _ours("ntc-least", least, coarse, "least"),
            _ours("ntc-auto", auto, coarse, "auto"),
            *(_ours(f"ntc-face-{n}", face.format(n), replace(coarse, spread=n), "least") for n in FACES),
            _peer("als", published, lambda s, seed: als.als(s, seed, als.PUBLISHED), "als"),
            _peer("als-tuned", tuned, lambda s, seed: als.als(s, seed, als.TUNED), "als"),
            _peer("silrtc", published, lambda s, _: low_rank.silrtc(s, low_rank.PUBLISHED), "silrtc"),
            _peer(
                "silrtc-tuned", "tuned shrinkage", lambda s, _: low_rank.silrtc(s, low_rank.TUNED), "silrtc"
            ),
            _peer("tncp", markers, lambda s, seed: tncp.tncp(s, seed, tncp.PUBLISHED), "tncp"),
            _peer(
                "tncp-corrected", "soft thresholding", lambda s, x: tncp.tncp(s, x, tncp.CORRECTED), "tncp"
            ),
            _peer("mean-elsewhere", elsewhere, lambda s, _: mean_elsewhere(s), "tncp"),
            _peer("mean", "the mean of the samples everywhere", lambda s, _: constant_mean(s), None),
        )
    )


def _ours(name: str, settings: str, solver: Solver, radius: Any) -> Completion:
    """Our solver."""
    return Completion(name, settings, "ours", lambda s, seed: solver.solve(s, seed, radius), "ntc")


def _peer(
    name: str, settings: str, solve: Callable[[TensorSamples, int], Any], paper: PaperMethod | None
) -> Completion:
    """A method that proves nothing."""
    return Completion(name, settings, "peer", lambda s, seed: CompletionResult(solve(s, seed)), paper)
