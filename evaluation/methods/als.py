"""Alternating least squares with a ridge, from the observed entries alone.

T. G. Kolda, B. W. Bader, *Tensor Decompositions and Applications*, SIAM Review 51 (2009), 455-500,
doi:10.1137/07070111X, section 3.4; the ridge after C. Navasca, L. De Lathauwer, S. Kindermann,
*Swamp reducing technique for tensor decomposition*, EUSIPCO 2008.

The model is Σ_s Π_i F_i[x_i, s] with `rank` terms. With all modes but i fixed, sample j has the design
row h_j = Π_{l≠i} F_l[x_jl, ·], and the penalised least squares problem falls apart into one system
per row k of F_i:

    (Σ_{j: x_ji=k} h_j h_jᵀ + ridge · I) F_i[k, ·] = Σ_{j: x_ji=k} y_j h_j.

Memory is a few arrays of samples × rank, whatever the size of the tensor.
"""

from dataclasses import dataclass

import numpy as np

from .tensors import Floats, Indices, RankOneSum, TensorSamples, column_products


@dataclass(frozen=True, slots=True)
class AlsSettings:
    """Rank, ridge and stopping rule; a sweep must lower the penalised objective per sample by `tolerance`."""

    rank: int = 10
    ridge: float = 0.1
    tolerance: float = 1e-4
    sweeps: int = 10_000


#: Bugg, Chen & Aswani, arXiv:2111.04580, section 5, and the code of its authors.
PUBLISHED = AlsSettings()

#: A smaller ridge, and sweeps until they no longer help: 1e-4 is as large as the objectives to be reached.
#: Better where samples abound (10³ to 20³ and higher orders), worse where they are scarce (40³ and up).
TUNED = AlsSettings(ridge=0.03, tolerance=1e-6)


@dataclass(frozen=True, slots=True)
class _Mode:
    """The samples grouped by their index in one mode: `order` sorts them, `bounds` cuts the groups."""

    order: Indices
    bounds: Indices


def als(samples: TensorSamples, seed: int, settings: AlsSettings = PUBLISHED) -> RankOneSum:
    """Fit a sum of `rank` rank-one tensors to the samples."""
    modes = [_group_samples(samples.index[:, i], size) for i, size in enumerate(samples.shape)]
    factors, last = _start(samples, settings.rank, np.random.default_rng(seed)), np.inf
    for _ in range(settings.sweeps):
        for i, mode in enumerate(modes):
            design = column_products([f[samples.index[:, j]] for j, f in enumerate(factors) if j != i])
            factors[i] = _solve_mode(mode, design, samples.value, settings.ridge)
        # `design` and the factor of the last mode give the fit; only that mode's ridge counts, as published.
        fit = np.einsum("jk,jk->j", design, factors[-1][samples.index[:, -1]])
        residual, penalty = fit - samples.value, settings.ridge * np.sum(np.square(factors[-1]))
        objective = float(residual @ residual + penalty) / len(residual)
        if objective > last - settings.tolerance:
            break
        last = objective
    return RankOneSum(np.ones(settings.rank), tuple(factor.T for factor in factors))


def _start(samples: TensorSamples, rank: int, generator: np.random.Generator) -> list[Floats]:
    """Random positive factors whose products are of the size of the samples."""
    highest = float(samples.value.max()) ** (1 / len(samples.shape))
    return [generator.uniform(0.0, highest, (size, rank)) for size in samples.shape]


def _group_samples(index: Indices, size: int) -> _Mode:
    """Sort the samples by their index in one mode."""
    order = np.argsort(index, kind="stable")
    return _Mode(order, np.searchsorted(index[order], np.arange(size + 1)))


def _solve_mode(mode: _Mode, design: Floats, value: Floats, ridge: float) -> Floats:
    """The rows of one factor matrix, all systems solved at once."""
    design, value = design[mode.order], value[mode.order]
    rank, rows = design.shape[1], len(mode.bounds) - 1
    matrices, sides = np.empty((rows, rank, rank)), np.empty((rows, rank, 1))
    for row, (start, stop) in enumerate(zip(mode.bounds, mode.bounds[1:], strict=False)):
        part = design[start:stop]
        matrices[row] = part.T @ part + ridge * np.eye(rank)
        sides[row, :, 0] = value[start:stop] @ part
    return np.asarray(np.linalg.solve(matrices, sides)[:, :, 0], dtype=np.float64)
