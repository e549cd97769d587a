"""One pass of inpainting over groups of similar patches: gather, mean, fellows, completion, adding up."""

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

_ZERO = np.float32(0.0)


class HolePass(NamedTuple):
    """What a pass does with each group."""

    ridge: float  # ρ of the regression on fellow patches; 0: there is none
    radius: float  # λ over the largest entry of the shifted tensor
    tolerance: float  # on the gap of a completion, as a mean squared error of full scale 1
    vertices: int  # at most so many are tried; with none nothing is completed
    floor: float  # added to a patch's mean squared misfit before its inverse becomes its weight


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
def _weighted_products(
    centred: NDArray[np.float32],
    weight: NDArray[np.float32],
    k: int,
    ridge: float,
    scaled: NDArray[np.float32],
    gram: Floats,
    right: Floats,
) -> None:
    """Write (Z W Zᵀ + ρ I) and Z W z_k, W the weights of patch k; k itself is left out (a unit row)."""
    patches, entries = centred.shape
    for i in range(patches):
        row, values = scaled[i], centred[i]
        for entry in range(entries):
            row[entry] = weight[entry] * values[entry]
    for i in range(patches):
        row = scaled[i]
        for j in range(i + 1):
            values, total = centred[j], _ZERO
            for entry in range(entries):
                total += row[entry] * values[entry]
            gram[i, j] = total
            if j == k or i == k:
                right[i + j - k] = total
                gram[i, j] = 0.0
        gram[i, i] += ridge
    right[k], gram[k, k] = 0.0, 1.0


@fast_kernel
def add_fellows(
    group: Group,
    ridge: float,
    centred: NDArray[np.float32],
    scaled: NDArray[np.float32],
    weight: NDArray[np.float32],
    gram: Floats,
    right: Floats,
) -> None:
    """Add to each patch's mean the combination of its fellows that comes closest to what it shows.

    With z the patches less their mean and W the trust in patch k, its coefficients minimise
    ‖z_k − Σ_{j≠k} a_j z_j‖²_W + ρ ‖a‖²: a = (Z W Zᵀ + ρ I)⁻¹ Z W z_k.
    """
    channels, patches, pixels = group.data.shape
    for k in range(patches):
        for channel in range(channels):
            z, data, mean = centred[k], group.data[channel, k], group.fit[channel, k]
            for q in range(pixels):
                z[channel * pixels + q] = data[q] - mean[q]
    for k in range(patches):
        for channel in range(channels):
            trusted = group.weight[channel, k]
            for q in range(pixels):
                weight[channel * pixels + q] = trusted[q]
        _weighted_products(centred, weight, k, ridge, scaled, gram, right)
        _solve(gram, right)
        for j in range(patches):
            share, z = np.float32(right[j]), centred[j]
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
    group = empty_group(channels, patches, pixels)
    centred = np.empty((patches, channels * pixels), np.float32)
    scaled, weight = np.empty_like(centred), np.empty(channels * pixels, np.float32)
    gram, right = np.empty((patches, patches)), np.empty(patches)
    for reference in range(rows.shape[0]):
        row, column, offsets = rows[reference], columns[reference], found[reference]
        _gather(planes, trust, row, column, offsets, size, group)
        group.fit[:] = _ZERO
        add_mean(group)
        if settings.ridge > 0:
            add_fellows(group, settings.ridge, centred, scaled, weight, gram, right)
        if settings.vertices > 0:
            gaps[reference] = complete_rest(group, settings.radius, settings.tolerance, settings.vertices)
        for k in range(patches):
            error, mass = weighted_misfit(group, group.weight, k)
            down, across = row - top + offsets[k, 0], column - left + offsets[k, 1]
            add_patch(group.fit, k, error / mass + settings.floor, down, across, size, values, weights)
