"""Samples left out and predicted: what a group's other patches, which did not measure them, say of them.

The patches of a group are alike. An entry that some of them have measured is a mere estimate in the others,
made of other samples. These estimates have a mean m and a variance s² over the n patches that did not measure
the entry. If they are worth anything, the k samples of the entry have the same mean, but for chance:
(y − m)², with y the mean of the samples, is s² / n + (s² + σ²) / k on the average, with σ² the variance of a
sample. No sample is in what predicts it. Squares are added up in whole numbers, so that no order of the
groups changes their sums.
"""

import numpy as np
from numba import float64, int8, int64

from demosaic_ntc.arrays import Float32, Offsets, Places, Sums
from demosaic_ntc.engine.kernels.gather import PatchGroup, empty_group, gather, gather_measured, note_noise
from demosaic_ntc.engine.kernels.group_pass import IMAGE, KernelImage
from demosaic_ntc.jit.compiled import fast_kernel, fast_step, precompile

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
LEAST_PATCHES = 8  # with fewer that measured an entry, or did not, nothing is said of it
SQUARE_UNIT = 2.0**30  # of squares of full scale 1
RATIO_UNIT = 2.0**16  # of squares over those expected
PRECISION_UNIT = 2.0**8  # of the inverses of those expected
_MOST = np.float32(2.0**16)  # a ratio that is no larger

# What is added up: how many entries; the squares of their means over those expected; the inverses of those
# expected; the squares (y − m)² of all samples; and for every channel how many samples, and the sums of their
# values and of the squares of these.
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
def _add_entry(
    group: PatchGroup, e: int, channel: int, q: int, share: np.float32, least: np.float32, sums: Sums
) -> None:
    """Add what the samples of an entry, pixel ``q`` of a channel, deviate by from the estimates of others."""
    patches = group.data.shape[0]
    estimated, measured, count = _ZERO, _ZERO, 0
    for k in range(patches):
        if (group.known[k, q] >> channel) & 1:
            measured += group.seen[k, e]
        else:
            estimated += group.data[k, e]
            count += 1
    samples = patches - count
    if count < LEAST_PATCHES or samples < LEAST_PATCHES:
        return
    mean, squares, misses, values = estimated / np.float32(count), _ZERO, _ZERO, _ZERO
    for k in range(patches):
        if (group.known[k, q] >> channel) & 1:
            value = group.seen[k, e]
            misses += (value - mean) * (value - mean)
            values += value * value
        else:
            squares += (group.data[k, e] - mean) * (group.data[k, e] - mean)
    spread, own = squares / np.float32(count - 1), share * group.noise[e] + least
    expected = spread / np.float32(count) + (spread + own) / np.float32(samples)
    far = measured / np.float32(samples) - mean
    sums[COUNT] += 1
    sums[RATIO] += np.int64(min(far * far / expected, _MOST) * np.float32(RATIO_UNIT))
    sums[PRECISION] += np.int64(np.float32(PRECISION_UNIT) / expected)
    sums[SQUARE] += np.int64(misses * np.float32(SQUARE_UNIT))
    sums[CHANNELS + 3 * channel] += samples
    sums[CHANNELS + 3 * channel + 1] += np.int64(measured * np.float32(SQUARE_UNIT))
    sums[CHANNELS + 3 * channel + 2] += np.int64(values * np.float32(SQUARE_UNIT))


@precompile(IMAGE, int64[:, ::1], int8[:, :, ::1], int64, float64, float64, int64[::1])
@fast_kernel
def add_left_out(
    picture: KernelImage,
    references: Places,
    found: Offsets,
    size: int,
    share: float,
    least: float,
    sums: Sums,
) -> None:
    """Add up what is told of the samples of groups, (references, patches, 2), by patches without them.

    The variance of a sample is a ``share`` of the noise that groups reckon with, and ``least`` besides;
    ``sums`` is (4 + 3 channels).
    """
    channels, patches, pixels = picture.planes.shape[0], found.shape[1], size * size
    noisy = picture.measured.size > 0
    group = empty_group(patches, 0, patches, pixels, channels, noisy)
    mean, part, floor = np.zeros(group.data.shape[1], np.float32), np.float32(share), np.float32(least)
    for reference in range(references.shape[0]):
        row, column, offsets = references[reference, 0], references[reference, 1], found[reference]
        gather(picture.planes, picture.known, row, column, offsets, size, group)
        if noisy:
            gather_measured(picture.measured, row, column, offsets, size, channels, group)
        _note_mean(group, mean)
        note_noise(mean, picture.noise, 0.0, channels, pixels, group)
        for channel in range(channels):
            for q in range(pixels):
                entry = channel * pixels + q
                _add_entry(group, entry, channel, q, part, floor, sums)
