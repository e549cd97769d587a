"""One pass over groups of similar patches: gather, predict, add up. One kernel for all pictures."""

from typing import NamedTuple

import numpy as np
from numba import float32, float64, int8, int64, uint8

from demosaic_ntc.arrays import Bits, Depths, Float32, Offsets, Places, Planes, Sums
from demosaic_ntc.engine.kernels.aggregation import Whole, add_patch, add_spread
from demosaic_ntc.engine.kernels.covariance import Gaussian, add_shape, empty_gaussian
from demosaic_ntc.engine.kernels.gather import (
    PatchGroup,
    empty_group,
    gather,
    gather_measured,
    gather_trust,
    note_whole,
    predict_by_mean,
)
from demosaic_ntc.engine.kernels.gaussian import predict_by_gaussian
from demosaic_ntc.engine.kernels.weights import CLASSES, gather_weighted
from demosaic_ntc.jit.compiled import fast_kernel, fast_step, named_tuple, precompile

MEAN, GAUSSIAN, COMPLETION = 0, 1, 2  # how patches are restored
SHAPE_UNIT = 2.0**-24  # of the sums that make the prior
LEAST_SPREAD = 1e-5  # a variance of full scale 1: flatter groups say little about the shape of covariances


class KernelImage(NamedTuple):
    """A picture as far as it is known, for kernels."""

    planes: Planes  # the estimate, with what is known in its place
    known: Bits  # (height, width)
    depth: Depths  # (height, width): how many pixels deep in a hole
    measured: Planes  # what is known, where it is noisy and the estimate is not to keep it; else empty
    # (channels or 1), or twice the channels: information about the estimate, and its weight, see `weights`
    noise: Float32  # (channels, levels): the variance of what is known, at equal steps from level 0 to 1


class Pass(NamedTuple):
    """What a pass does with each group."""

    predictor: int
    restored: int  # how many patches of a group are restored, the most similar first
    strength: float  # κ: how many patches the prior of a Gaussian is worth
    floor: float  # ε²: what a Gaussian adds to its variances
    correction: float  # a: how far samples move the mean of a Gaussian, at most
    noise: float  # σ²: variance of known entries besides their own
    least: float  # added to an expected error before its inverse becomes a weight


class Workspace(NamedTuple):
    """Room for one group after the other."""

    group: PatchGroup
    model: Gaussian
    units: Whole  # (entries): the weights and the weighted values of a patch


# The types by which Python hands groups over.
IMAGE = named_tuple(
    KernelImage, float32[:, :, ::1], uint8[:, ::1], uint8[:, ::1], float32[:, :, ::1], float32[:, ::1]
)
PASS = named_tuple(Pass, *(int64 if kind is int else float64 for kind in Pass.__annotations__.values()))
GROUP_ARGUMENTS = (
    IMAGE,
    int64[:, ::1],
    int8[:, :, ::1],
    int64,
    PASS,
    float32[::1],
    float32[:, ::1],
    int64,
    int64[:, :, :, ::1],
    float32[::1],
)


@fast_kernel
def make_room(picture: KernelImage, patches: int, size: int, settings: Pass, prior: Float32) -> Workspace:
    """Return room for the groups of a pass; ``prior`` is empty where it takes none."""
    channels, pixels = picture.planes.shape[0], size * size
    noisy = picture.measured.size > 0
    restored = min(settings.restored, patches)
    weighted = picture.measured.shape[0] == 2 * channels
    all_told = settings.correction > 0.0 or settings.predictor != GAUSSIAN or weighted
    shown = patches if all_told else restored
    group = empty_group(patches, restored, shown, pixels, channels, noisy, CLASSES if weighted else 1)
    model = empty_gaussian(patches, restored, prior, shown)
    return Workspace(group, model, np.empty(group.data.shape[1], np.int64))


@fast_step
def predict(
    picture: KernelImage,
    row: int,
    column: int,
    offsets: Offsets,
    size: int,
    settings: Pass,
    fading: Float32,
    room: Workspace,
    share: float,
) -> None:
    """Gather the group of a reference patch and predict it, with a share of the correction."""
    group, channels = room.group, picture.planes.shape[0]
    gather(picture.planes, picture.known, row, column, offsets, size, group)
    note_whole(group, channels)
    if picture.measured.size > 0:
        group.whole[:] = False  # what is noisy is to be restored even where all of it is known
        if picture.measured.shape[0] == 2 * channels:
            gather_weighted(picture.measured, row, column, offsets, size, channels, settings.noise, group)
        else:
            gather_measured(picture.measured, row, column, offsets, size, channels, group)
    if settings.predictor == GAUSSIAN:
        strength, floor, correction = settings.strength, settings.floor, share * settings.correction
        noise, least = picture.noise, settings.noise
        predict_by_gaussian(group, room.model, channels, strength, floor, noise, least, correction)
    else:
        gather_trust(picture.depth, fading, row, column, offsets, size, channels, group)
        predict_by_mean(group, channels)


@fast_step
def add_up(
    picture: KernelImage,
    row: int,
    column: int,
    offsets: Offsets,
    size: int,
    settings: Pass,
    top: int,
    room: Workspace,
    sums: Sums,
) -> None:
    """Add the restored patches of a group to the sums, which start at row ``top`` of the picture."""
    for k in range(room.group.fit.shape[0]):
        if not room.group.whole[k]:
            down, across = row + offsets[k, 0], column + offsets[k, 1]
            add_patch(room.group, k, settings.least, down - top, across, size, room.units, sums)
            if sums.shape[0] > 1:
                add_spread(room.group, k, picture.planes, down, across, size, top, room.units, sums)


@precompile(*GROUP_ARGUMENTS)
@fast_kernel
def restore_groups(
    picture: KernelImage,
    references: Places,
    found: Offsets,
    size: int,
    settings: Pass,
    fading: Float32,
    prior: Float32,
    top: int,
    sums: Sums,
    shares: Float32,
) -> None:
    """Predict the group of every reference patch and add it up; ``shares`` of the correction."""
    room = make_room(picture, found.shape[1], size, settings, prior)
    for reference in range(references.shape[0]):
        row, column, offsets = references[reference, 0], references[reference, 1], found[reference]
        predict(picture, row, column, offsets, size, settings, fading, room, shares[reference])
        add_up(picture, row, column, offsets, size, settings, top, room, sums)


@precompile(IMAGE, int64[:, ::1], int8[:, :, ::1], int64, int64[:, ::1])
@fast_kernel
def add_shapes(picture: KernelImage, references: Places, found: Offsets, size: int, total: Sums) -> None:
    """Add up the shapes of the covariances of groups, on and below the diagonal, in units of SHAPE_UNIT."""
    channels, patches, pixels = picture.planes.shape[0], found.shape[1], size * size
    group = empty_group(patches, 0, 0, pixels, channels, False)
    model = empty_gaussian(patches, 0, np.zeros((channels * pixels, channels * pixels), np.float32), 0)
    for reference in range(references.shape[0]):
        row, column, offsets = references[reference, 0], references[reference, 1], found[reference]
        gather(picture.planes, picture.known, row, column, offsets, size, group)
        add_shape(group, model, LEAST_SPREAD, total, SHAPE_UNIT)
