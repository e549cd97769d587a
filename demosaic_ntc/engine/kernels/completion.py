"""The completion of what a prediction leaves of a group, and the pass over groups where it leaves too much.

Apart from the other passes because few pictures need it, and what is not needed is not compiled.
"""

from typing import NamedTuple

import numpy as np

from demosaic_ntc.arrays import Float32, Offsets, Places, Sums
from demosaic_ntc.engine.kernels.gather import PatchGroup, mean_misfit
from demosaic_ntc.engine.kernels.group import Tensor, complete_group
from demosaic_ntc.engine.kernels.group_pass import (
    GROUP_ARGUMENTS,
    KernelImage,
    Pass,
    add_up,
    make_room,
    predict,
)
from demosaic_ntc.jit.compiled import fast_kernel, precompile

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


class Residual(NamedTuple):
    """What the fit leaves of the patches that are completed, as tensors (channel, patch, pixel)."""

    data: Tensor  # shifted to be nonnegative
    weight: Tensor
    start: Tensor
    residual: Tensor


@fast_kernel
def empty_rest(channels: int, patches: int, pixels: int) -> Residual:
    """Return room for the tensors of a completion, to be filled."""
    shape = (channels, patches, pixels)
    return Residual(
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
    )


@fast_kernel
def _take_rest(group: PatchGroup, unseen: np.float32, rest: Residual) -> np.float32:
    """Write what the fit leaves at known entries, zero elsewhere, and the weights; return their sum.

    Entries that are not known have the weight ``unseen``.
    """
    channels, patches, pixels = rest.data.shape
    total = _ZERO
    for channel in range(channels):
        for k in range(patches):
            for q in range(pixels):
                entry, shown = channel * pixels + q, (group.known[k, q] >> channel) & 1
                left = group.seen[k, entry] - group.fit[k, entry] if shown else _ZERO
                weight = _ONE if shown else unseen
                rest.data[channel, k, q], rest.weight[channel, k, q] = left, weight
                total += weight
    return total


@fast_kernel
def _shift_rest(rest: Residual, total: np.float32) -> np.float32:
    """Shift each channel to be nonnegative and let the weights sum to 1; return the largest entry."""
    largest = _ZERO
    for channel in range(rest.data.shape[0]):
        data, weight = rest.data[channel].ravel(), rest.weight[channel].ravel()
        start = rest.start[channel].ravel()
        low, high = _ZERO, _ZERO
        for entry in range(data.shape[0]):
            low, high = min(low, data[entry]), max(high, data[entry])
        largest = max(largest, high - low)
        for entry in range(data.shape[0]):
            data[entry] -= low
            start[entry] = -low
            weight[entry] /= total
    return largest


@fast_kernel
def complete_rest(
    group: PatchGroup, rest: Residual, unseen: float, radius: float, tolerance: float, vertices: int
) -> float:
    """Complete what the fit leaves of the first patches and add it to the fit; return the certified gap.

    The objective is the mean squared misfit at known entries. The rest, shifted to be nonnegative, is
    completed over the polytope whose radius is ``radius`` times its largest entry, from the shifts on: there
    the fit stands.
    """
    channels, patches, pixels = rest.data.shape
    largest = _shift_rest(rest, _take_rest(group, np.float32(unseen), rest))
    _, gap = complete_group(
        rest.data, rest.weight, rest.start, radius * float(largest), tolerance, vertices, rest.residual
    )
    for channel in range(channels):
        for k in range(patches):
            for q in range(pixels):
                added = rest.data[channel, k, q] - rest.start[channel, k, q] + rest.residual[channel, k, q]
                group.fit[k, channel * pixels + q] += added
    return gap


@precompile(*GROUP_ARGUMENTS, is_rare=True)
@fast_kernel
def complete_groups(
    picture: KernelImage,
    references: Places,
    found: Offsets,
    size: int,
    settings: Pass,
    fading: Float32,
    prior: Float32,
    top: int,
    sums: Sums,
    gaps: Float32,
    shares: Float32,
) -> None:
    """Predict and complete the group of every reference patch, add it up, and write its certified gap.

    What the noise explains is neither to be met nor counted in a gap. ``sums`` start at row ``top`` of the
    picture; ``gaps`` and ``shares``, of the correction, are (references).
    """
    room = make_room(picture, found.shape[1], size, settings, prior)
    completed = min(settings.completed, room.group.fit.shape[0])
    channels = picture.planes.shape[0]
    rest = empty_rest(channels, completed, size * size)
    for reference in range(references.shape[0]):
        row, column, offsets = references[reference, 0], references[reference, 1], found[reference]
        predict(picture, row, column, offsets, size, settings, fading, room, shares[reference])
        _, noise = mean_misfit(room.group, channels, completed, settings.unseen, settings.noise)
        gap = complete_rest(
            room.group, rest, settings.unseen, settings.radius, settings.tolerance + noise, settings.vertices
        )
        gaps[reference] = max(gap - noise, 0.0)
        add_up(picture, row, column, offsets, size, settings, top, room, sums)
