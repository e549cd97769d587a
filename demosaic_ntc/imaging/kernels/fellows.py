"""Prediction of patches from their fellows: a ridge regression on what each of them shows.

With z the patches of a crowd less their mean and W the trust in the entries of patch k, its coefficients
minimise ‖z_k − Σ_{j≠k} a_j z_j‖²_W + ρ ‖a‖²: a = (Z W Zᵀ + ρ I)⁻¹ Z W z_k. Single precision serves, as
ρ keeps the systems well conditioned.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.compiled import fast_kernel
from demosaic_ntc.imaging.kernels.steps import Group

Floats = NDArray[np.float32]

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


class Fellows(NamedTuple):
    """Room for the regressions of a crowd; i and j are its patches, entries run over channels and pixels."""

    centred: Floats  # (i, entry)
    scaled: Floats  # (entry): one patch times the trust in another
    system: Floats  # (i, j)
    shares: Floats  # (i)
    said: Floats  # (entry)


@fast_kernel
def empty_fellows(patches: int, entries: int) -> Fellows:
    """Return room for the regressions of crowds, to be filled."""
    return Fellows(
        np.empty((patches, entries), np.float32),
        np.empty(entries, np.float32),
        np.empty((patches, patches), np.float32),
        np.empty(patches, np.float32),
        np.empty(entries, np.float32),
    )


@fast_kernel
def _centre(crowd: Group, centred: Floats) -> None:
    """Write all patches of a crowd less their mean."""
    channels, patches, pixels = crowd.data.shape
    for k in range(patches):
        z = centred[k]
        for channel in range(channels):
            data, mean = crowd.data[channel, k], crowd.fit[channel, k]
            for q in range(pixels):
                z[channel * pixels + q] = data[q] - mean[q]


@fast_kernel
def _set_up(weight: Floats, k: int, ridge: np.float32, work: Fellows) -> None:
    """Write Z W Zᵀ + ρ I for the trust in patch k, its own row and column moved to the right side."""
    channels, _, pixels = weight.shape
    system, shares, scaled = work.system, work.shares, work.scaled
    count, entries = work.centred.shape
    for i in range(count):
        row = work.centred[i]
        for channel in range(channels):
            trust, first = weight[channel, k], channel * pixels
            for q in range(pixels):
                scaled[first + q] = trust[q] * row[first + q]
        for j in range(i + 1):
            total, other = _ZERO, work.centred[j]
            for entry in range(entries):
                total += scaled[entry] * other[entry]
            system[i, j] = system[j, i] = total
    for j in range(count):
        shares[j] = system[k, j]
        system[k, j] = system[j, k] = _ZERO
        system[j, j] += ridge
    shares[k] = _ZERO


@fast_kernel
def _solve(system: Floats, right: Floats) -> None:
    """Solve a positive definite system in place by elimination, which needs no pivots there."""
    count = right.shape[0]
    for step in range(count):
        row, inverse = system[step], _ONE / system[step, step]
        for i in range(step + 1, count):
            other, factor = system[i], row[i] * inverse
            for j in range(count):
                other[j] -= factor * row[j]
            right[i] -= factor * right[step]
    for i in range(count - 1, -1, -1):
        row, rest = system[i], right[i]
        for j in range(i + 1, count):
            rest -= row[j] * right[j]
        right[i] = rest / row[i]


@fast_kernel
def _combine(work: Fellows, fit: Floats, k: int) -> None:
    """Add the combination of its fellows to the fit of patch k."""
    channels, _, pixels = fit.shape
    said = work.said
    said[:] = _ZERO
    for j in range(work.shares.shape[0]):
        share, z = work.shares[j], work.centred[j]
        for entry in range(said.shape[0]):
            said[entry] += share * z[entry]
    for channel in range(channels):
        row = fit[channel, k]
        for q in range(pixels):
            row[q] += said[channel * pixels + q]


@fast_kernel
def add_fellows(crowd: Group, group: Group, shown: NDArray[np.bool_], ridge: float, work: Fellows) -> None:
    """Add to the mean of each patch of a group that is not shown what its fellows in the crowd say of it."""
    _centre(crowd, work.centred)
    for k in range(shown.shape[0]):
        if not shown[k]:
            _set_up(group.weight, k, np.float32(ridge), work)
            _solve(work.system, work.shares)
            _combine(work, group.fit, k)
