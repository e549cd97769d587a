"""How noisy a picture is, measured on its calm blocks: by channel and level, with its spectrum and colours.

A block of known pixels is split into a quadratic polynomial and a residual. Scenes add to residuals, noise is
in all of them: at every level, the residuals that vary least are noise. What so many independent samples of
the same noise scatter by tells how far below the mean the least ones lie. Coarse noise has fewer independent
samples than pixels, which its spectrum tells.
"""

from dataclasses import dataclass, replace
from functools import cache
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Float32, Float64
from demosaic_ntc.inpainting.scaling import Scale

SIDE = 16  # of a block, pixels: noise that is coarser is no grain
MOST_CHANNELS = 4  # of a picture; more are measurements of something else

_STEP = 8  # pixels between blocks, more in large pictures
_MOST_BLOCKS = 4096
_FEWEST_BLOCKS = 24  # from fewer nothing can be told
_BINS, _BIN_BLOCKS = 8, 100  # of level, and how many blocks each has at least, or there are fewer bins
_LEAST_SHARE, _LEAST_QUANTILE = 0.02, -2.054  # of blocks, and where they end in a normal distribution
_NEAR_SHARE, _NEAR_QUANTILE = 0.1, -1.2816  # the same for the fewer blocks around a hole
_LARGEST_RISE = 2.5  # times the least deviation of a level: more is a level that only texture has
_ALIKE = (0.5, 1.5)  # times the variance expected: blocks of noise alone
_FEWEST_ALIKE = 0.05  # of all blocks: if fewer are noise alone, it is not clear what is
_CLIPPED = 0.02  # share of a block's samples at an extreme: noise is cut off there
_FEWEST_INDEPENDENT = 16  # samples of a block: waves and stripes have fewer
_LARGEST_KURTOSIS = 1.0  # beyond that of normal numbers: texture has more
_LEAST_DEVIATION = 2 / 255  # of full scale: less is not missed where it is absent
_ROUNDS = 2  # the spectrum tells how many samples are independent, which tells the level
_TINY = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class NoiseProfile:
    """The noise of a picture's known pixels, in the engine's scale."""

    levels: tuple[Float64, ...]  # of each channel, rising
    deviations: tuple[Float64, ...]  # of its noise at these levels
    spectrum: NDArray[np.complex128]  # (SIDE, SIDE, channels, channels), of noise with variance 1
    freedom: float  # how many independent samples a block has
    ends: Float64  # (2, channels): the least and the largest value, where noise is cut off

    @property
    def typical(self) -> float:
        """The standard deviation in the mean of channels and levels."""
        return float(np.mean([each.mean() for each in self.deviations]))

    def deviation(self, channel: int, level: NDArray[Any]) -> Float64:
        """The standard deviation of a channel at some levels; what is clipped has none."""
        low, high = self.ends[:, channel]
        levels, deviations = self.levels[channel], self.deviations[channel]
        inside = np.interp(level, [low, *levels, high], [0.0, *deviations, 0.0])
        return np.asarray(inside)


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """Blocks of known pixels, (blocks, channels, …)."""

    samples: Float64  # (blocks, channels, SIDE²)
    level: Float64
    variance: Float64  # of their residuals
    ends: Float64  # (2, channels): the least and the largest value of their picture

    @classmethod
    def of(cls, blocks: Float64, ends: Float64) -> "_Blocks":
        """Measure blocks (blocks, channels, SIDE²), but those that are clipped."""
        low, high = ends[:, :, None]
        clipped = ((blocks <= low) | (blocks >= high)).mean(axis=2)
        used = blocks[clipped.max(axis=1) <= _CLIPPED]
        explained = used @ _polynomials()
        left = np.square(used).sum(axis=2) - np.square(explained).sum(axis=2)
        freedom = SIDE**2 - explained.shape[2]
        return cls(used, used.mean(axis=2), np.maximum(left / freedom, 0), ends)

    def select(self, wanted: Flags) -> "_Blocks":
        """Some of them."""
        return _Blocks(self.samples[wanted], self.level[wanted], self.variance[wanted], self.ends)


def measure_noise(channels: NDArray[Any], missing: Flags, scale: Scale) -> NoiseProfile | None:
    """Measure the noise of a picture (channels, height, width); None where it is not clear that there is any.

    Of integers, what rounding adds is no noise. ``missing`` is (height, width).
    """
    if len(channels) > MOST_CHANNELS or min(missing.shape) < SIDE:
        return None
    step = max(_STEP, ceil(sqrt(missing.size / _MOST_BLOCKS)))
    cut = (_cut_blocks(channels, missing, step) - scale.black) / scale.width
    if len(cut) < _FEWEST_BLOCKS:
        return None
    blocks = _Blocks.of(cut, np.stack([cut.min(axis=(0, 2)), cut.max(axis=(0, 2))]))
    profile = _fit(blocks) if len(blocks.level) >= _FEWEST_BLOCKS else None
    if profile is None or profile.typical * scale.width < _LEAST_DEVIATION * scale.white:
        return None
    return profile


