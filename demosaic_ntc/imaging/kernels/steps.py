"""The steps that every pass over groups shares: the mean, the completion, and adding up what came out.

Sums are kept in whole numbers, so that they do not depend on the order of their terms: results are the
same bit for bit whatever the bands and the number of threads.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.compiled import fast_kernel, kernel
from demosaic_ntc.imaging.kernels.group import Tensor, complete_group

Sums = NDArray[np.int64]

VALUE_UNIT = 2.0**24  # of the sums of values; weights are whole multiples of WEIGHT_UNIT
WEIGHT_UNIT = 16.0
_ZERO = np.float32(0.0)


class Group(NamedTuple):
    """The tensors of one group, (channel, patch, pixel)."""

    data: Tensor  # the measured value, else the estimate
    weight: Tensor  # how far each entry of the data is to be trusted
    fit: Tensor
    rest: Tensor  # what the fit leaves, shifted to be nonnegative
    start: Tensor
    residual: Tensor


@fast_kernel
def empty_group(channels: int, patches: int, pixels: int) -> Group:
    """Return the tensors of a group, to be filled."""
    shape = (channels, patches, pixels)
    return Group(
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
    )


@fast_kernel
def add_mean(group: Group) -> None:
    """Add to the fit, per channel and pixel, the weighted mean over the patches of what it leaves."""
    channels, patches, pixels = group.data.shape
    total, mass = np.empty(pixels, np.float32), np.empty(pixels, np.float32)
    for channel in range(channels):
        total[:], mass[:] = _ZERO, _ZERO
        for k in range(patches):
            weight, data, fit = group.weight[channel, k], group.data[channel, k], group.fit[channel, k]
            for q in range(pixels):
                total[q] += weight[q] * (data[q] - fit[q])
                mass[q] += weight[q]
        for k in range(patches):
            fit = group.fit[channel, k]
            for q in range(pixels):
                fit[q] += total[q] / mass[q]


@fast_kernel
def _shift_rest(group: Group) -> float:
    """Write what the fit leaves, shifted to be nonnegative; weights then sum to 1. Returns the largest."""
    largest, mass = _ZERO, _ZERO
    for channel in range(group.data.shape[0]):
        data, fit = group.data[channel].ravel(), group.fit[channel].ravel()
        rest, weight = group.rest[channel].ravel(), group.weight[channel].ravel()
        start = group.start[channel].ravel()
        low, high = _ZERO, _ZERO
        for entry in range(data.shape[0]):
            left = data[entry] - fit[entry]
            rest[entry] = left
            low, high = min(low, left), max(high, left)
            mass += weight[entry]
        largest = max(largest, high - low)
        for entry in range(data.shape[0]):
            rest[entry] -= low
            start[entry] = -low
    weights = group.weight.ravel()
    for entry in range(weights.shape[0]):
        weights[entry] /= mass
    return float(largest)


@fast_kernel
def complete_rest(group: Group, reach: float, tolerance: float, vertices: int) -> float:
    """Complete what the fit leaves and add it to the fit; return the certified gap.

    The radius is ``reach`` times the largest entry. The shifts, where the completion starts, stand for the
    mean: an optimum over the face of the vertices that hold all patches.
    """
    largest = _shift_rest(group)
    _, gap = complete_group(
        group.rest, group.weight, group.start, reach * largest, tolerance, vertices, group.residual
    )
    fit, data, residual = group.fit.ravel(), group.data.ravel(), group.residual.ravel()
    for entry in range(fit.shape[0]):
        fit[entry] = data[entry] + residual[entry]
    return gap


@fast_kernel
def weighted_misfit(group: Group, weight: Tensor, k: int) -> tuple[float, float]:
    """Return the weighted squared error of a patch of the fit, and the sum of the weights."""
    error, mass = _ZERO, _ZERO
    for channel in range(group.data.shape[0]):
        share, data, fit = weight[channel, k], group.data[channel, k], group.fit[channel, k]
        for q in range(share.shape[0]):
            miss = data[q] - fit[q]
            error += share[q] * miss * miss
            mass += share[q]
    return float(error), float(mass)


@fast_kernel
def add_patch(
    fit: Tensor, k: int, error: float, top: int, left: int, size: int, values: Sums, weights: Sums
) -> None:
    """Add a patch of the fit to the sums at a place, with the inverse of its error as its weight."""
    share = np.int64(WEIGHT_UNIT / error)
    for i in range(size):
        for j in range(size):
            weights[top + i, left + j] += share
            for channel in range(fit.shape[0]):
                value = np.int64(fit[channel, k, i * size + j] * VALUE_UNIT)
                values[channel, top + i, left + j] += share * value


@kernel
def write_means(values: Sums, weights: Sums, planes: Tensor) -> None:
    """Write the weighted means of what was added up; pixels to which nothing was added stay as they are."""
    for i in range(weights.shape[0]):
        for j in range(weights.shape[1]):
            if weights[i, j] > 0:
                for channel in range(values.shape[0]):
                    planes[channel, i, j] = values[channel, i, j] / weights[i, j] / VALUE_UNIT
