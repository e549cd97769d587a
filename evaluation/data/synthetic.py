"""The random tensors and samples of the published experiments.

Bugg, Chen & Aswani, *Nonnegative Tensor Completion via Integer Optimization*, NeurIPS 2022,
arXiv:2111.04580, section 5: "randomly choosing 10 points from S_1 and then taking a random convex
combination", indices "sampled with replacement". The text leaves the distributions open; here each
entry of each 0-1 factor is 1 with probability 1/2, and the convex weights are ten uniform numbers
divided by their sum. That reading reproduces the NMSE of about 0.48 which the paper states for the
constant mean of its third-order tensors (weights uniform on the simplex would give about 0.56).
"""

import numpy as np

from ..methods.tensors import RankOneSum, TensorSamples

TERMS = 10


def random_truth(shape: tuple[int, ...], generator: np.random.Generator) -> RankOneSum:
    """A random convex combination of ten random 0-1 rank-one tensors."""
    weights = generator.uniform(size=TERMS)
    factors = tuple(generator.integers(0, 2, (TERMS, size)).astype(np.float64) for size in shape)
    return RankOneSum(weights / weights.sum(), factors)


def draw_samples(
    truth: RankOneSum, count: int, noise: float, generator: np.random.Generator
) -> TensorSamples:
    """Entries at uniformly random cells, with Gaussian noise of that deviation cut off at zero."""
    index = np.stack([generator.integers(0, size, count) for size in truth.shape], axis=1)
    value = truth.at(index)
    if noise > 0:
        value = np.maximum(value + generator.normal(0.0, noise, count), 0.0)
    return TensorSamples(truth.shape, index, value)
