"""Lateral chromatic aberration: red and blue drawn a little larger or smaller than green, and corrected.

What green shows at p, red shows at p + d(p): d = k (p − centre) where red is drawn larger by the share k, and
what a file states beside. Red follows green locally, R ≈ a G, so k shows as R ≈ a (G − k r·∇G) with
r = p − centre: in every block of the red sites the regression of R on G and r·∇G gives an estimate of k, and
the median of those is taken, weighted by the inverse of their variance. All are smoothed, since green at red
sites is a mean of its neighbours, and without their local means. Blue alike.

Samples are then moved before demosaicing, by their difference to green, which is smooth: R(p) = G(p) +
(R − G)(p + d).
Demosaicing lends green's detail to red and blue; where they lie apart, no later move mends both that and what
red itself has shown (3 dB on Kodak at one pixel in the corners).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32, Float64
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.interpolation.zhang_wu2005 import HALO, zhang_wu2005
from demosaic_ntc.engine.tiles import span
from demosaic_ntc.errors import InputError

_RED, _GREEN, _BLUE = range(3)
_BLOCK = 32  # sites a side
_SMOOTH, _MEAN = 1.0, 9  # sites: the deviation of a Gaussian; a side over which local means are taken
_BAND = 512  # rows whose green is estimated at once
_SPLINE = 3  # the order of splines between samples that are moved; lines are enough to find shifts
_ROUNDS = 3  # the slope tells small shifts; larger ones are come closer to

# Blocks that say something: red follows green this well, and by at least this factor; and how many it takes.
_ALIKE, _LEAST_FACTOR, _LEAST_BLOCKS = 0.9, 0.1, 12

_EXACT = 1e-6  # a share that is never explained: blocks without any noise do not count alone

# Shifts at the corner, in pixels: smaller ones are left alone, larger ones are no lens's.
_SMALLEST, _LARGEST = 0.3, 8.0


#: How far a colour lies from where green shows the same, down and across, at rows and columns of pixels.
FindOffsets: TypeAlias = Callable[[Float64, Float64, int], tuple[Float64, Float64]]


@dataclass(frozen=True, slots=True)
class Fringes:
    """How much larger red and blue are drawn than green, as shares; and what is stated beside."""

    red: float = 0.0
    blue: float = 0.0
    stated: FindOffsets | None = None

    @property
    def any(self) -> bool:
        """Whether there are some."""
        return self.red != 0 or self.blue != 0 or self.stated is not None

    def find_offsets(self, place: tuple[slice, slice], shape: tuple[int, ...], channel: int) -> Float64:
        """How far a colour lies off green at its sites, (2, rows, columns)."""
        scale = {_RED: self.red, _BLUE: self.blue}[channel]
        rows, columns = _sites_of(place, shape)
        middle = [(length - 1) / 2 for length in shape]
        offsets = scale * np.stack(np.broadcast_arrays(rows - middle[0], columns - middle[1]))
        if self.stated is not None:
            down, across = np.broadcast_arrays(rows, columns)
            offsets = offsets + np.stack(self.stated(down, across, channel))
        return np.asarray(offsets)


def find_fringes(mosaic: Float32, cfa: Cfa, stated: FindOffsets | None = None) -> Fringes:
    """The fringes of a Bayer mosaic, (height, width) of balanced light, beside those that are stated.

    There are none where they cannot be told.
    """
    _check(cfa)
    green = _interpolate_green(mosaic, cfa)
    red, blue = (_scale(mosaic, green, cfa, channel, stated) for channel in (_RED, _BLUE))
    return Fringes(red, blue, stated)


def correct_fringes(
    mosaic: Float32, cfa: Cfa, fringes: Fringes, levels: tuple[float, ...] | None = None
) -> Float32:
    """The mosaic with red and blue samples as if they had been drawn as large as green.

    It serves best under a curve like that of sRGB. Samples from the levels of red, green and blue on are
    saturated, and stay as they are where they are moved to; others do not exceed the levels.
    """
    _check(cfa)
    mended, green = mosaic.copy(), _estimate_green(mosaic, cfa)
    for channel, scale in ((_RED, fringes.red), (_BLUE, fringes.blue)):
        if scale or fringes.stated is not None:
            place = _sites(cfa, channel)
            offsets = fringes.find_offsets(place, mosaic.shape, channel)
            level = np.inf if levels is None else levels[channel]
            mended[place] = _put_back(mosaic[place], green, place, offsets, level, _SPLINE)
    return mended


def _check(cfa: Cfa) -> None:
    """Refuse other arrays: their red and blue sites form no grids."""
    if not cfa.is_bayer:
        raise InputError("colour fringes are looked for in Bayer arrays only; leave them as they are")


def _sites(cfa: Cfa, channel: int) -> tuple[slice, slice]:
    """The places of a colour that occurs once in a period."""
    (y,), (x,) = np.nonzero(cfa.pattern == channel)
    return slice(int(y), None, 2), slice(int(x), None, 2)


def _interpolate_green(mosaic: Float32, cfa: Cfa) -> Float32:
    """Green everywhere: where it was not measured, the mean of its four neighbours."""
    from scipy.ndimage import convolve  # noqa: PLC0415 (slow to load; hardly needed)

    known = np.resize(cfa.pattern == _GREEN, (2, 2))
    known = np.tile(known, (-(-mosaic.shape[0] // 2), -(-mosaic.shape[1] // 2)))[
        : mosaic.shape[0], : mosaic.shape[1]
    ]
    cross = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], np.float32) / 4
    around = convolve(np.where(known, mosaic, 0).astype(np.float32), cross, mode="mirror")
    return np.where(known, mosaic, around).astype(np.float32)


def _estimate_green(mosaic: Float32, cfa: Cfa) -> Float32:
    """Green everywhere, along edges, in bands of rows that see some more."""
    green, height = np.empty_like(mosaic), len(mosaic)
    for top in range(0, height, _BAND):
        band, seen, inner = span(top, min(top + _BAND, height), HALO, cfa.period[0], height)
        green[band] = zhang_wu2005(mosaic[seen], cfa)[inner][..., _GREEN]
    return green


def _scale(mosaic: Float32, green: Float32, cfa: Cfa, channel: int, stated: FindOffsets | None) -> float:
    """How much larger a colour is drawn than green; 0 where that cannot be told or cannot be seen."""
    place = _sites(cfa, channel)
    corner = float(np.hypot(*mosaic.shape)) / 2
    found = 0.0
    for _ in range(_ROUNDS):
        fringes = Fringes(found, found, stated)
        samples = mosaic[place]
        if fringes.any:
            samples = _put_back(samples, green, place, fringes.find_offsets(place, mosaic.shape, channel))
        found -= _step(samples, green[place], place, mosaic.shape)
        if abs(found) * corner > _LARGEST:
            return 0.0
    return found if abs(found) * corner > _SMALLEST else 0.0


def _step(samples: Float32, green: Float32, place: tuple[slice, slice], shape: tuple[int, ...]) -> float:
    """How much smaller a colour is, as slopes of blocks tell: the median, weighted by how much they know."""
    from scipy.ndimage import gaussian_filter, uniform_filter  # noqa: PLC0415 (see above)

    if (green.shape[0] // _BLOCK) * (green.shape[1] // _BLOCK) < _LEAST_BLOCKS:
        return 0.0
    down, across = np.gradient(green, 2.0)  # sites are two pixels apart
    rows, columns = (
        (site - (length - 1) / 2).astype(np.float32)
        for site, length in zip(_sites_of(place, shape), shape, strict=True)
    )
    terms = [samples, green, rows * down + columns * across]
    terms = [gaussian_filter(term, _SMOOTH) - uniform_filter(term, _MEAN) for term in terms]
    red, base, slope = (_blocks(term) for term in terms)
    bb, bs, ss = (base * base).sum(axis=1), (base * slope).sum(axis=1), (slope * slope).sum(axis=1)
    br, sr, rr = (base * red).sum(axis=1), (slope * red).sum(axis=1), (red * red).sum(axis=1)
    determinant = bb * ss - bs * bs
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = (ss * br - bs * sr) / determinant
        shift = (bb * sr - bs * br) / determinant
        explained = (factor * br + shift * sr) / rr
        scales, weights = shift / factor, ss * factor**2 / (rr * np.maximum(1 - explained, _EXACT))
    usable = np.isfinite(scales) & (explained > _ALIKE) & (factor > _LEAST_FACTOR)
    if usable.sum() < _LEAST_BLOCKS:
        return 0.0
    # Colours of things differ from block to block, beside all noise: none knows a shift better than most.
    squares = _blocks(np.broadcast_to(np.square(rows) + np.square(columns), green.shape)).mean(axis=1)[usable]
    known = weights[usable] / squares
    return _find_weighted_median(scales[usable], np.minimum(known, np.median(known)) * squares)


def _sites_of(place: tuple[slice, slice], shape: tuple[int, ...]) -> tuple[Float64, Float64]:
    """Rows and columns of the sites, as a column and a row."""
    rows, columns = (np.arange(part.start, length, 2.0) for part, length in zip(place, shape, strict=True))
    return rows[:, None], columns[None, :]


def _blocks(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """Whole blocks of a plane, (blocks, sites)."""
    height, width = (length // _BLOCK * _BLOCK for length in values.shape)
    cut = (
        values[:height, :width].astype(np.float64).reshape(height // _BLOCK, _BLOCK, width // _BLOCK, _BLOCK)
    )
    return cut.swapaxes(1, 2).reshape(-1, _BLOCK * _BLOCK)


def _find_weighted_median(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """The value with half of the weight below it."""
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, total[-1] / 2)])


def _put_back(
    samples: Float32,
    green: Float32,
    place: tuple[slice, slice],
    offsets: Float64,
    level: float = np.inf,
    order: int = 1,
) -> Float32:
    """Samples of a colour as green would see them, by their difference to green, with splines of an order."""
    from scipy.ndimage import map_coordinates  # noqa: PLC0415 (see above)

    sites = np.stack(np.broadcast_arrays(*_sites_of(place, green.shape)))
    difference = samples - map_coordinates(green, sites - offsets, order=order, mode="nearest")
    shown = (sites + offsets - np.array([part.start for part in place])[:, None, None]) / 2
    moved = green[place] + map_coordinates(difference, shown, order=order, mode="nearest")
    if np.isfinite(level):
        nearest = map_coordinates(samples, shown, order=0, mode="nearest")
        moved = np.where(nearest >= level, nearest, np.minimum(moved, level))
    return np.asarray(moved, dtype=np.float32)
