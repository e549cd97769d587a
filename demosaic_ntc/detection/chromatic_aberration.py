"""Lateral chromatic aberration: red and blue drawn a little larger or smaller than green, and corrected.

What green shows at p, red shows at p + d(p): d = k (p − centre) where red is drawn larger by the share k, and
what a file states beside. Red follows green locally, R ≈ a G, so k shows as R ≈ a (G − k r·∇G) with
r = p − centre: in every block of the red sites the regression of R on G and r·∇G gives an estimate of k, and
the median of those is taken, weighted by the inverse of their variance. All are smoothed, since green at red
sites is a mean of its neighbours, and without their local means. Blue alike. Of large pictures, windows far
out with the strongest gradients are looked at, since they know most.

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
from demosaic_ntc.demosaicing.interpolation.bayer import LMMSE_HALO, estimate_green
from demosaic_ntc.detection.spline_kernels import read_splines
from demosaic_ntc.engine.tiles import span
from demosaic_ntc.errors import InputError

_RED, _GREEN, _BLUE = range(3)
_BLOCK = 32  # sites a side
_SMOOTH, _MEAN = 1.0, 9  # sites: the deviation of a Gaussian; a side over which local means are taken
_WINDOW, _WINDOWS = 8 * _BLOCK, 48  # pixels a side, and how many are looked at
_SEEN = 24  # pixels around a window: the reach of filters, and the largest shift
_NODE = 16.0  # pixels between places at which stated offsets are computed
_BAND = 512  # rows whose green is estimated at once
_ROUNDS, _ENOUGH = 3, 0.1  # the slope tells small shifts; larger ones are come closer to (pixels)

# Blocks that say something: red follows green this well, and by at least this factor; and how many it takes.
_ALIKE, _LEAST_FACTOR, _LEAST_BLOCKS = 0.9, 0.1, 12

_EXACT = 1e-6  # a share that is never explained: blocks without any noise do not count alone

# Shifts at the corner, in pixels: smaller ones are left alone, larger ones are no lens's.
_SMALLEST, _LARGEST = 0.3, 8.0


#: How far a colour lies from where green shows the same, down and across, at rows and columns of pixels.
FindOffsets: TypeAlias = Callable[[Float64, Float64, int], tuple[Float64, Float64]]

#: A plane at rows and columns, (2, height, width), between its samples.
Read: TypeAlias = Callable[[Float64], Float32]


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

    def find_offsets(self, rows: Float64, columns: Float64, shape: tuple[int, ...], channel: int) -> Float64:
        """How far a colour lies off green in rows and columns of a picture, (2, rows, columns).

        Computed at nodes, and bilinear between them.
        """
        y, x = (np.arange(each[0], each[-1] + 2 * _NODE, _NODE) for each in (rows, columns))
        down, across = np.meshgrid(y, x, indexing="ij")
        scale = {_RED: self.red, _BLUE: self.blue}[channel]
        offsets = scale * np.stack([down - (shape[0] - 1) / 2, across - (shape[1] - 1) / 2])
        if self.stated is not None:
            offsets += np.stack(self.stated(down, across, channel))
        offsets = _go_between(offsets, (columns - columns[0]) / _NODE, 2)
        return _go_between(offsets, (rows - rows[0])[:, None] / _NODE, 1)


def _go_between(values: Float64, places: Float64, axis: int) -> Float64:
    """Values at places between nodes along an axis, linear."""
    node = np.floor(places)
    lower, upper = (values.take(node.astype(np.intp).ravel() + n, axis) for n in (0, 1))
    upper -= lower
    upper *= places - node
    upper += lower
    return upper


@dataclass(frozen=True, slots=True)
class _Window:
    """A part of a mosaic with its surroundings, from an even row and column on, and green everywhere."""

    mosaic: Float32
    green: Float32
    origin: tuple[int, int]
    core: tuple[slice, slice]  # of the sites of a colour: the part without surroundings


@dataclass(frozen=True, slots=True)
class _Sight:
    """What a window shows of a colour: green and its slope in blocks, and where its sites are."""

    samples: Float32
    window: _Window
    place: tuple[slice, slice]
    rows: Float64
    columns: Float64
    base: Float64
    slope: Float64
    squares: Float64  # of the distance from the centre, means of blocks


def find_fringes(mosaic: Float32, cfa: Cfa, stated: FindOffsets | None = None) -> Fringes:
    """The fringes of a Bayer mosaic, (height, width) of balanced light, beside those that are stated.

    There are none where they cannot be told.
    """
    _check(cfa)
    windows = [_cut_window(mosaic, cfa, place) for place in _choose_windows(mosaic, cfa)]
    red, blue = (
        _scale([_look(each, mosaic.shape, cfa, channel) for each in windows], mosaic.shape, channel, stated)
        for channel in (_RED, _BLUE)
    )
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
    read_green = _spline(green)
    for channel, scale in ((_RED, fringes.red), (_BLUE, fringes.blue)):
        if scale or fringes.stated is not None:
            place = _sites(cfa, channel)
            offsets = fringes.find_offsets(*_sites_of(place, mosaic.shape), mosaic.shape, channel)
            level = np.inf if levels is None else levels[channel]
            mended[place] = _put_back(mosaic[place], green[place], place, offsets, read_green, _spline, level)
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
        band, seen, inner = span(top, min(top + _BAND, height), LMMSE_HALO, cfa.period[0], height)
        green[band] = estimate_green(mosaic[seen], cfa)[inner]
    return green


def _choose_windows(mosaic: Float32, cfa: Cfa) -> list[tuple[int, int]]:
    """The first rows and columns of those windows that know most of shifts along the radius."""
    least = 2 * _BLOCK
    tops, lefts = (range(0, length - least + 1, _WINDOW) for length in mosaic.shape)
    places = [(top, left) for top in tops for left in lefts]
    if len(places) <= _WINDOWS:
        return places
    (y, *_), (x, *_) = np.nonzero(cfa.pattern == _GREEN)
    middle = [(length - _WINDOW) / 2 for length in mosaic.shape]

    def measure(place: tuple[int, int]) -> float:
        top, left = place
        green = mosaic[top + y : top + _WINDOW : 2, left + x : left + _WINDOW : 2]
        steps = np.abs(np.diff(green, axis=0)).mean() + np.abs(np.diff(green, axis=1)).mean()
        return float(steps * np.hypot(top - middle[0], left - middle[1]))

    return sorted(sorted(places, key=measure)[-_WINDOWS:])


def _cut_window(mosaic: Float32, cfa: Cfa, place: tuple[int, int]) -> _Window:
    """The window at a place, and green in it."""
    origin = max(place[0] - _SEEN, 0), max(place[1] - _SEEN, 0)
    part = mosaic[
        origin[0] : place[0] + _WINDOW + _SEEN,
        origin[1] : place[1] + _WINDOW + _SEEN,
    ]
    first = [(start - own) // 2 for start, own in zip(place, origin, strict=True)]
    core = slice(first[0], first[0] + _WINDOW // 2), slice(first[1], first[1] + _WINDOW // 2)
    return _Window(part, _interpolate_green(part, cfa), origin, core)


def _look(window: _Window, shape: tuple[int, ...], cfa: Cfa, channel: int) -> _Sight:
    """What a window shows of a colour."""
    place = _sites(cfa, channel)
    rows, columns = _sites_of(place, window.mosaic.shape, window.origin)
    y, x = rows - (shape[0] - 1) / 2, columns - (shape[1] - 1) / 2
    green = window.green[place]
    down, across = np.gradient(green, 2.0)  # sites are two pixels apart
    slope = y[:, None].astype(np.float32) * down + x.astype(np.float32) * across
    squares = _blocks((np.square(y)[:, None] + np.square(x))[window.core]).mean(axis=1)
    base, slope = (_blocks(_filter(each)[window.core]) for each in (green, slope))
    return _Sight(window.mosaic[place], window, place, rows, columns, base, slope, squares)


def _filter(plane: Float32) -> Float32:
    """A plane smoothed, without its local means."""
    from scipy.ndimage import gaussian_filter, uniform_filter  # noqa: PLC0415 (see above)

    return np.asarray(gaussian_filter(plane, _SMOOTH) - uniform_filter(plane, _MEAN))


def _scale(sights: list[_Sight], shape: tuple[int, ...], channel: int, stated: FindOffsets | None) -> float:
    """How much larger a colour is drawn than green; 0 where that cannot be told or cannot be seen."""
    corner = float(np.hypot(shape[0], shape[1])) / 2
    found = 0.0
    for _ in range(_ROUNDS):
        fringes = Fringes(found, found, stated)
        step = _step(sights, [_put_window_back(each, fringes, shape, channel) for each in sights])
        found -= step
        if abs(found) * corner > _LARGEST:
            return 0.0
        if abs(step) * corner < _ENOUGH:
            break
    return found if abs(found) * corner > _SMALLEST else 0.0


def _put_window_back(sight: _Sight, fringes: Fringes, shape: tuple[int, ...], channel: int) -> Float64:
    """The samples of a window as green would see them, filtered, in blocks."""
    samples, green = sight.samples, sight.window.green
    if fringes.any:
        offsets = fringes.find_offsets(sight.rows, sight.columns, shape, channel)
        samples = _put_back(samples, green[sight.place], sight.place, offsets, _line(green), _line)
    return _blocks(_filter(samples)[sight.window.core])


def _step(sights: list[_Sight], samples: list[Float64]) -> float:
    """How much smaller a colour is, as slopes of blocks tell: the median, weighted by how much they know."""
    found = [_regress(own, each.base, each.slope) for own, each in zip(samples, sights, strict=True)]
    if not found:
        return 0.0
    scales, weights, explained, factor = (np.concatenate(each) for each in zip(*found, strict=True))
    usable = np.isfinite(scales) & (explained > _ALIKE) & (factor > _LEAST_FACTOR)
    if usable.sum() < _LEAST_BLOCKS:
        return 0.0
    # Colours of things differ from block to block, beside all noise: none knows a shift better than most.
    squares = np.concatenate([each.squares for each in sights])[usable]
    known = weights[usable] / squares
    return _find_weighted_median(scales[usable], np.minimum(known, np.median(known)) * squares)


def _regress(red: Float64, base: Float64, slope: Float64) -> tuple[Float64, Float64, Float64, Float64]:
    """Red on green and its slope in each block: share, weight, what is explained, and the factor of green."""
    bb, bs, ss = (base * base).sum(axis=1), (base * slope).sum(axis=1), (slope * slope).sum(axis=1)
    br, sr, rr = (base * red).sum(axis=1), (slope * red).sum(axis=1), (red * red).sum(axis=1)
    determinant = bb * ss - bs * bs
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = (ss * br - bs * sr) / determinant
        shift = (bb * sr - bs * br) / determinant
        explained = (factor * br + shift * sr) / rr
        weights = ss * factor**2 / (rr * np.maximum(1 - explained, _EXACT))
        return shift / factor, weights, explained, factor


def _sites_of(
    place: tuple[slice, slice], shape: tuple[int, ...], origin: tuple[int, int] = (0, 0)
) -> tuple[Float64, Float64]:
    """Rows and columns of the sites in a part of a picture that starts at an origin."""
    rows, columns = (
        np.arange(part.start, length, 2.0) + first
        for part, length, first in zip(place, shape, origin, strict=True)
    )
    return rows, columns


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
    read_green: Read,
    interpolate: Callable[[Float32], Read],
    level: float = np.inf,
) -> Float32:
    """Samples of a colour as green at its sites would see them, by their difference to green."""
    y, x = np.arange(len(samples))[:, None], np.arange(samples.shape[1])
    own = 2 * y + place[0].start - offsets[0], 2 * x + place[1].start - offsets[1]
    difference = samples - read_green(np.stack(own))
    shown = np.stack([y + offsets[0] / 2, x + offsets[1] / 2])
    moved = green + interpolate(difference)(shown)
    if (samples >= level).any():
        rows, columns = (
            np.clip(np.rint(each), 0, length - 1) for each, length in zip(shown, samples.shape, strict=True)
        )
        nearest = samples.take((rows * samples.shape[1] + columns).astype(np.intp))
        moved = np.where(nearest >= level, nearest, moved)
    return np.asarray(np.minimum(moved, np.float32(level)))


def _line(plane: Float32) -> Read:
    """What reads a plane linearly, to find shifts: splines through means of neighbours make them smaller."""
    from scipy.ndimage import map_coordinates  # noqa: PLC0415 (see above)

    return lambda places: np.asarray(map_coordinates(plane, places, order=1, mode="nearest"))


def _spline(plane: Float32) -> Read:
    """What reads a plane by cubic splines, to move samples."""
    from scipy.ndimage import spline_filter  # noqa: PLC0415 (see above)

    splines = spline_filter(plane, 3, output=np.float32)

    def read(places: Float64) -> Float32:
        values = np.empty(places.shape[1:], np.float32)
        read_splines(splines, places, values)
        return values

    return read
