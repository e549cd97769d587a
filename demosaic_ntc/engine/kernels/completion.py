"""The pass that completes groups of similar patches with the least norm that explains their samples.

A group is the tensor (channel, patch, pixel) of its samples alone: entries that nobody measured take no part.
Each channel is brought to mean 0 and deviation 1 of the group's estimate, so that channels follow each other
and vertices of all of them say much at once; a share of the estimate's brightness, without its noise, is
taken off; and the whole is shifted to be nonnegative. What is completed goes the same way back, and what the
fit leaves of the samples of a channel in the mean is added: a least norm shrinks.
"""

from typing import NamedTuple

import numpy as np
from numba import float32, float64, int8, int64

from demosaic_ntc.arrays import Float32, Offsets, Places, Sums
from demosaic_ntc.engine.kernels.face_mean import Draws, average_face, empty_draws
from demosaic_ntc.engine.kernels.gather import PatchGroup, gather, gather_measured, note_noise, note_whole
from demosaic_ntc.engine.kernels.group_pass import IMAGE, PASS, KernelImage, Pass, add_up, make_room
from demosaic_ntc.engine.kernels.least_norm import Bounds, Tensor, empty_tensor, find_least_norm
from demosaic_ntc.engine.kernels.vertex_oracles import Search, empty_search
from demosaic_ntc.engine.kernels.vertex_set import VertexSet, empty_vertex_set
from demosaic_ntc.jit.compiled import fast_kernel, fast_step, named_tuple, precompile

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_LEAST_DEVIATION = np.float32(2 / 255)  # added to that of a channel: flat groups are not blown up
_OF_BRIGHTNESS = np.float32(0.7)  # the variance of an estimate's brightness, over that of a sample
_OF_NORM = np.float32(0.001)  # the expected squared error of an entry, over the square of its group's norm


class LeastNorm(NamedTuple):
    """How groups are completed."""

    misfit: float  # ε² over the energy of the shifted samples, unless noise explains more
    floor: float  # the least variance of noise that is reckoned with
    ratio: float  # of the upper to the lower bound of the norm at which a completion is done
    brightness: float  # the share of the estimate's brightness that is taken off
    vertices: int  # at most


# The types by which Python hands it over.
_NORM = named_tuple(
    LeastNorm, *(int64 if kind is int else float64 for kind in LeastNorm.__annotations__.values())
)


class GroupTensor(NamedTuple):
    """Room for one group as a tensor, (channels, rows, columns); many patches are the columns."""

    tensor: Tensor
    search: Search
    active: VertexSet
    draws: Draws
    complete: Float32  # (channels, rows, columns)
    level: Float32  # (channels): the mean of the estimate
    gain: Float32  # (channels): its deviation
    brightness: Float32  # (patches, pixels): what is taken off, for a channel of gain 1


@fast_kernel
def empty_group_tensor(channels: int, patches: int, pixels: int, vertices: int) -> GroupTensor:
    """Return room for the groups of a pass."""
    rows, columns = min(patches, pixels), max(patches, pixels)
    return GroupTensor(
        empty_tensor(channels, rows, columns),
        empty_search(channels, rows, columns),
        empty_vertex_set(vertices + 1),
        empty_draws(channels, rows, columns),
        np.zeros((channels, rows, columns), np.float32),
        np.zeros(channels, np.float32),
        np.zeros(channels, np.float32),
        np.zeros((patches, pixels), np.float32),
    )


@fast_step
def _measure_channels(group: PatchGroup, room: GroupTensor) -> None:
    """Write the mean and the deviation of every channel of the estimate."""
    patches, pixels = room.brightness.shape
    count = np.float32(patches * pixels)
    for channel in range(room.level.shape[0]):
        first, total, square = channel * pixels, _ZERO, _ZERO
        for k in range(patches):
            for q in range(pixels):
                total += group.data[k, first + q]
        level = total / count
        for k in range(patches):
            for q in range(pixels):
                off = group.data[k, first + q] - level
                square += off * off
        room.level[channel] = level
        room.gain[channel] = np.sqrt(square / count) + _LEAST_DEVIATION


