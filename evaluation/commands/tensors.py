"""A random tensor completed, for the demo."""

from time import perf_counter


def complete_tensor(size: int, samples: int, seed: int) -> list[str]:
    """Complete a random nonnegative tensor from some of its entries and say how well that went."""
    import numpy as np

    from ..data.synthetic import draw_samples, random_truth
    from ..methods.completions import Solver
    from ..methods.tensors import nmse

    generator = np.random.default_rng(seed)
    truth = random_truth((size, size, size), generator)
    drawn = draw_samples(truth, samples, 0.0, generator)
    start = perf_counter()
    outcome = Solver().solve(drawn, seed, radius=1.0)
    seconds, proof, gap = perf_counter() - start, outcome.proof, outcome.proof["gap"]
    return [
        f"tensor    {size} × {size} × {size}, a random combination of ten rank-one 0-1 tensors",
        f"samples   {samples}, drawn with replacement",
        f"status    {proof['status']}, {proof['iterations']} iterations",
        f"objective {proof['objective']:.3g}, certified to be within {gap:.3g} of the least possible",
        f"NMSE      {nmse(outcome.estimate, truth):.3g} over the whole tensor",
        f"time      {seconds:.2f} s, compiling included",
    ]
