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

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32, Float64
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.interpolation.bayer import LMMSE_HALO, estimate_green
from demosaic_ntc.demosaicing.interpolation.kernels import filter_separably, gaussian
from demosaic_ntc.detection.spline_kernels import SITES, add_between, filter_splines, subtract_between
from demosaic_ntc.engine.tiles import span
from demosaic_ntc.errors import InputError
from demosaic_ntc.run import imap_threads

_RED, _GREEN, _BLUE = range(3)
_BLOCK = 32  # sites a side
_MEAN = 9  # sites: a side over which local means are taken
_SMOOTHING, _AVERAGING = gaussian(1.0, -4, 4), np.full(_MEAN, 1 / _MEAN, np.float32)
_WINDOW, _WINDOWS = 8 * _BLOCK, 48  # pixels a side, and how many are looked at
_SEEN = 24  # pixels around a window: the reach of filters, and the largest shift
_NODE = 2 * SITES  # pixels between places at which offsets are computed
_BAND, _GREEN_BAND = 48 * _NODE, 128  # rows that are moved together, and whose green is estimated at once
# Rows around a band beside twice its offsets: of green's estimate, and of both splines, which fade by 4e-5.
_MARGIN = LMMSE_HALO + 10 + 2 * 10
_ROUNDS, _ENOUGH = 3, 0.1  # the slope tells small shifts; larger ones are come closer to (pixels)

# Blocks that say something: red follows green this well, and by at least this factor; and how many it takes.
_ALIKE, _LEAST_FACTOR, _LEAST_BLOCKS = 0.9, 0.1, 12

_EXACT = 1e-6  # a share that is never explained: blocks without any noise do not count alone

# Shifts at the corner, in pixels: smaller ones are left alone, larger ones are no lens's.
_SMALLEST, _LARGEST = 0.3, 8.0


#: How far a colour lies from where green shows the same, down and across, at rows and columns of pixels.
FindOffsets: TypeAlias = Callable[[Float64, Float64, int], tuple[Float64, Float64]]

#: Some rows of a mosaic, (rows, width).
ReadRows: TypeAlias = Callable[[slice], Float32]


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

    def find_nodes(self, rows: Float64, columns: Float64, shape: tuple[int, ...], channel: int) -> Float64:
        """How far a colour lies off green at nodes, (2, down, across), from the first of rows and columns on.

        One lies beyond the last of them: between nodes offsets are linear.
        """
        y, x = (np.arange(each[0], each[-1] + 2 * _NODE, _NODE) for each in (rows, columns))
        down, across = np.meshgrid(y, x, indexing="ij")
        scale = {_RED: self.red, _BLUE: self.blue}[channel]
        offsets = scale * np.stack([down - (shape[0] - 1) / 2, across - (shape[1] - 1) / 2])
        if self.stated is not None:
            offsets += np.stack(self.stated(down, across, channel))
        return offsets


