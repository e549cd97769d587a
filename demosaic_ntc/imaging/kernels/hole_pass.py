"""One pass of inpainting over groups of similar patches: gather, mean, fellows, completion, adding up.

A crowd of patches, the most similar first, gives the mean and serves as fellows to predict patches from.
The first few of them are the group that is restored: predicted, completed as one tensor, and added up.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.compiled import fast_kernel
from demosaic_ntc.imaging.kernels.fellows import add_fellows, empty_fellows
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

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


class HolePass(NamedTuple):
    """What a pass does with each group."""

    restored: int  # so many patches of a crowd, the most similar, are restored
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
def _take_first(crowd: Group, group: Group, shown: NDArray[np.bool_]) -> None:
    """Copy the first patches of a crowd; note which are known in all entries, as they need no help."""
    for k in range(shown.shape[0]):
        least = _ONE
        for channel in range(crowd.data.shape[0]):
            trust = crowd.weight[channel, k]
            data, weight, fit = group.data[channel, k], group.weight[channel, k], group.fit[channel, k]
            values, mean = crowd.data[channel, k], crowd.fit[channel, k]
            for q in range(trust.shape[0]):
                data[q], weight[q], fit[q] = values[q], trust[q], mean[q]
                least = min(least, trust[q])
        shown[k] = least == _ONE


@fast_kernel
def fill_groups(
    planes: Planes,
    trust: Planes,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    found: Offsets,
    size: int,
    settings: HolePass,
    values: Sums,
    weights: Sums,
    gaps: NDArray[np.float32],
) -> None:
    """Restore the group of every reference patch, add its patches up, and write its certified gap."""
    channels, patches, pixels = planes.shape[0], found.shape[1], size * size
    restored = min(settings.restored, patches)
    crowd, group = empty_group(channels, patches, pixels), empty_group(channels, restored, pixels)
    shown = np.empty(restored, np.bool_)
    fellows = empty_fellows(patches, channels * pixels)
    for reference in range(rows.shape[0]):
        row, column, offsets = rows[reference], columns[reference], found[reference]
        _gather(planes, trust, row, column, offsets, size, crowd)
        crowd.fit[:] = _ZERO
        add_mean(crowd)
        _take_first(crowd, group, shown)
        if settings.ridge > 0:
            add_fellows(crowd, group, shown, settings.ridge, fellows)
        if settings.vertices > 0:
            gaps[reference] = complete_rest(group, settings.radius, settings.tolerance, settings.vertices)
        for k in range(restored):
            if shown[k]:
                continue
            error, mass = weighted_misfit(group, group.weight, k)
            down, across = row + offsets[k, 0], column + offsets[k, 1]
            add_patch(group.fit, k, error / mass + settings.floor, down, across, size, values, weights)
