"""One pass of inpainting over groups of similar patches: gather, mean, fellows, completion, adding up.

A crowd of patches, the most similar first, gives the mean and serves as fellows to predict patches from.
The first few of them are the group that is restored: predicted, completed as one tensor, and added up.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.compiled import fast_kernel
from demosaic_ntc.imaging.kernels.matching import Offsets, Planes
from demosaic_ntc.imaging.kernels.steps import (
    Group,
    Sums,
    add_mean,
    add_patch,
    complete_rest,
    empty_group,
    weighted_misfit,
)

Floats = NDArray[np.float64]

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


class HolePass(NamedTuple):
    """What a pass does with each group."""

    restored: int  # so many patches of a crowd, the most similar, are restored
    ridge: float  # ρ of the regression on fellow patches; 0: there is none
    radius: float  # λ over the largest entry of the shifted tensor
    tolerance: float  # on the gap of a completion, as a mean squared error of full scale 1
    vertices: int  # at most so many are tried; with none nothing is completed
    floor: float  # added to a patch's mean squared misfit before its inverse becomes its weight


class Workspace(NamedTuple):
    """What predicting patches from their fellows needs room for; rows are patches."""

    centred: NDArray[np.float32]
    plain: NDArray[np.float32]
    scaled: NDArray[np.float32]
    gram: Floats
    less: Floats
    right: Floats


@fast_kernel
def _gather(
    planes: Planes, trust: Planes, row: int, column: int, offsets: Offsets, size: int, group: Group
) -> None:
    """Copy a group's patches and how far they are to be trusted."""
    for k in range(offsets.shape[0]):
        top, left = row + offsets[k, 0], column + offsets[k, 1]
        for channel in range(planes.shape[0]):
            for i in range(size):
                for j in range(size):
                    group.data[channel, k, i * size + j] = planes[channel, top + i, left + j]
                    group.weight[channel, k, i * size + j] = trust[channel, top + i, left + j]


@fast_kernel
def _take_first(crowd: Group, group: Group, shown: NDArray[np.bool_]) -> None:
    """Copy the first patches of a crowd; note which are known in all entries, as they need no help."""
    for k in range(shown.shape[0]):
        shown[k] = True
        for channel in range(crowd.data.shape[0]):
            weight = crowd.weight[channel, k]
            group.data[channel, k] = crowd.data[channel, k]
            group.weight[channel, k] = weight
            group.fit[channel, k] = crowd.fit[channel, k]
            for q in range(weight.shape[0]):
                shown[k] &= weight[q] == _ONE


@fast_kernel
def _solve(matrix: Floats, right: Floats) -> None:
    """Solve a positive definite system in place by its Cholesky factor; the lower triangle is used."""
    count = right.shape[0]
    for i in range(count):
        for j in range(i + 1):
            entry = matrix[i, j]
            for step in range(j):
                entry -= matrix[i, step] * matrix[j, step]
            matrix[i, j] = np.sqrt(entry) if i == j else entry / matrix[j, j]
        for step in range(i):
            right[i] -= matrix[i, step] * right[step]
        right[i] /= matrix[i, i]
    for i in range(count - 1, -1, -1):
        for step in range(i + 1, count):
            right[i] -= matrix[step, i] * right[step]
        right[i] /= matrix[i, i]


@fast_kernel
def _products(rows: NDArray[np.float32], others: NDArray[np.float32], count: int, out: Floats) -> None:
    """Write the inner products of rows over their first entries, in the lower triangle."""
    for i in range(rows.shape[0]):
        row = rows[i, :count]
        for j in range(i + 1):
            other, total = others[j, :count], _ZERO
            for entry in range(count):
                total += row[entry] * other[entry]
            out[i, j] = total


@fast_kernel
def _collect_doubtful(
    group: Group,
    k: int,
    centred: NDArray[np.float32],
    plain: NDArray[np.float32],
    scaled: NDArray[np.float32],
) -> int:
    """Copy the entries that patch k does not show, of all patches, also times 1 − w; return how many."""
    channels, _, pixels = group.data.shape
    count = 0
    for channel in range(channels):
        trust = group.weight[channel, k]
        for q in range(pixels):
            doubt = _ONE - trust[q]
            if doubt > _ZERO:
                for i in range(centred.shape[0]):
                    value = centred[i, channel * pixels + q]
                    plain[i, count], scaled[i, count] = value, doubt * value
                count += 1
    return count


