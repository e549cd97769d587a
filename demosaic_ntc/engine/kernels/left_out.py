"""Samples left out and predicted: what a group's other patches, which did not measure them, say of them.

The patches of a group are alike. An entry that one of them has measured is a mere estimate in others, made of
other samples. These estimates have a mean m and a variance s² over the n patches that did not measure the
entry; if they are worth anything, the sample y deviates from m by as much as they do among themselves:
(y − m)² is s² (1 + 1/n) + σ² on the average, with σ² the variance of the sample. The sample itself is in
neither of them. Squares are added up in whole numbers, so that no order of the groups changes their sums.
"""

import numpy as np

from demosaic_ntc.arrays import Float32, Offsets, Places, Sums
from demosaic_ntc.engine.kernels.gather import PatchGroup, empty_group, gather, gather_measured, note_noise
from demosaic_ntc.engine.kernels.group_pass import KernelImage
from demosaic_ntc.jit.compiled import fast_kernel, fast_step

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
LEAST_PATCHES = 8  # with fewer that did not measure an entry, nothing is said of it
SQUARE_UNIT = 2.0**30  # of squares of full scale 1
RATIO_UNIT = 2.0**16  # of squares over those expected
PRECISION_UNIT = 2.0**8  # of the inverses of those expected
_MOST = np.float32(2.0**16)  # a ratio that is no larger

# What is added up: how many samples; their squares over those expected; the inverses of those expected; the
# squares; and for every channel how many samples, and the sums of their values and of the squares of these.
COUNT, RATIO, PRECISION, SQUARE, CHANNELS = 0, 1, 2, 3, 4


@fast_step
def _note_mean(group: PatchGroup, mean: Float32) -> None:
    """Write the mean over all patches of a group."""
    patches, entries = group.data.shape
    for e in range(entries):
        mean[e] = _ZERO
    for k in range(patches):
        for e in range(entries):
            mean[e] += group.data[k, e] / np.float32(patches)


@fast_step
def _add_entry(group: PatchGroup, e: int, channel: int, q: int, sums: Sums) -> None:
    """Add what the samples of an entry, pixel ``q`` of a channel, deviate by from the estimates of others."""
    patches = group.data.shape[0]
    total, count = _ZERO, 0
    for k in range(patches):
        if not (group.known[k, q] >> channel) & 1:
            total += group.data[k, e]
            count += 1
    if count < LEAST_PATCHES or count == patches:
        return
    mean, squares = total / np.float32(count), _ZERO
    for k in range(patches):
        if not (group.known[k, q] >> channel) & 1:
            squares += (group.data[k, e] - mean) * (group.data[k, e] - mean)
    spread = squares / np.float32(count - 1)
    expected = spread * (_ONE + _ONE / np.float32(count)) + group.noise[e]
    for k in range(patches):
        if (group.known[k, q] >> channel) & 1:
            value = group.seen[k, e]
            square = (value - mean) * (value - mean)
            sums[COUNT] += 1
            sums[RATIO] += np.int64(min(square / expected, _MOST) * np.float32(RATIO_UNIT))
            sums[PRECISION] += np.int64(np.float32(PRECISION_UNIT) / expected)
            sums[SQUARE] += np.int64(square * np.float32(SQUARE_UNIT))
            sums[CHANNELS + 3 * channel] += 1
            sums[CHANNELS + 3 * channel + 1] += np.int64(value * np.float32(SQUARE_UNIT))
            sums[CHANNELS + 3 * channel + 2] += np.int64(value * value * np.float32(SQUARE_UNIT))


@fast_kernel
def add_left_out(
    picture: KernelImage, references: Places, found: Offsets, size: int, least: float, sums: Sums
) -> None:
    """Add up what is told of the samples of groups, (references, patches, 2), by patches without them.

    ``least`` is what a sample's variance exceeds that of its noise by; ``sums`` is (4 + 3 channels).
    """
    channels, patches, pixels = picture.planes.shape[0], found.shape[1], size * size
    noisy = picture.measured.size > 0
    group = empty_group(patches, 0, patches, pixels, channels, noisy)
    mean = np.zeros(group.data.shape[1], np.float32)
    for reference in range(references.shape[0]):
        row, column, offsets = references[reference, 0], references[reference, 1], found[reference]
        gather(picture.planes, picture.known, row, column, offsets, size, group)
        if noisy:
            gather_measured(picture.measured, row, column, offsets, size, channels, group)
        _note_mean(group, mean)
        note_noise(mean, picture.noise, least, channels, pixels, group)
        for channel in range(channels):
            for q in range(pixels):
                _add_entry(group, channel * pixels + q, channel, q, sums)
