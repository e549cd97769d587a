"""Methods without a model: what any other method must beat."""

import numpy as np

from .tensors import DENSE_BYTES, Floats, RankOneSum, Samples, observed, refuse_beyond


def constant_mean(samples: Samples) -> RankOneSum:
    """The mean of the samples in every cell."""
    ones = tuple(np.ones((1, size)) for size in samples.shape)
    return RankOneSum(np.array([samples.value.mean()]), ones)


def mean_elsewhere(samples: Samples) -> Floats:
    """The observed cells as they are and their mean in all others.

    This is what the figures of arXiv:2111.04580 under TNCP measure. The code of its authors runs SiLRTC
    first; the package writes that method's starting value, the mean, into the missing cells of the
    caller's array, TNCP is then handed the same array, finds nothing missing and returns it.
    """
    refuse_beyond(DENSE_BYTES, samples.shape, copies=4, method="the filled tensor")
    known, is_known = observed(samples)
    return np.where(is_known, known, np.mean(known[is_known]))
