"""The variance of noise, measured on the patches of a mosaic that show little else.

A small patch of one colour is split into a polynomial in row and column and what is orthogonal to it. White
noise has the same variance in both parts and they are independent, while detail is mostly in the first. So
the patches of similar light with the least energy in the first part are measured in the second, and being
chosen does not bias what is measured (N. Ponomarenko et al., 2003; M. Colom and A. Buades, 2013,
doi:10.5201/ipol.2013.45).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Float32, Float64
from demosaic_ntc.cfa import Cfa

FEWEST_PATCHES = 200  # from fewer, nothing can be told

_LEAST_SIZE = 6  # pixels along a patch; the smallest multiple of the array's period from here on is taken
_MOST_PATCHES = 50_000  # of large mosaics only so many are looked at
_BINS = 12  # of light, in each colour
_BIN_PATCHES = 400  # a bin holds at least so many, or there are fewer bins
_CALM_SHARE = 0.005  # of the patches of a bin, or of all: the calmest are measured …
_CALM_PATCHES, _CALM_OF_ALL = 16, 60  # … and not fewer
_CALM_ENERGY = 0.6  # of what noise alone explains: calmer patches are all measured
_MEASURED_PATCHES = 40  # the calmest of all are binned by their light, at least so many to a bin
_CLIPPING = 2.0  # deviations from a clipping level within which samples are cut off on one side
_PILED = 2.0  # how many times more samples than the next value an extreme has where it was clipped
_LEAST_DEVIATION = 1e-6  # of white

Bin: TypeAlias = tuple[float, float, float, float]  # channel, light, variance, its degrees of freedom


def find_clipping_levels(mosaic: Float32, low: float, high: float) -> tuple[float, float]:
    """Return the levels at which samples are clipped: the given ones, or extremes where samples pile up.

    Noise thins out towards an extreme; where the extreme value is more frequent than the next one, all that
    lay beyond was cut off.
    """
    least, most = mosaic.min(), mosaic.max()
    if least == most:
        return float(least), float(most)
    second = mosaic.min(initial=most, where=mosaic > least)
    last = mosaic.max(initial=least, where=mosaic < most)
    if np.count_nonzero(mosaic == least) > _PILED * np.count_nonzero(mosaic == second):
        low = max(low, float(least))
    if np.count_nonzero(mosaic == most) > _PILED * np.count_nonzero(mosaic == last):
        high = min(high, float(most))
    return low, high


@dataclass(frozen=True, slots=True, eq=False)
class NoisePatches:
    """What is used of the patches without clipped samples."""

    light: Float32  # (3, count): the mean of each colour
    order: NDArray[np.intp]  # (3, count): the patches by the light of the other two colours
    coarse: Float32  # (3, count): energy in the polynomials, the mean left out
    fine: Float32  # (3, count): energy in what is orthogonal to them
    freedoms: tuple[tuple[int, int], ...]  # of the coarse and of the fine part, for each colour
    low: float
    high: float

    @classmethod
    def of(cls, mosaic: Float32, cfa: Cfa, low: float, high: float) -> "NoisePatches":
        """Measure patches on a grid of whole periods, at most `_MOST_PATCHES` of them."""
        size = _patch_size(cfa)
        rows, columns = _grid(mosaic.shape, cfa.period, size)
        places = [mosaic[i + rows][:, columns + j].ravel() for i in range(size[0]) for j in range(size[1])]
        samples = np.stack(places).astype(np.float32, copy=False)
        whole = (samples.min(axis=0) > low) & (samples.max(axis=0) < high)
        samples = samples if whole.all() else samples[:, whole]
        colours = cfa.channel_map(size).ravel()
        bases = [_fine_basis(cfa, channel) for channel in range(3)]
        parts = [_parts(samples[colours == channel], basis) for channel, basis in enumerate(bases)]
        light, coarse, fine = (np.stack([part[k] for part in parts]) for k in range(3))
        freedoms = tuple((places - 1 - found, found) for places, found in (basis.shape for basis in bases))
        return cls(light, _order(light), coarse, fine, freedoms, low, high)

    def measure(self, deviations: Float64 | None = None, *, of_all: bool = True) -> Iterator[Bin]:
        """Yield the bins of each colour, measured on patches that are calm for noise of such deviations.

        Deviations are (3, count); without any, patches with the least coarse energy are measured. Unless
        those that are calmest of all are wanted, every light has one bin.
        """
        energy, calm, margins = self.coarse.sum(axis=0), -math.inf, np.zeros(3)
        if deviations is not None:
            deviations = np.maximum(deviations, _LEAST_DEVIATION)
            energy = (self.coarse / deviations**2).sum(axis=0)
            calm = _CALM_ENERGY * sum(coarse for coarse, _ in self.freedoms)
            margins = _CLIPPING * deviations
        for channel in range(3):
            inside = self._select_unclipped(channel, margins[channel])
            freedoms = self.freedoms[channel][1]
            for chosen in _choose_patches(inside, energy[inside], calm, of_all):
                variance = self.fine[channel, chosen].mean(dtype=np.float64) / freedoms
                light = self.light[channel, chosen].mean(dtype=np.float64)
                yield channel, float(light), float(variance), len(chosen) * freedoms

    def _select_unclipped(self, channel: int, margin: Float64) -> NDArray[np.intp]:
        """Return the patches by light whose noise is cut off on no side, or a few, the farthest off."""
        light, order = self.light[channel], self.order[channel]
        inside: NDArray[np.intp] = order[((light - margin > self.low) & (light + margin < self.high))[order]]
        if len(inside) >= FEWEST_PATCHES:
            return inside
        near = np.maximum(self.low - light, light - self.high)
        farthest: NDArray[np.intp] = order[np.argsort(near[order], kind="stable")[:FEWEST_PATCHES]]
        return farthest


def _choose_patches(
    patches: NDArray[np.intp], energy: NDArray[Any], calm: float, of_all: bool
) -> Iterator[NDArray[np.intp]]:
    """Yield the patches to be measured together, of patches by light with their energies.

    These are the calm ones in each bin of light, so that all lights are seen; and, if wanted, the calmest of
    all, whatever their light, because in a picture full of texture most bins hold nothing else.
    """
    bins = np.arange(len(patches))
    for part in np.array_split(bins, max(1, min(_BINS, len(bins) // _BIN_PATCHES))):
        yield patches[part[_calmest(energy[part], calm, _CALM_PATCHES)]]
    if not of_all:
        return
    calmest = patches[_calmest(energy, calm, _CALM_OF_ALL)]
    yield from np.array_split(calmest, max(1, min(_BINS, len(calmest) // _MEASURED_PATCHES)))


def _calmest(energy: NDArray[Any], calm: float, fewest: int) -> Flags:
    """Return which patches are measured: those of calm energy, and at least the calmest share."""
    least = min(len(energy), max(fewest, round(_CALM_SHARE * len(energy))))
    return np.asarray(energy <= max(calm, np.partition(energy, least - 1)[least - 1]))


def _patch_size(cfa: Cfa) -> tuple[int, int]:
    """Return height and width of patches: whole periods, so that all patches show the same colours."""
    down, across = cfa.period
    return -(-_LEAST_SIZE // down) * down, -(-_LEAST_SIZE // across) * across


def _grid(
    shape: tuple[int, ...], period: tuple[int, int], size: tuple[int, int]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows and columns of the patches' first samples, in steps of whole periods."""
    down, across = period
    while True:
        rows = np.arange(0, shape[0] - size[0] + 1, down)
        columns = np.arange(0, shape[1] - size[1] + 1, across)
        if len(rows) * len(columns) <= _MOST_PATCHES:
            return rows, columns
        if down <= across:
            down += period[0]
        else:
            across += period[1]