@fast_step
def _calm_brightness(room: GroupTensor, noise: np.float32) -> None:
    """Draw the brightness of patches to their mean, as far as noise explains how they differ."""
    patches, pixels = room.brightness.shape
    for q in range(pixels):
        total, square = _ZERO, _ZERO
        for k in range(patches):
            total += room.brightness[k, q]
        mean = total / np.float32(patches)
        for k in range(patches):
            square += (room.brightness[k, q] - mean) ** 2
        spread = square / np.float32(max(patches - 1, 1))
        share = max(spread - noise, _ZERO) / spread if spread > _ZERO else _ZERO
        for k in range(patches):
            room.brightness[k, q] = mean + share * (room.brightness[k, q] - mean)


@fast_step
def _measure_brightness(group: PatchGroup, share: np.float32, room: GroupTensor) -> None:
    """Write a share of the mean of all channels, brought to mean 0 and deviation 1."""
    patches, pixels = room.brightness.shape
    channels, square, noise = room.level.shape[0], _ZERO, _ZERO
    for channel in range(channels):
        noise += _OF_BRIGHTNESS * group.noise[channel * pixels] / np.float32(channels)
    for k in range(patches):
        for q in range(pixels):
            total = _ZERO
            for channel in range(channels):
                total += group.data[k, channel * pixels + q] - room.level[channel]
            room.brightness[k, q] = total / np.float32(channels)
    _calm_brightness(room, noise)
    for k in range(patches):
        for q in range(pixels):
            square += room.brightness[k, q] * room.brightness[k, q]
    scale = share / (np.sqrt(square / np.float32(patches * pixels)) + _LEAST_DEVIATION)
    for k in range(patches):
        for q in range(pixels):
            room.brightness[k, q] *= scale


@fast_step
def _take_samples(group: PatchGroup, room: GroupTensor) -> tuple[np.float32, float]:
    """Write the samples as a tensor from zero up; return by how much they are shifted, and their noise.

    The latter is the sum of the variances of all samples.
    """
    patches, pixels = room.brightness.shape
    value, mask = room.tensor.value, room.tensor.mask
    is_turned = value.shape[1] != patches
    least, noise = np.float32(1e30), 0.0
    for channel in range(value.shape[0]):
        level, inverse = room.level[channel], _ONE / room.gain[channel]
        variance = float(group.noise[channel * pixels] * inverse * inverse)
        for i in range(value.shape[1]):
            mask[channel, i] = np.uint64(0)
            for j in range(value.shape[2]):
                k, q = (j, i) if is_turned else (i, j)
                value[channel, i, j] = _ZERO
                if (group.known[k, q] >> channel) & 1:
                    entry = (group.seen[k, channel * pixels + q] - level) * inverse - room.brightness[k, q]
                    value[channel, i, j] = entry
                    mask[channel, i] |= np.uint64(1) << np.uint64(j)
                    least = min(least, entry)
                    noise += variance
    for channel in range(value.shape[0]):
        for i in range(value.shape[1]):
            for j in range(value.shape[2]):
                if (mask[channel, i] >> np.uint64(j)) & np.uint64(1):
                    value[channel, i, j] -= least
    return least, noise


@fast_step
def _energy(tensor: Tensor) -> float:
    """Return the sum of the squares of all samples."""
    total = 0.0
    for channel in range(tensor.value.shape[0]):
        for i in range(tensor.value.shape[1]):
            for j in range(tensor.value.shape[2]):
                total += float(tensor.value[channel, i, j]) ** 2
    return total


