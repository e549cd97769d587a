"""High accuracy low-rank tensor completion (HaLRTC) by the alternating direction method of multipliers.

J. Liu, P. Musialski, P. Wonka, J. Ye, *Tensor Completion for Estimating Missing Values in Visual Data*,
IEEE Transactions on Pattern Analysis and Machine Intelligence 35 (2013), 208-220,
doi:10.1109/TPAMI.2012.39, algorithm 4.

The problem is min Σ_i α_i ‖X_(i)‖_* with X fixed on the observed cells. With copies M_i of X, multipliers Y_i
and a step ρ, an iteration is

    M_i = the tensor X + Y_i/ρ with the singular values of its unfolding i shrunk by α_i/ρ
    X   = the mean of M_i − Y_i/ρ on the missing cells
    Y_i = Y_i − ρ (M_i − X),

and ρ grows by a constant factor, which the paper suggests for speed. All α_i are equal here.
"""

from dataclasses import dataclass

import numpy as np

from .silrtc import shrink_mode
from .tensors import DENSE_BYTES, Flags, Floats, Samples, observed, refuse_beyond

# The observed tensor, the iterate, three copies with their multipliers, one unfolding, its shrunk copy.
_COPIES = 10


@dataclass(frozen=True, slots=True)
class HalrtcSettings:
    """The first step, its growth, and when to stop.

    That is when X moves, and its copies differ from it, by less than `tolerance` times its norm.
    """

    step: float = 1e-2
    growth: float = 1.1
    iterations: int = 300
    tolerance: float = 1e-5


#: Steps that suit values in [0, 1].
TUNED = HalrtcSettings()


def halrtc(samples: Samples, settings: HalrtcSettings = TUNED) -> Floats:
    """Complete the tensor so that the singular values of all its unfoldings have a small sum."""
    refuse_beyond(DENSE_BYTES, samples.shape, copies=_COPIES, method="HaLRTC")
    known, is_known = observed(samples)
    current = np.where(is_known, known, np.mean(known[is_known]))
    norm, step = float(np.linalg.norm(known)), settings.step
    multipliers = [np.zeros_like(known) for _ in range(known.ndim)]
    for _ in range(settings.iterations):
        following, apart = _iterate(current, multipliers, known, is_known, step)
        moved = float(np.linalg.norm(following - current))
        current, step = following, step * settings.growth
        if max(moved, apart) < settings.tolerance * norm:
            break
    return current


def _iterate(
    current: Floats, multipliers: list[Floats], known: Floats, is_known: Flags, step: float
) -> tuple[Floats, float]:
    """The next X, and how far the furthest copy is from it; the multipliers are updated in place."""
    modes = range(current.ndim)
    shrinkage = 1.0 / (current.ndim * step)
    copies = [shrink_mode(current + multipliers[i] / step, i, shrinkage) for i in modes]
    mean = sum(copies[i] - multipliers[i] / step for i in modes) / current.ndim
    following = np.where(is_known, known, mean)
    for i in modes:
        multipliers[i] -= step * (copies[i] - following)
    return following, max(float(np.linalg.norm(copy - following)) for copy in copies)