@fast_kernel
def _leave_out(gram: Floats, less: Floats, k: int, ridge: float, right: Floats) -> None:
    """Write gram − less + ρ I into ``less`` without row and column k, which goes to the right side."""
    patches = right.shape[0]
    for i in range(patches):
        for j in range(i + 1):
            entry = gram[i, j] - less[i, j]
            if i == k or j == k:
                right[i + j - k] = entry
                entry = 0.0
            less[i, j] = entry
        less[i, i] += ridge
    right[k], less[k, k] = 0.0, 1.0


@fast_kernel
def _centre(crowd: Group, centred: NDArray[np.float32]) -> None:
    """Write all patches of a crowd less their mean."""
    channels, patches, pixels = crowd.data.shape
    for k in range(patches):
        z = centred[k]
        for channel in range(channels):
            data, mean = crowd.data[channel, k], crowd.fit[channel, k]
            for q in range(pixels):
                z[channel * pixels + q] = data[q] - mean[q]


@fast_kernel
def add_fellows(group: Group, shown: NDArray[np.bool_], ridge: float, work: Workspace) -> None:
    """Add to each patch's mean the combination of its fellows that comes closest to what it shows.

    With z the patches less their mean and W the trust in the entries of patch k, its coefficients minimise
    ‖z_k − Σ_{j≠k} a_j z_j‖²_W + ρ ‖a‖²: a = (Z W Zᵀ + ρ I)⁻¹ Z W z_k. As most entries are trusted fully,
    Z W Zᵀ is had from Z Zᵀ, which all patches share, less the products over the doubtful entries.
    """
    channels, patches, pixels = group.data.shape
    _products(work.centred, work.centred, channels * pixels, work.gram)
    for k in range(patches):
        if shown[k]:
            continue
        doubtful = _collect_doubtful(group, k, work.centred, work.plain, work.scaled)
        _products(work.plain, work.scaled, doubtful, work.less)
        _leave_out(work.gram, work.less, k, ridge, work.right)
        _solve(work.less, work.right)
        for j in range(work.right.shape[0]):
            share, z = np.float32(work.right[j]), work.centred[j]
            for channel in range(channels):
                fit = group.fit[channel, k]
                for q in range(pixels):
                    fit[q] += share * z[channel * pixels + q]


@fast_kernel
def fill_groups(
    planes: Planes,
    trust: Planes,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    found: Offsets,
    size: int,
    settings: HolePass,
    top: int,
    left: int,
    values: Sums,
    weights: Sums,
    gaps: NDArray[np.float32],
) -> None:
    """Restore the group of every reference patch and add its patches up.

    ``values`` and ``weights`` start at (top, left) of the picture; ``gaps`` receives the certified gaps.
    """
    channels, patches, pixels = planes.shape[0], found.shape[1], size * size
    restored = min(settings.restored, patches)
    crowd, group = empty_group(channels, patches, pixels), empty_group(channels, restored, pixels)
    shown = np.empty(restored, np.bool_)
    work = Workspace(
        np.empty((patches, channels * pixels), np.float32),
        np.empty((patches, channels * pixels), np.float32),
        np.empty((patches, channels * pixels), np.float32),
        np.empty((patches, patches)),
        np.empty((patches, patches)),
        np.empty(patches),
    )
    for reference in range(rows.shape[0]):
        row, column, offsets = rows[reference], columns[reference], found[reference]
        _gather(planes, trust, row, column, offsets, size, crowd)
        crowd.fit[:] = _ZERO
        add_mean(crowd)
        _take_first(crowd, group, shown)
        if settings.ridge > 0:
            _centre(crowd, work.centred)
            add_fellows(group, shown, settings.ridge, work)
        if settings.vertices > 0:
            gaps[reference] = complete_rest(group, settings.radius, settings.tolerance, settings.vertices)
        for k in range(restored):
            if shown[k]:
                continue
            error, mass = weighted_misfit(group, group.weight, k)
            down, across = row - top + offsets[k, 0], column - left + offsets[k, 1]
            add_patch(group.fit, k, error / mass + settings.floor, down, across, size, values, weights)
