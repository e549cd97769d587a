"""Where a noisy mosaic shows nothing but its noise: there a mean over the surroundings says all.

Each sample is compared with the mean of its colour around it, under a Gaussian. What it deviates by, squared
and divided by the variance that noise leaves of such a difference, is 1 on the average if nothing but noise
is there. A place is calm where the average over a window, of each colour and of all, exceeds 1 by no more
than chance would have it, and where it is not far below, either: then the noise is less than was said, and
more of what is seen than chance allows may be texture. Over a large picture chance has its peaks: what
exceeds its bounds by little counts only close to what exceeds them by far, or such peaks would be left as
islands of noise in an even sky.

Samples are looked at in cells of two by two pixels, which share a mean: what is calm is smooth, and a quarter
of the places is enough to tell.

Colours are averaged over wider surroundings than brightness, for blotches are wider than grain. Where that
moves them by more than chance there is an edge between colours, and the place is not calm.
"""

from collections.abc import Iterable

import numpy as np

from demosaic_ntc.arrays import Flags, Float32, Planes
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.interpolation.kernels import filter_separably, gaussian
from demosaic_ntc.demosaicing.superpixels import centre_means
from demosaic_ntc.engine.tiles import Tile, Windowed, WritableWindowed, close_to, tiles_of
from demosaic_ntc.run import Run

_CELL = 2  # pixels along a cell: samples of a colour in a cell are compared with one mean
_WIDTH, _REACH = 2.5, 7  # cells: standard deviation of the Gaussian, and where it ends
_WINDOW = 4  # cells from the middle of the window to its sides
_RIM = 1  # cells around what is not calm that are not, either
_CHANCE, _BEYOND_CHANCE = 2.0, 4.5  # standard deviations that an average exceeds its expectation by
_CLOSE = 6  # cells from what is beyond chance
_COLOUR_WIDTH, _COLOUR_REACH = 4.0, 9  # cells
_MOVED = 2.5  # standard deviations of a mean that its colour may move by
_LEAST = 0.6  # of its expectation
_BETWEEN = 2  # cells: a mean is moved to the middle of its cell, and read between those
HALO = _CELL * (_REACH + 2 * _WINDOW + _CLOSE + _RIM + _COLOUR_REACH + _BETWEEN)  # pixels
_SIDE = 1024  # of a tile
_FINE = 4096  # steps of the level at which the variance of noise is looked up


def settle_calm(
    planes: WritableWindowed,
    samples: Windowed,
    cfa: Cfa | None,
    noise: Float32,
    strength: float,
    run: Run,
) -> Flags:
    """Write means where nothing but noise is seen, in place, and return the flags of these pixels.

    What is not looked at by the deadline stays as it is.

    ``planes`` are the estimate (channels, height, width), ``samples`` its noisy mosaic (1, height, width), or
    without an array noisy planes of its shape, ``noise`` their variance at equal steps from level 0 to 1,
    (channels, levels). Up to ``strength`` times that what is seen
    is taken for noise: with more, weak edges would be lost that groups keep.
    """
    shape = samples.shape[1], samples.shape[2]
    calm = np.zeros(shape, np.bool_)

    def settle(tile: Tile) -> None:
        if run.deadline.is_over():
            return
        flags, means = _find_flat(samples[:, *tile.seen], cfa, noise, max(strength, 1.0))
        calm[tile.core] = flags[tile.inner]
        settled = planes[:, *tile.core]
        for plane, mean in zip(settled, means, strict=True):
            np.copyto(plane, mean[tile.inner], where=flags[tile.inner])
        planes[:, *tile.core] = settled

    whole_cells = tuple(int(length) for length in np.lcm(cfa.period if cfa else (1, 1), _CELL))
    tiles = list(tiles_of(shape, HALO, (whole_cells[0], whole_cells[1]), _SIDE))
    run.do(settle, tiles)
    return calm


def _find_flat(seen: Planes, cfa: Cfa | None, noise: Float32, times: float) -> tuple[Flags, list[Float32]]:
    """Return which pixels of a mosaic or of planes are calm, and the means of all colours around them.

    Up to so many ``times`` the variance of noise are taken for noise.
    """
    cells = _cells_of_planes(seen) if cfa is None else _cells(seen[0], cfa)
    calm, means = _find_flat_cells(cells, noise, times, cfa)
    _, height, width = seen.shape
    spread = [_interpolate_cells(mean)[:height, :width] for mean in means]
    return calm.repeat(_CELL, 0).repeat(_CELL, 1)[:height, :width], spread


def _cells(mosaic: Float32, cfa: Cfa) -> list[tuple[Float32, list[Flags]]]:
    """Return the samples at each place in the cells, (rows, columns) of these, and which are of each colour.

    Beyond the border there are none of any.
    """
    padding = [(0, -length % _CELL) for length in mosaic.shape]
    padded = np.pad(mosaic, padding)
    channels = np.pad(cfa.channel_map(mosaic.shape), padding, constant_values=3)
    places = [(slice(y, None, _CELL), slice(x, None, _CELL)) for y, x in np.ndindex(_CELL, _CELL)]
    return [
        (np.ascontiguousarray(padded[place]), [channels[place] == channel for channel in range(3)])
        for place in places
    ]


def _cells_of_planes(planes: Planes) -> list[tuple[Float32, list[Flags]]]:
    """Return the same of planes, which have samples of all colours at all places."""
    padding = [(0, -length % _CELL) for length in planes.shape[1:]]
    inside = np.pad(np.ones(planes.shape[1:], np.bool_), padding)
    cells = []
    for own, plane in enumerate(planes):
        padded = np.pad(plane, padding)
        for y, x in np.ndindex(_CELL, _CELL):
            here = inside[y::_CELL, x::_CELL]
            flags = [here if channel == own else np.zeros_like(here) for channel in range(len(planes))]
            cells.append((np.ascontiguousarray(padded[y::_CELL, x::_CELL]), flags))
    return cells