def _parts(samples: Float32, basis: Float32) -> tuple[Float32, Float32, Float32]:
    """Return mean, coarse and fine energy of patches (places of a channel, count); see `_fine_basis`."""
    light = samples.mean(axis=0)
    rest = samples - light
    fine = np.square(basis.T @ rest).sum(axis=0)
    return light, np.maximum(np.square(rest).sum(axis=0) - fine, 0), fine


def _order(light: Float32) -> NDArray[np.intp]:
    """Return the patches (3, count) by the light of the other two colours.

    By its own light a patch that is dark but for its noise would stand among brighter ones, and bring the
    variance of the dark there.
    """
    usual = light.sum(axis=1, keepdims=True) / max(light.shape[1], 1)
    shares = light / np.maximum(usual, _LEAST_DEVIATION)
    return np.argsort(shares.sum(axis=0) - shares, axis=1)


@cache
def _fine_basis(cfa: Cfa, channel: int) -> Float32:
    """Return an orthonormal basis (places, dimensions) of what no polynomial of low degree explains.

    The degree is the largest that leaves a quarter of the dimensions.
    """
    rows, columns = np.nonzero(cfa.channel_map(_patch_size(cfa)) == channel)
    if len(rows) < 2:
        return np.zeros((len(rows), 0), np.float32)
    y, x = (2 * places / max(places.max(), 1) - 1 for places in (rows, columns))
    basis = np.eye(len(rows))
    for degree in range(len(rows)):
        powers = np.stack([y**i * x**j for i in range(degree + 1) for j in range(degree + 1 - i)])
        _, sizes, right = np.linalg.svd(powers)
        rank = int((sizes > sizes.max() * max(powers.shape) * np.finfo(np.float64).eps).sum())
        if 4 * (len(rows) - rank) < len(rows):
            break
        basis = right[rank:].T
    return np.asarray(basis, np.float32)
