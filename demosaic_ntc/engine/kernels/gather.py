"""The steps that every pass over groups shares: gathering the patches, their mean, what it leaves."""

from typing import NamedTuple

import numpy as np

from demosaic_ntc.arrays import Bits, Depths, Flags, Float32, Offsets, Planes
from demosaic_ntc.engine.kernels.products import COLUMNS
from demosaic_ntc.jit.compiled import fast_kernel, fast_step

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
CLASS_SHIFT = 6  # bits of what is known that come before those of the class, where there are classes


class PatchGroup(NamedTuple):
    """The patches of one group; entries run over the channels, then over the pixels of a patch.

    Rows of entries are padded with zeros to whole steps of the compiled loops.
    """

    data: Float32  # (patch, entry): the known value, else the estimate
    known: Bits  # (shown patch, pixel)
    trust: Float32  # (patch, entry): 1 where known, else less
    seen: Float32  # (shown patch, entry): what was measured, where known; the same as data where exact
    noise: Float32  # (class · entry): the variance of what is known; of one class, unless weights tell
    fit: Float32  # (restored patch, entry)
    error: Float32  # (restored patch, entry): the expected squared error of the fit
    whole: Flags  # (restored patch): everything is known


@fast_step
def pad_length(entries: int) -> int:
    """Return the length of a row that holds so many entries and ends with a whole step of compiled loops."""
    return -(-entries // COLUMNS) * COLUMNS


@fast_kernel
def empty_group(
    patches: int, restored: int, shown: int, pixels: int, channels: int, noisy: bool, classes: int = 1
) -> PatchGroup:
    """Return room for the patches of groups, to be filled; what was measured is apart where it is noisy.

    The first ``restored`` patches are to be restored; what is known is gathered for the first ``shown``,
    whose noise is of so many ``classes``.
    """
    entries = pad_length(channels * pixels)
    data = np.zeros((patches, entries), np.float32)
    return PatchGroup(
        data,
        np.empty((shown, pixels), np.uint8),
        np.ones((patches, entries), np.float32),
        np.zeros((shown, entries), np.float32) if noisy else data[:shown],
        np.zeros(classes * entries, np.float32),
        np.zeros((restored, entries), np.float32),
        np.zeros((restored, entries), np.float32),
        np.empty(restored, np.bool_),
    )


@fast_step
def _copy_patch(
    flat: Float32 | Bits,
    start: int,
    width: int,
    area: int,
    channels: int,
    size: int,
    into: Float32 | Bits,
    at: int,
) -> None:
    """Copy the rows of a patch, channel by channel, from planes to a row of entries, all of them flat.

    ``start`` is the corner of the patch, ``width`` leads to the next row, ``area`` to the next channel.
    Indices are unsigned, since signed ones are looked at for counting from the end.
    """
    place, one = np.uint64(at), np.uint64(1)
    for channel in range(channels):
        source = np.uint64(start + channel * area)
        for _ in range(size):
            if size >= 4:  # all are read before any is written, which lets them be moved at once
                first, second = flat[source], flat[source + one]
                third, fourth = flat[source + np.uint64(2)], flat[source + np.uint64(3)]
                into[place], into[place + one] = first, second
                into[place + np.uint64(2)], into[place + np.uint64(3)] = third, fourth
            for j in range(4 if size >= 4 else 0, size):
                into[place + np.uint64(j)] = flat[source + np.uint64(j)]
            place += np.uint64(size)
            source += np.uint64(width)


@fast_step
def copy_patches(
    planes: Planes | Bits,
    row: int,
    column: int,
    offsets: Offsets,
    size: int,
    count: int,
    entries: Float32 | Bits,
) -> None:
    """Copy the first patches of a group to rows of entries; the usual sizes are known to the compiler."""
    channels, height, width = planes.shape
    flat, into, area = planes.reshape(planes.size), entries.reshape(entries.size), height * width
    for k in range(count):
        start, at = (row + offsets[k, 0]) * width + column + offsets[k, 1], k * entries.shape[1]
        if size == 4:
            _copy_patch(flat, start, width, area, channels, 4, into, at)
        elif size == 5:
            _copy_patch(flat, start, width, area, channels, 5, into, at)
        else:
            _copy_patch(flat, start, width, area, channels, size, into, at)


@fast_step
def gather(
    planes: Planes,
    known: Bits,
    row: int,
    column: int,
    offsets: Offsets,
    size: int,
    group: PatchGroup,
) -> None:
    """Copy the patches of a group, and which entries of the first of them are known.

    ``known`` is (height, width).
    """
    copy_patches(planes, row, column, offsets, size, offsets.shape[0], group.data)
    bits = known.reshape(1, known.shape[0], known.shape[1])
    copy_patches(bits, row, column, offsets, size, group.known.shape[0], group.known)


@fast_step
def gather_measured(
    measured: Planes, row: int, column: int, offsets: Offsets, size: int, channels: int, group: PatchGroup
) -> None:
    """Copy what was measured of the patches whose known entries are told.

    ``measured`` is (channels, height, width), or (1, height, width) where no pixel shows two channels.
    """
    count = group.seen.shape[0]
    if measured.shape[0] == channels:
        copy_patches(measured, row, column, offsets, size, count, group.seen)
        return
    pixels, width = size * size, group.seen.shape[1]
    flat, into = measured.reshape(measured.size), group.seen.reshape(group.seen.size)
    for k in range(count):
        start = (row + offsets[k, 0]) * measured.shape[2] + column + offsets[k, 1]
        for channel in range(channels):
            at = k * width + channel * pixels
            if size == 4:
                _copy_patch(flat, start, measured.shape[2], 0, 1, 4, into, at)
            elif size == 5:
                _copy_patch(flat, start, measured.shape[2], 0, 1, 5, into, at)
            else:
                _copy_patch(flat, start, measured.shape[2], 0, 1, size, into, at)


@fast_step
def noise_at(noise: Float32, level: np.float32) -> np.float32:
    """Return the variance of a known entry from that at equal steps of the level, from 0 to 1; (steps)."""
    last = noise.shape[0] - 1
    place = min(max(level, _ZERO), _ONE) * np.float32(last)
    below = min(int(place), max(last - 1, 0))
    step = noise[min(below + 1, last)] - noise[below]
    return np.float32(noise[below] + (place - np.float32(below)) * step)


@fast_step
def note_noise(
    mean: Float32, noise: Float32, least: float, channels: int, pixels: int, group: PatchGroup
) -> None:
    """Write the variance of known entries, ``least`` added: one for each channel, at the group's mean level.

    Patches of a group are alike, and so is their noise. That it is the same for all of them lets those that
    show the same entries share their factors.
    """
    for channel in range(channels):
        level = _ZERO
        for q in range(pixels):
            level += mean[channel * pixels + q]
        variance = noise_at(noise[channel], level / np.float32(pixels)) + np.float32(least)
        for q in range(pixels):
            group.noise[channel * pixels + q] = variance


@fast_step
def start_of_noise(group: PatchGroup, k: int) -> int:
    """Return where the variances of what is known of a patch begin: those of its class."""
    entries = group.data.shape[1]
    return int(group.known[k, 0] >> CLASS_SHIFT) * entries if group.noise.shape[0] > entries else 0


@fast_step
def gather_trust(
    depth: Depths,
    fading: Float32,
    row: int,
    column: int,
    offsets: Offsets,
    size: int,
    channels: int,
    group: PatchGroup,
) -> None:
    """Write how far each entry is to be trusted: 1 where known, else what ``fading`` says for its depth."""
    pixels = size * size
    for k in range(offsets.shape[0]):
        top, left = row + offsets[k, 0], column + offsets[k, 1]
        for i in range(size):
            for j in range(size):
                q = i * size + j
                share = fading[depth[top + i, left + j]]
                for channel in range(channels):
                    shown = (group.known[k, q] >> channel) & 1
                    group.trust[k, channel * pixels + q] = _ONE if shown else share


@fast_step
def note_whole(group: PatchGroup, channels: int) -> None:
    """Note which of the patches to be restored are known in all entries: they need no help."""
    everything = (1 << channels) - 1
    for k in range(group.whole.shape[0]):
        lacking = 0
        for q in range(group.known.shape[1]):
            lacking += 1 if group.known[k, q] != everything else 0
        group.whole[k] = lacking == 0


@fast_kernel
def predict_by_mean(group: PatchGroup, channels: int) -> None:
    """Write the trusted mean over the patches, and each patch's trusted mean squared misfit as its error."""
    patches, entries = group.data.shape
    total, mass = np.zeros(entries, np.float32), np.zeros(entries, np.float32)
    for k in range(patches):
        trust, data = group.trust[k], group.data[k]
        for entry in range(entries):
            total[entry] += trust[entry] * data[entry]
            mass[entry] += trust[entry]
    for entry in range(entries):
        total[entry] /= mass[entry]
    for k in range(group.fit.shape[0]):
        fit = group.fit[k]
        for entry in range(entries):
            fit[entry] = total[entry]
        note_misfit(group, k, channels * group.known.shape[1])


@fast_step
def note_misfit(group: PatchGroup, k: int, entries: int) -> None:
    """Write the trusted mean squared misfit of a patch as the error of all its entries."""
    misfit, mass = _ZERO, _ZERO
    trust, data, fit = group.trust[k], group.data[k], group.fit[k]
    for entry in range(entries):
        miss = data[entry] - fit[entry]
        misfit += trust[entry] * miss * miss
        mass += trust[entry]
    error = group.error[k]
    for entry in range(error.shape[0]):
        error[entry] = misfit / mass
