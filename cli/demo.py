"""The command ``demosaic-ntc demo``: complete a synthetic tensor and say what was done."""

from typing import TYPE_CHECKING, Annotated

import typer

from .measuring import evaluation

if TYPE_CHECKING:
    from evaluation.methods import Proof
    from evaluation.tensors import RankOneSum, Samples


def demo(
    size: Annotated[int, typer.Option(min=2, max=200, help="Size of each of the three modes.")] = 10,
    samples: Annotated[int, typer.Option(min=1, help="Number of observed entries.")] = 500,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random tensor.")] = 0,
) -> None:
    """Complete a random nonnegative tensor from some of its entries and say how well that went."""
    from time import perf_counter

    import numpy as np

    synthetic, methods = evaluation("synthetic"), evaluation("methods")
    generator = np.random.default_rng(seed)
    truth = synthetic.random_truth((size, size, size), generator)
    drawn = synthetic.draw_samples(truth, samples, 0.0, generator)
    start = perf_counter()
    outcome = methods.Solver().solve(drawn, seed, radius=1.0)
    seconds = perf_counter() - start
    for line in _report(truth, drawn, outcome.estimate, outcome.proof, seconds):
        typer.echo(line)


def _report(
    truth: "RankOneSum", samples: "Samples", estimate: "RankOneSum", proof: "Proof", seconds: float
) -> list[str]:
    """What was completed, from what, and what is proven about the result."""
    size = " × ".join(map(str, truth.shape))
    error = evaluation("metrics").nmse(estimate, truth)
    return [
        f"tensor    {size}, a random combination of ten rank-one 0-1 tensors",
        f"samples   {len(samples.value)}, drawn with replacement",
        f"status    {proof.status}, {proof.iterations} iterations",
        f"objective {proof.objective:.3g}, certified to be within {proof.gap:.3g} of the least possible",
        f"NMSE      {error:.3g} over the whole tensor",
        f"time      {seconds:.2f} s, compiling included",
    ]
