"""Grain for what is filled in noisy pictures: as much of the noise around as a fill lacks.

What patches predict is a mean, so that it lacks the noise around it and shows as a smooth spot. White noise
is filtered to the measured cross-spectrum: a Gaussian texture (B. Galerne et al., 2011,
doi:10.1109/TIP.2010.2052822). It is a hash of row, column and channel: the same however a picture is cut.
"""

from dataclasses import dataclass, replace
from functools import cache
from math import erf, exp, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft, ndimage

from demosaic_ntc.arrays import Flags, Float32, Float64, Planes
from demosaic_ntc.engine.restore import Estimate
from demosaic_ntc.engine.tiles import Tile
from demosaic_ntc.inpainting.grain import SIDE, NoiseProfile, measure_noise, measure_strength
from demosaic_ntc.inpainting.scaling import Scale

_HASH = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)  # of SplitMix64
_PARTS = 4  # uniform numbers of 16 bits that make a nearly normal one
_LEVEL = 1.0  # deviation of the Gaussian that a level is averaged by, pixels
_TINY = 1e-12
_SMOOTHING, _AVERAGING = (
    2.0,
    3.0,
)  # deviations of Gaussians, pixels: what fluctuates, and where it is averaged


@dataclass(frozen=True, slots=True, eq=False)
class Grain:
    """The grain of a picture: its noise, and where in the picture the planes that get it begin."""

    profile: NoiseProfile
    filters: Float64  # (channels, channels, SIDE, SIDE): from white noise of one to grain of another
    fine: Float64  # (channels,): the share of its deviation that a Gaussian does not smooth away
    origin: tuple[int, int] = (0, 0)

    @classmethod
    def of(cls, profile: NoiseProfile) -> "Grain":
        """Return the grain that has the spectrum of some noise."""
        values, vectors = np.linalg.eigh(profile.spectrum)
        roots = vectors * np.sqrt(np.maximum(values, 0))[..., None, :] @ vectors.conj().swapaxes(-1, -2)
        filters = np.fft.fftshift(np.fft.ifft2(roots, axes=(0, 1)).real, axes=(0, 1))
        size = np.sqrt(np.square(filters).sum(axis=(0, 1, 3)))[:, None]
        filters = np.moveaxis(filters / size, (0, 1), (2, 3))
        padded = np.pad(filters, ((0, 0), (0, 0), (SIDE, SIDE), (SIDE, SIDE)))
        fine = padded - ndimage.gaussian_filter(padded, (0, 0, _SMOOTHING, _SMOOTHING))
        return cls(profile, filters, np.sqrt(np.square(fine).sum(axis=(1, 2, 3))))

    def at(self, rows: slice, columns: slice) -> "Grain":
        """Return the grain of a part of the picture."""
        return replace(self, origin=(self.origin[0] + rows.start, self.origin[1] + columns.start))


def find_grain(channels: NDArray[Any], holes: Flags, scale: Scale) -> Grain | None:
    """Return the grain of a picture and its holes, (channels, height, width); None where none is clear."""
    profile = measure_noise(channels, np.logical_or.reduce(holes, axis=0), scale)
    return None if profile is None else Grain.of(profile)


def add_grain(grain: Grain, made: Estimate[Planes], known: Flags, region: Tile) -> Estimate[Planes]:
    """Return a restored region with the grain that it lacks in the holes of its core.

    The estimate and ``known`` are (channels, height, width) of what the region sees. Where expected squared
    errors are there, they grow by the variance of what is added: it is none of the scene's own noise.
    """
    planes, variance = made.planes.copy(), made.variance.copy()
    strength = measure_strength(grain.profile, planes, np.logical_and.reduce(known, axis=0))
    noise = _make_noise(grain, region.core)
    for channel, plane in enumerate(made.planes):
        holes = ~known[channel]
        level = ndimage.gaussian_filter(plane, _LEVEL)
        expected = strength * grain.profile.deviation(channel, level)
        added = expected * np.sqrt(_lacking_share(plane, expected * grain.fine[channel], holes))
        here, inner = holes[region.inner], (channel, *region.inner)
        planes[inner] += _zero_outside(here, noise[channel] * added[region.inner])
        if variance.size:
            variance[inner] += _zero_outside(here, np.square(added[region.inner]))
    return Estimate(planes, variance)


def _zero_outside(flags: Flags, values: Float64) -> Float32:
    """Return values where flags are set, zero elsewhere."""
    return np.where(flags, values, 0.0).astype(np.float32)


def _make_noise(grain: Grain, core: tuple[slice, slice]) -> Float64:
    """Return grain of variance 1 for some rows and columns, (channels, height, width)."""
    (top, left), (height, width) = ((axis.start for axis in core), (axis.stop - axis.start for axis in core))
    first = (grain.origin[0] + top - SIDE // 2, grain.origin[1] + left - SIDE // 2)
    channels, reach = len(grain.filters), SIDE - 1
    white = _white_noise(first, (height + reach, width + reach), channels)
    shape = [fft.next_fast_len(side, real=True) for side in white.shape[1:]]
    waves, filters = fft.rfft2(white, shape), fft.rfft2(grain.filters, shape)
    noise = fft.irfft2(np.einsum("dij,cdij->cij", waves, filters), shape)
    return np.asarray(noise[:, reach : reach + height, reach : reach + width])


def _white_noise(first: tuple[int, int], shape: tuple[int, int], channels: int) -> Float64:
    """Return nearly normal numbers of variance 1, each a hash of its row, column and channel."""
    rows, columns = (
        np.arange(start, start + side).astype(np.uint64) for start, side in zip(first, shape, strict=True)
    )
    number = (rows[:, None] << np.uint64(32)) ^ (columns & np.uint64(0xFFFFFFFF))
    seeds = (np.arange(channels, dtype=np.uint64) + np.uint64(1)) * np.uint64(_HASH[0])
    bits = number + seeds[:, None, None]
    for shift, factor in ((30, _HASH[1]), (27, _HASH[2])):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    bits ^= bits >> np.uint64(31)
    parts = bits.view(np.uint16).reshape(*bits.shape, _PARTS).sum(axis=-1, dtype=np.int64)
    return np.asarray((parts - _PARTS * 0xFFFF / 2) / sqrt(_PARTS * (0x10000**2 - 1) / 12))


def _lacking_share(plane: Float32, expected: Float64, holes: Flags) -> Float64:
    """Return which share of the variance of noise a restored plane lacks in its holes, about each pixel.

    ``expected`` is the deviation of noise without what a Gaussian smooths away. Edges fluctuate more
    than that; none counts for more than noise that large, and how much noise counts by that is known.
    """
    fine = plane - ndimage.gaussian_filter(plane, _SMOOTHING)
    counted = np.minimum(np.square(fine / np.maximum(expected, _TINY)), 1.0)
    flags = holes.astype(np.float64)
    seen, total = (ndimage.gaussian_filter(each, _AVERAGING) for each in (flags, flags * counted))
    shares, means = _truncated_means()
    return np.asarray(1 - np.interp(total / np.maximum(seen, _TINY), means, shares))


@cache
def _truncated_means() -> tuple[Float64, Float64]:
    """Return variances v from 0 to 1, and the means of min(x², 1) for normal x of these variances."""

    def mean(v: float) -> float:
        inside = erf(1 / sqrt(2 * v)) - sqrt(2 / (pi * v)) * exp(-1 / (2 * v))
        return v * inside + 1 - erf(1 / sqrt(2 * v))

    shares = np.linspace(0, 1, 65)
    return shares, np.array([0.0, *(mean(float(v)) for v in shares[1:])])