@dataclass(frozen=True, slots=True, eq=False)
class _Moves:
    """How samples of a colour are moved: where they are, their offsets at nodes, and where they saturate."""

    place: tuple[slice, slice]
    nodes: Float64
    level: float = np.inf

    def cut(self, first: int) -> "_Moves":
        """The same from a row of nodes on."""
        return _Moves(self.place, np.ascontiguousarray(self.nodes[:, first // _NODE :]), self.level)

    def move(self, mosaic: Float32, green: Float32, read: Float32, is_cubic: bool) -> Float32:
        """Samples as green at their sites would see them, by their difference to green.

        Green is read between its samples, or coefficients.
        """
        samples, own = (np.ascontiguousarray(each[self.place]) for each in (mosaic, green))
        difference, moved = np.empty_like(samples), np.empty_like(samples)
        first = np.array([float(part.start) for part in self.place])
        subtract_between(read, samples, self.nodes, first, float(is_cubic), difference)
        if is_cubic:
            filter_splines(difference)
        add_between(difference, own, samples, self.nodes, float(is_cubic), np.float32(self.level), moved)
        return moved


@dataclass(frozen=True, slots=True, eq=False)
class MovedRows:
    """A mosaic whose red and blue samples are moved, some rows at a time."""

    read: ReadRows  # best under a curve like that of sRGB
    cfa: Cfa
    shape: tuple[int, ...]
    moves: tuple[_Moves, ...]

    @classmethod
    def of(
        cls,
        read: ReadRows,
        shape: tuple[int, ...],
        cfa: Cfa,
        fringes: Fringes,
        levels: tuple[float, ...] | None = None,
    ) -> "MovedRows":
        """The mosaic as if red and blue had been drawn as large as green.

        Samples from the levels of red, green and blue on are saturated, and stay as they are where they are
        moved to; others do not exceed the levels.
        """
        _check(cfa)
        moves = list[_Moves]()
        for channel, scale in ((_RED, fringes.red), (_BLUE, fringes.blue)):
            if scale or fringes.stated is not None:
                place = _sites(cfa, channel)
                nodes = fringes.find_nodes(*_sites_of(place, shape), shape, channel)
                moves.append(_Moves(place, nodes, np.inf if levels is None else levels[channel]))
        return cls(read, cfa, shape, tuple(moves))

    @property
    def bands(self) -> list[slice]:
        """The rows, some at a time."""
        height = self.shape[0]
        return [slice(top, min(top + _BAND, height)) for top in range(0, height, _BAND)]

    def move(self, band: slice) -> Iterator[tuple[tuple[slice, slice], Float32]]:
        """The places of red and blue in a band, and their samples."""
        height = self.shape[0]
        reach = max((float(np.abs(each.nodes[0]).max()) for each in self.moves), default=0.0)
        margin = _MARGIN + 2 * int(np.ceil(reach) if reach < height else height)
        _, seen, inner = span(band.start, band.stop, margin, _NODE, height)
        mosaic = self.read(seen)
        green = _estimate_green(mosaic, self.cfa)
        splines = green.copy()
        filter_splines(splines)
        for each in self.moves:
            moved = each.cut(seen.start).move(mosaic, green, splines, is_cubic=True)
            sites = slice(inner.start // 2, -(-(inner.stop - each.place[0].start) // 2))
            yield each.place, moved[sites]


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


def find_fringes(mosaic: Float32, cfa: Cfa, stated: FindOffsets | None = None, threads: int = 1) -> Fringes:
    """The fringes of a Bayer mosaic, (height, width) of balanced light, beside those that are stated.

    There are none where they cannot be told.
    """
    _check(cfa)
    windows = [_cut_window(mosaic, cfa, place) for place in _choose_windows(mosaic, cfa)]

    def scale(channel: int) -> float:
        sights = [_look(each, mosaic.shape, cfa, channel) for each in windows]
        return _scale(sights, mosaic.shape, channel, stated)

    red, blue = imap_threads(scale, (_RED, _BLUE), threads)
    return Fringes(red, blue, stated)


def correct_fringes(
    mosaic: Float32, cfa: Cfa, fringes: Fringes, levels: tuple[float, ...] | None = None
) -> Float32:
    """The mosaic with red and blue samples as if they had been drawn as large as green: see `MovedRows`."""
    mended = mosaic.copy()
    rows = MovedRows.of(lambda rows: mosaic[rows], mosaic.shape, cfa, fringes, levels)
    for band in rows.bands if rows.moves else ():
        for place, moved in rows.move(band):
            mended[band][place] = moved
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
    wide, green = np.pad(mosaic, 1, mode="reflect"), mosaic.copy()
    around = (wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]) * np.float32(0.25)
    for channel in (_RED, _BLUE):
        place = _sites(cfa, channel)
        green[place] = around[place]
    return green


def _estimate_green(mosaic: Float32, cfa: Cfa) -> Float32:
    """Green everywhere, along edges, in bands of rows that see some more."""
    green, height = np.empty_like(mosaic), len(mosaic)
    for top in range(0, height, _GREEN_BAND):
        band, seen, inner = span(top, min(top + _GREEN_BAND, height), LMMSE_HALO, cfa.period[0], height)
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
    wide = np.pad(plane, _MEAN // 2, mode="symmetric")
    inner = (slice(_MEAN // 2, -(_MEAN // 2)),) * 2
    smooth, mean = (filter_separably(wide, taps, taps) for taps in (_SMOOTHING, _AVERAGING))
    return np.asarray((smooth - mean)[inner])


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
    samples, window = sight.samples, sight.window
    if fringes.any:  # linear: splines through means of neighbours make shifts smaller
        moves = _Moves(sight.place, fringes.find_nodes(sight.rows, sight.columns, shape, channel))
        samples = moves.move(window.mosaic, window.green, window.green, is_cubic=False)
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