def measure_strength(profile: NoiseProfile, planes: Float32, known: Flags) -> float:
    """Return how many times the profile's deviations the noise around a hole has, at most 1.

    ``planes`` are (channels, height, width) in the engine's scale, ``known`` is (height, width).
    """
    if min(known.shape) < SIDE:
        return 1.0
    blocks = _Blocks.of(_cut_blocks(planes, ~known, _STEP).astype(np.float64), profile.ends)
    if len(blocks.level) < _FEWEST_BLOCKS:
        return 1.0
    found = float(np.quantile(_relative(blocks, profile), _NEAR_SHARE))
    return sqrt(min(found / _quantile(profile.freedom, _NEAR_QUANTILE), 1.0))


def _cut_blocks(channels: NDArray[Any], missing: Flags, step: int) -> NDArray[Any]:
    """Return blocks at equal steps that are known altogether, (blocks, channels, SIDE²)."""
    shape = (SIDE, SIDE)
    whole = ~sliding_window_view(missing, shape)[::step, ::step].any(axis=(2, 3))
    cut = [sliding_window_view(channel, shape)[::step, ::step][whole] for channel in channels]
    return np.stack(cut, axis=1).reshape(-1, len(channels), SIDE**2)


def _fit(blocks: _Blocks) -> NoiseProfile | None:
    """Return the noise that all blocks have; None where few have nothing else."""
    channels = blocks.level.shape[1]
    white = np.broadcast_to(np.eye(channels, dtype=np.complex128), (SIDE, SIDE, channels, channels))
    profile = NoiseProfile((), (), white, float(SIDE**2), blocks.ends)
    for _ in range(_ROUNDS):
        curves = [
            _curve(level, own, profile.freedom)
            for level, own in zip(blocks.level.T, blocks.variance.T, strict=True)
        ]
        levels, deviations = zip(*curves, strict=True)
        profile = replace(profile, levels=levels, deviations=deviations)
        relative = _relative(blocks, profile)
        alike = (relative > _ALIKE[0]) & (relative < _ALIKE[1])
        if np.count_nonzero(alike) < max(_FEWEST_ALIKE * len(alike), _FEWEST_BLOCKS):
            return None
        residuals = _residuals(blocks.select(alike))
        if np.mean(residuals**4) - 3 > _LARGEST_KURTOSIS:
            return None
        spectrum = _spectrum(residuals)
        energy = np.einsum("ijcc->ij", spectrum).real
        freedom = float(energy.sum() ** 2 / np.square(energy).sum())
        profile = replace(profile, spectrum=spectrum, freedom=freedom)
    return profile if profile.freedom >= _FEWEST_INDEPENDENT else None


def _curve(level: Float64, variance: Float64, freedom: float) -> tuple[Float64, Float64]:
    """Return levels of a channel and the deviations of its noise there."""
    bins = int(np.clip(len(level) // _BIN_BLOCKS, 1, _BINS))
    parts = np.array_split(np.argsort(level, kind="stable"), bins)
    least = np.array([np.quantile(variance[part], _LEAST_SHARE) for part in parts])
    deviations = np.sqrt(least / _quantile(freedom, _LEAST_QUANTILE))
    deviations = np.minimum(deviations, _LARGEST_RISE * deviations.min())
    levels = np.array([level.min(), *(np.median(level[part]) for part in parts), level.max()])
    return levels, deviations[[0, *range(bins), bins - 1]]


def _relative(blocks: _Blocks, profile: NoiseProfile) -> Float64:
    """Return how many times the variance of the profile blocks have, in the mean of their channels."""
    expected = [profile.deviation(channel, level) for channel, level in enumerate(blocks.level.T)]
    return np.asarray((blocks.variance / np.maximum(np.square(expected).T, _TINY)).mean(axis=1))


def _residuals(blocks: _Blocks) -> Float64:
    """Return what polynomials leave of blocks, with variance 1, (blocks, channels, SIDE²)."""
    residuals = blocks.samples - (blocks.samples @ _polynomials()) @ _polynomials().T
    return np.asarray(residuals / np.sqrt(np.maximum(blocks.variance, _TINY))[..., None])


def _spectrum(residuals: Float64) -> NDArray[np.complex128]:
    """Return the mean cross-spectrum of residuals, (SIDE, SIDE, channels, channels); variances are 1.

    Blocks fade out towards their sides, or their borders would pass for high frequencies.
    """
    waves = np.fft.fft2(residuals.reshape(*residuals.shape[:2], SIDE, SIDE) * _taper())
    spectrum = np.einsum("bcij,bdij->ijcd", waves, waves.conj())
    variance = np.einsum("ijcc->c", spectrum).real / SIDE**2
    return np.asarray(spectrum / np.sqrt(np.outer(variance, variance)))


@cache
def _polynomials() -> Float64:
    """Return an orthonormal basis of quadratic polynomials in a block, (SIDE², 6)."""
    y, x = np.mgrid[-1 : 1 : SIDE * 1j, -1 : 1 : SIDE * 1j].reshape(2, -1)
    powers = np.stack([y**i * x**j for i in range(3) for j in range(3 - i)], axis=1)
    return np.asarray(np.linalg.qr(powers)[0])


@cache
def _taper() -> Float64:
    """Return a Hann window of a block, without its zeros."""
    side = np.hanning(SIDE + 2)[1:-1]
    return np.outer(side, side)


def _quantile(freedom: float, normal: float) -> float:
    """Return a quantile of the variance of so many normal samples with variance 1, by that of one of them.

    E. B. Wilson and M. M. Hilferty, 1931, doi:10.1073/pnas.17.12.684.
    """
    spread = 2 / (9 * freedom)
    return max(1 - spread + normal * sqrt(spread), _TINY) ** 3
