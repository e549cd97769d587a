"""Low-rank tensor completion by shrinking the singular values of unfoldings: SiLRTC and HaLRTC.

J. Liu, P. Musialski, P. Wonka, J. Ye, *Tensor Completion for Estimating Missing Values in Visual Data*,
IEEE Transactions on Pattern Analysis and Machine Intelligence 35 (2013), 208-220,
doi:10.1109/TPAMI.2012.39, algorithms 1 and 4. All weights α_i and γ_i are equal here.

SiLRTC is block coordinate descent on Σ_i α_i ‖M_i‖_* + γ_i/2 ‖X_(i) − M_i‖² with X fixed on the observed
cells: M_i is the unfolding of X along mode i with its singular values shrunk by α_i/γ_i, and the missing
cells of X are the mean of the folded M_i.

HaLRTC solves min Σ_i α_i ‖X_(i)‖_* with X fixed on the observed cells, by the alternating direction method of
multipliers. With copies M_i of X, multipliers Y_i and a step ρ, an iteration is

    M_i = the tensor X + Y_i/ρ with the singular values of its unfolding i shrunk by α_i/ρ
    X   = the mean of M_i − Y_i/ρ on the missing cells
    Y_i = Y_i − ρ (M_i − X),

and ρ grows by a constant factor, which the paper suggests for speed.
"""

from dataclasses import dataclass

import numpy as np

from .tensors import DENSE_BYTES, Flags, Floats, TensorSamples, average_cells, fill_with_mean, refuse_beyond

# SiLRTC: the observed tensor, the iterate, the sum of the folded unfoldings, one unfolding, its shrunk copy,
# flags; HaLRTC: the first two, three copies with their multipliers, one unfolding, its shrunk copy.
_COPIES = {"SiLRTC": 6, "HaLRTC": 10}


@dataclass(frozen=True, slots=True)
class SilrtcSettings:
    """The shrinkage is 1 / (modes · gamma); stop when X moves by less than `tolerance` times its norm."""

    gamma: float = 0.1
    iterations: int = 100
    tolerance: float = 1e-5


#: The defaults of the package that arXiv:2111.04580 used. With three modes they shrink [0, 1] data by 3.3.
PUBLISHED = SilrtcSettings()

#: A shrinkage that suits values in [0, 1]: about .03, the best of 1 to .01 on tensors of 10³ to 10⁵ entries.
TUNED = SilrtcSettings(gamma=10.0, iterations=300)

#: A shrinkage that suits whole pictures, whose unfoldings have far larger singular values: the best of three
#: on two pictures with half of their pixels missing.
PICTURES = SilrtcSettings(gamma=1.0, iterations=200, tolerance=1e-4)


@dataclass(frozen=True, slots=True)
class HalrtcSettings:
    """The first step, its growth, and when to stop; those that suit values in [0, 1].

    That is when X moves, and its copies differ from it, by less than `tolerance` times its norm.
    """

    step: float = 1e-2
    growth: float = 1.1
    iterations: int = 300
    tolerance: float = 1e-5


def silrtc(samples: TensorSamples, settings: SilrtcSettings = PUBLISHED) -> Floats:
    """Complete the tensor by shrinking the singular values of its unfoldings."""
    refuse_beyond(DENSE_BYTES, samples.shape, copies=_COPIES["SiLRTC"], method="SiLRTC")
    known, is_known = average_cells(samples)
    norm = float(np.linalg.norm(known))
    shrinkage = 1.0 / (known.ndim * settings.gamma)
    current = fill_with_mean(known, is_known)
    for _ in range(settings.iterations):
        shrunk = sum(shrink_mode(current, mode, shrinkage) for mode in range(known.ndim)) / known.ndim
        following = np.where(is_known, known, shrunk)
        moved = float(np.linalg.norm(following - current))
        current = following
        if moved < settings.tolerance * norm:
            break
    return current


def halrtc(samples: TensorSamples, settings: HalrtcSettings | None = None) -> Floats:
    """Complete the tensor so that the singular values of all its unfoldings have a small sum."""
    settings = settings or HalrtcSettings()
    refuse_beyond(DENSE_BYTES, samples.shape, copies=_COPIES["HaLRTC"], method="HaLRTC")
    known, is_known = average_cells(samples)
    current, step = fill_with_mean(known, is_known), settings.step
    norm = float(np.linalg.norm(known))
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


def shrink_mode(tensor: Floats, mode: int, shrinkage: float) -> Floats:
    """The tensor with the singular values of one unfolding shrunk."""
    moved = np.moveaxis(tensor, mode, 0)
    shrunk = shrink_singular_values(moved.reshape(len(moved), -1), shrinkage)
    return np.moveaxis(shrunk.reshape(moved.shape), 0, mode)


def shrink_singular_values(matrix: Floats, shrinkage: float) -> Floats:
    """U max(S − shrinkage, 0) Vᵀ for the matrix U S Vᵀ.

    Taken from the eigenvectors of the smaller Gram matrix: unfoldings are far wider than they are high.
    """
    if matrix.shape[0] > matrix.shape[1]:
        return shrink_singular_values(matrix.T, shrinkage).T
    squares, vectors = np.linalg.eigh(matrix @ matrix.T)
    singular = np.sqrt(np.maximum(squares, 0.0))
    kept = singular > shrinkage
    scale = (singular[kept] - shrinkage) / singular[kept]
    result: Floats = (vectors[:, kept] * scale) @ (vectors[:, kept].T @ matrix)
    return result
