"""Lateral chromatic aberration: red and blue drawn a little larger or smaller than green, and corrected.

Towards the corners of a picture, what green shows at p, red shows at p + s (p − centre). Red follows green
locally, R ≈ k G, so a shift shows as R ≈ k (G + s r·∇G) with r = p − centre: in every block of the red sites
the regression of R on G and r·∇G, both without their local means, gives an estimate of s, and their weighted
median is taken. Blue alike. Red is then corrected by its difference to green, which is smooth: R(p) = G(p) +
(R − G)(where red shows p).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.errors import InputError

_RED, _GREEN, _BLUE = range(3)
_BLOCK = 32  # sites a side
_MEAN = 5  # sites a side, over which local means are taken
_ROUNDS = 3  # the slope tells small shifts; larger ones are come closer to

# Blocks that say something: red follows green this well, and by at least this factor; and how many it takes.
_ALIKE, _LEAST_FACTOR, _LEAST_BLOCKS = 0.5, 0.1, 12

# Shifts at the corner, in pixels: smaller ones are left alone, larger ones are no lens's.
_SMALLEST, _LARGEST = 0.3, 8.0


@dataclass(frozen=True, slots=True)
class Fringes:
    """How much larger red and blue are drawn than green, as shares."""

    red: float = 0.0
    blue: float = 0.0

    @property
    def any(self) -> bool:
        """Whether there are some."""
        return self.red != 0 or self.blue != 0


def find_fringes(mosaic: Float32, cfa: Cfa) -> Fringes:
    """The fringes of a Bayer mosaic, (height, width) of balanced light; none where they cannot be told."""
    _check(cfa)
    green = _interpolate_green(mosaic, cfa)
    return Fringes(*(_scale(mosaic, green, cfa, channel) for channel in (_RED, _BLUE)))


def correct_fringes(mosaic: Float32, cfa: Cfa, fringes: Fringes) -> Float32:
    """The mosaic with red and blue samples as if they had been drawn as large as green."""
    _check(cfa)
    mended, green = mosaic.copy(), _interpolate_green(mosaic, cfa)
    for channel, scale in ((_RED, fringes.red), (_BLUE, fringes.blue)):
        if scale:
            place = _sites(cfa, channel)
            mended[place] = _put_back(mosaic[place], green, place, scale)
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


def _scale(mosaic: Float32, green: Float32, cfa: Cfa, channel: int) -> float:
    """How much larger a colour is drawn than green; 0 where that cannot be told or cannot be seen."""
    place = _sites(cfa, channel)
    corner = float(np.hypot(*mosaic.shape)) / 2
    found, samples = 0.0, mosaic[place]
    for _ in range(_ROUNDS):
        found += _step(samples, green[place], place, mosaic.shape)
        if abs(found) * corner > _LARGEST:
            return 0.0
        samples = _put_back(mosaic[place], green, place, found)
    return found if abs(found) * corner > _SMALLEST else 0.0


def _step(samples: Float32, green: Float32, place: tuple[slice, slice], shape: tuple[int, ...]) -> float:
    """The scale that the slopes of blocks tell, as the median weighted by how much they know."""
    from scipy.ndimage import uniform_filter  # noqa: PLC0415 (see above)

    if (green.shape[0] // _BLOCK) * (green.shape[1] // _BLOCK) < _LEAST_BLOCKS:
        return 0.0
    down, across = np.gradient(green, 2.0)  # sites are two pixels apart
    rows, columns = _radii(green.shape, place, shape)
    terms = [samples, green, rows * down + columns * across]
    terms = [term - uniform_filter(term, _MEAN) for term in terms]
    red, base, slope = (_blocks(term.astype(np.float64)) for term in terms)
    bb, bs, ss = (base * base).sum(axis=1), (base * slope).sum(axis=1), (slope * slope).sum(axis=1)
    br, sr, rr = (base * red).sum(axis=1), (slope * red).sum(axis=1), (red * red).sum(axis=1)
    determinant = bb * ss - bs * bs
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = (ss * br - bs * sr) / determinant
        shift = (bb * sr - bs * br) / determinant
        explained = (factor * br + shift * sr) / rr
        scales, weights = shift / factor, ss * factor**2
    usable = np.isfinite(scales) & (explained > _ALIKE) & (factor > _LEAST_FACTOR)
    if usable.sum() < _LEAST_BLOCKS:
        return 0.0
    return _find_weighted_median(scales[usable], weights[usable])


def _radii(
    size: tuple[int, ...], place: tuple[slice, slice], shape: tuple[int, ...]
) -> tuple[Float32, Float32]:
    """Rows and columns of the sites, in pixels from the centre of the picture."""
    rows = place[0].start + 2 * np.arange(size[0], dtype=np.float32)[:, None] - (shape[0] - 1) / 2
    columns = place[1].start + 2 * np.arange(size[1], dtype=np.float32)[None, :] - (shape[1] - 1) / 2
    return rows.astype(np.float32), columns.astype(np.float32)


def _blocks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Whole blocks of a plane, (blocks, sites)."""
    height, width = (length // _BLOCK * _BLOCK for length in values.shape)
    cut = values[:height, :width].reshape(height // _BLOCK, _BLOCK, width // _BLOCK, _BLOCK)
    return cut.swapaxes(1, 2).reshape(-1, _BLOCK * _BLOCK)


def _find_weighted_median(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """The value with half of the weight below it."""
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, total[-1] / 2)])


def _put_back(samples: Float32, green: Float32, place: tuple[slice, slice], scale: float) -> Float32:
    """Samples of a colour as green would see them, by their difference to green."""
    from scipy.ndimage import map_coordinates  # noqa: PLC0415 (see above)

    rows, columns = _radii(samples.shape, place, green.shape)
    middle = [(length - 1) / 2 for length in green.shape]
    seen = np.broadcast_arrays(middle[0] + (1 + scale) * rows, middle[1] + (1 + scale) * columns)
    difference = samples - map_coordinates(green, np.stack(seen), order=1, mode="nearest")
    shown = np.broadcast_arrays(
        (middle[0] + (1 - scale) * rows - place[0].start) / 2,
        (middle[1] + (1 - scale) * columns - place[1].start) / 2,
    )
    moved = map_coordinates(difference, np.stack(shown), order=1, mode="nearest")
    return np.asarray(green[place] + moved, dtype=np.float32)