def _find_flat_cells(
    cells: list[tuple[Float32, list[Flags]]], noise: Float32, times: float, cfa: Cfa | None
) -> tuple[Flags, list[Float32]]:
    """Return which cells are calm, and the means of all colours around their middles."""
    means, doubts = list[Float32](), list[Float32]()
    near, window = gaussian(_WIDTH, -_REACH, _REACH), np.ones(2 * _WINDOW + 1, np.float32)
    shape = cells[0][0].shape
    restless, striking = np.zeros((2, *shape), np.bool_)
    total, count = np.zeros((2, *shape), np.float32)
    for channel, levels in enumerate(noise):
        own = [(values, flags[channel]) for values, flags in cells if flags[channel].any()]
        here = _sum_planes(flags.astype(np.float32) for _, flags in own)
        mass = np.maximum(filter_separably(here, near, near), np.float32(1e-9))
        light = filter_separably(_sum_planes(values * flags for values, flags in own), near, near)
        mean = np.asarray(light / mass, np.float32)
        of_difference, of_mean = _variances(mean, here, mass, near, levels)
        ratio = _sum_planes(np.square(values - mean) * flags for values, flags in own) / of_difference
        seen, samples = filter_separably(ratio, window, window), filter_separably(here, window, window)
        restless |= seen > times * _most(samples, _CHANCE)
        striking |= seen > times * _most(samples, _BEYOND_CHANCE)
        total += seen
        count += samples
        means.append(mean)
        doubts.append(of_mean)
    if cfa is not None:
        means = list(np.moveaxis(centre_means(np.stack(means, axis=2), cfa, _CELL), 2, 0).copy())
    quiet = total < _LEAST * count
    restless |= (total > times * _most(count, _CHANCE)) | quiet
    striking |= (total > times * _most(count, _BEYOND_CHANCE)) | quiet
    calm = ~close_to(restless & close_to(striking, _CLOSE), _RIM)
    if len(means) == 1:
        return calm, means
    edges = _smooth_colours(means, doubts, calm)
    return calm & ~close_to(edges, _WINDOW), means  # colours move on both sides of an edge, not on it


def _sum_planes(planes: Iterable[Float32]) -> Float32:
    """Return the sum of some planes."""
    first, *others = planes
    for other in others:
        first = first + other
    return np.asarray(first, np.float32)


def _interpolate_cells(values: Float32) -> Float32:
    """Return what stands in the middle of cells at their pixels, on straight lines between these."""
    for axis in (0, 1):
        places = np.arange(values.shape[axis])
        before = values.take(np.maximum(places - 1, 0), axis)
        after = values.take(np.minimum(places + 1, places[-1]), axis)
        pair = np.stack([values + (before - values) / 4, values + (after - values) / 4], axis=axis + 1)
        shape = [length * (1 + (which == axis)) for which, length in enumerate(values.shape)]
        values = np.asarray(pair.reshape(shape), np.float32)
    return values


def _smooth_colours(means: list[Float32], doubts: list[Float32], calm: Flags) -> Flags:
    """Average the colour of calm places once more, over a wider surrounding of calm places; in place.

    ``doubts`` are the variances of the means. Returns where a colour moves by more than these explain.
    """
    red, green, blue = means
    edges = np.zeros(calm.shape, np.bool_)
    brightness = (red + green + green + blue) * np.float32(0.25)
    wide = gaussian(_COLOUR_WIDTH, -_COLOUR_REACH, _COLOUR_REACH)
    near = calm.astype(np.float32)
    mass = np.maximum(filter_separably(near, wide, wide), np.float32(1e-9))
    for mean, doubt in zip(means, doubts, strict=True):
        wider = brightness + filter_separably(near * (mean - brightness), wide, wide) / mass
        edges |= np.square(wider - mean) > np.float32(_MOVED**2) * doubt
        mean[...] = wider
    return edges


def _variances(
    mean: Float32, own: Float32, mass: Float32, near: Float32, levels: Float32
) -> tuple[Float32, Float32]:
    """Return the variance of a sample less the mean it is part of, and that of the mean.

    With w its own share of that mean and w_i those of all, the one is 1 − 2w + Σ w_i² of a sample's, the
    other Σ w_i². Of a lone sample the one is zero, and held above it.
    """
    share = near[_REACH] * near[_REACH] / mass
    squares = filter_separably(own, near * near, near * near) / np.square(mass)
    least = np.maximum(_look_up_levels(mean, levels), np.float32(1e-12))
    of_difference = least * np.maximum(1 - 2 * share + squares, np.float32(1e-6))
    return np.asarray(of_difference, np.float32), np.asarray(least * squares, np.float32)


def _look_up_levels(values: Float32, levels: Float32) -> Float32:
    """Return what stands at equal steps from 0 to 1, (steps), at the nearest of finer steps to values."""
    if levels.size == 1:
        return np.full_like(values, levels[0])
    fine = np.interp(np.linspace(0, 1, _FINE), np.linspace(0, 1, levels.size), levels).astype(np.float32)
    index = np.clip(values, 0, 1) * np.float32(_FINE - 1) + np.float32(0.5)
    return fine[index.astype(np.int32)]


def _most(samples: Float32, deviations: float) -> Float32:
    """Return a sum of so many ratios, so many deviations above its mean; one of noise has the variance 2."""
    return np.asarray(samples + deviations * np.sqrt(2 * samples), np.float32)
