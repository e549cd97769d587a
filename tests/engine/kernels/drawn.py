"""Random pictures and groups for the tests of kernels, and their patches as plain rows."""

import numpy as np

from demosaic_ntc.arrays import Bits, Flags, Float32, Float64, Planes, Sums
from demosaic_ntc.engine.kernels.gather import PatchGroup, empty_group
from demosaic_ntc.engine.kernels.products import VALUE_UNIT, WEIGHT_BITS


def random_planes(seed: int, shape: tuple[int, int, int]) -> Planes:
    return np.random.default_rng(seed).random(shape).astype(np.float32)


def random_bits(seed: int, channels: int, shape: tuple[int, int]) -> Bits:
    """Draw which channels of every pixel are known; any number of them may be."""
    return np.random.default_rng(seed).integers(0, 1 << channels, shape).astype(np.uint8)


def patch_of(planes: Planes, row: int, column: int, size: int) -> Float64:
    """Return the entries of a patch, channel after channel."""
    return planes[:, row : row + size, column : column + size].astype(np.float64).ravel()


def shown_in(known: Bits, channels: int) -> Flags:
    """Return flags (patch, entry) from bits (patch, pixel)."""
    planes = [(known >> channel) & 1 for channel in range(channels)]
    return np.concatenate(planes, axis=1).astype(np.bool_)


def random_group(seed: int, patches: int, restored: int, pixels: int, channels: int) -> PatchGroup:
    """Draw similar patches, what is known of them, measured how, and trust and noise that differ."""
    random = np.random.default_rng(seed)
    group, entries = empty_group(patches, restored, patches, pixels, channels, True), channels * pixels
    base, waves = random.random(entries), random.normal(size=(3, entries))
    mixed = 0.5 * base + 0.1 * random.normal(size=(patches, 3)) @ waves
    group.data[:, :entries] = mixed + 0.02 * random.normal(size=(patches, entries))
    group.known[:] = random.integers(0, 1 << channels, (patches, pixels))
    group.trust[:, :entries] = random.uniform(0.1, 1, (patches, entries))
    group.noise[:entries] = random.uniform(1e-5, 1e-3, entries)
    group.seen[:, :entries] = group.data[:, :entries] + 0.02 * random.normal(size=(patches, entries))
    group.fit[:, :entries] = mixed[:restored]
    group.whole[:] = False
    return group


def rows(padded: Float32, entries: int) -> Float64:
    """Return rows without what fills them up."""
    return padded[:, :entries].astype(np.float64)


def said_in(sums: Sums) -> tuple[Float64, Float64]:
    """Return the weights, and the weighted values, of what was added up in whole numbers."""
    weights = sums % 2**WEIGHT_BITS
    return weights.astype(np.float64), (sums - weights) / 2.0**WEIGHT_BITS / VALUE_UNIT


def held_back(move: Float64, mean: Float64, covariance: Float64) -> Float64:
    """Return a move of colours, shorter where they vary more than twice as much as green that is not dark."""
    variances, levels = (values.reshape(3, -1).mean(axis=1) for values in (np.diag(covariance), mean))
    shares = np.minimum(1, 2 * variances[1] / variances) ** 2 if levels[1] >= 0.05 else np.ones(3)
    return np.asarray(move * np.repeat(shares, len(mean) // 3))