@fast_step
def _mean_left(room: GroupTensor, channel: int) -> np.float32:
    """Return what the completion leaves of a channel's samples in the mean."""
    total, count = _ZERO, _ZERO
    for i in range(room.complete.shape[1]):
        shown = room.tensor.mask[channel, i]
        for j in range(room.complete.shape[2]):
            is_sample = np.float32((shown >> np.uint64(j)) & np.uint64(1))
            total += is_sample * (room.tensor.value[channel, i, j] - room.complete[channel, i, j])
            count += is_sample
    return total / max(count, _ONE)


@fast_step
def _write_fit(group: PatchGroup, room: GroupTensor, shift: np.float32, norm: float) -> None:
    """Write the completed patches, and the error expected of their entries."""
    patches, pixels = room.brightness.shape
    is_turned = room.complete.shape[1] != patches
    for channel in range(room.level.shape[0]):
        level, gain = room.level[channel], room.gain[channel]
        off = shift + _mean_left(room, channel)
        error = _OF_NORM * (np.float32(norm) * gain) ** 2
        for k in range(patches):
            for q in range(pixels):
                i, j = (q, k) if is_turned else (k, q)
                entry = room.complete[channel, i, j] + off + room.brightness[k, q]
                group.fit[k, channel * pixels + q] = entry * gain + level
                group.error[k, channel * pixels + q] = error


@fast_step
def complete_group(group: PatchGroup, settings: LeastNorm, room: GroupTensor) -> Bounds:
    """Complete the patches of a group from their samples; return the bounds of the least norm.

    A group without samples is not completed: its upper bound is infinite.
    """
    _measure_channels(group, room)
    _measure_brightness(group, np.float32(settings.brightness), room)
    shift, noise = _take_samples(group, room)
    misfit = max(settings.misfit * _energy(room.tensor), noise)
    bounds = find_least_norm(room.tensor, misfit, settings.ratio, room.search, room.active)
    average_face(room.tensor.mask, room.active, bounds.vertices, room.draws, room.complete)
    norm = 0.0
    for i in range(bounds.vertices):
        norm += room.active.weight[i]
    _write_fit(group, room, shift, norm)
    return bounds


@fast_step
def _count_samples(group: PatchGroup) -> int:
    """Return how many pixels of the patches show anything."""
    samples = 0
    for k in range(group.known.shape[0]):
        for q in range(group.known.shape[1]):
            samples += 1 if group.known[k, q] else 0
    return samples


@precompile(
    *(IMAGE, int64[:, ::1], int8[:, :, ::1], int64, PASS, _NORM, int64, int64[:, :, :, ::1], float32[:, ::1]),
    is_rare=True,
)
@fast_kernel
def complete_groups(
    picture: KernelImage,
    references: Places,
    found: Offsets,
    size: int,
    settings: Pass,
    norm: LeastNorm,
    top: int,
    sums: Sums,
    bounds: Float32,
) -> None:
    """Complete the group of every reference patch and add it up; write what is proven of its norm.

    ``sums`` start at row ``top`` of the picture; ``bounds`` are (references, 3): the lower and the upper
    bound of the least norm, and the number of vertices. Groups that show nothing say nothing.
    """
    channels, patches = picture.planes.shape[0], found.shape[1]
    work = make_room(picture, patches, size, settings, np.zeros((0, 0), np.float32))
    group, room = work.group, empty_group_tensor(channels, patches, size * size, norm.vertices)
    for reference in range(references.shape[0]):
        row, column, offsets = references[reference, 0], references[reference, 1], found[reference]
        gather(picture.planes, picture.known, row, column, offsets, size, group)
        note_whole(group, channels)
        if picture.measured.size > 0:
            group.whole[:] = False  # what is noisy is to be restored even where all of it is known
            gather_measured(picture.measured, row, column, offsets, size, channels, group)
        if _count_samples(group) == 0:
            continue
        note_noise(group.data[0], picture.noise, norm.floor, channels, size * size, group)
        proven = complete_group(group, norm, room)
        bounds[reference, 0], bounds[reference, 1] = proven.lower, proven.upper
        bounds[reference, 2] = proven.vertices
        add_up(picture, row, column, offsets, size, settings, top, work, sums)
