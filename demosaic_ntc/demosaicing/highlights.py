"""Highlights: clipped samples of a mosaic completed from what their neighbours show.

A clipped sample is no measurement but a bound: at least this much. What is missing is completed before
demosaicing, in balanced light under the cube root, by regression on the unclipped pixels around it: from the
two other channels where one is clipped, from the third where two are, and by the tint of the rim where all
are. Regressions are local: their moments are summed on a grid of cells and averaged by Gaussians, from wide
ones to narrow ones, each falling back on the wider one where it sees little. Bright neighbours tell most.
A prediction is the mean of what lies above the bound, so that noise and texture make the bound soft.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Float32, Float64
from demosaic_ntc.demosaicing.cfa import Cfa
from demosaic_ntc.demosaicing.highlight_kernels import (
    ALL_CHANNELS,
    BLOCK,
    CELL,
    CLIPPED_SHARE,
    LONE_SPREAD,
    MEAN,
    MOMENTS,
    OFFSET,
    PREDICTIONS,
    SLOPE,
    SPREAD,
    add_moments,
    average_colours,
    complete_cores,
    complete_partly,
    flag_blocks,
)
from demosaic_ntc.engine.parallel import imap_threads

_LEVELS = 4  # of the pyramid: Gaussians of 8, 16, 32 and 64 pixels
_NEIGHBOURS = 3  # blocks around a clipped one that the widest Gaussian sees
_SEEN = 8.0  # pixels of full weight that count as much as all wider Gaussians
_FLATNESS = 0.03  # the sum of squares that counts as much as the slope of wider Gaussians
_FIRST_SPREAD, _FIRST_LONE_SPREAD = 0.05, 0.1  # deviations of roots where nothing is seen
_RIM_SEEN, _RIM_GROWTH = 2.0 * 16, 4.0  # pixels that count as much as a wider rim, and times that per level
_BINOMIAL = np.array([1, 4, 6, 4, 1]) / 16  # a Gaussian of one cell
_AREA = 2 * np.pi  # cells under such a Gaussian whose peak is one

ReadRows = Callable[[slice], Float32]


@dataclass(frozen=True, slots=True)
class ClippedMosaic:
    """Balanced light, grey in equal channels, that is read a few rows at a time.

    ``read`` returns rows, (rows, width), or (rows, width, 3) of a picture that has all channels. ``colours``
    and ``limits`` are one period of the array, or (1, 1, 3): the channel of each site, and the light at which
    it saturates. ``missing`` samples, (height, width), are not used.
    """

    read: ReadRows
    size: tuple[int, int]
    colours: NDArray[np.uint8]
    limits: Float32
    missing: Flags | None = None
    threads: int = 1

    @property
    def is_full(self) -> bool:
        """Whether every pixel has all channels."""
        return self.colours.ndim == 3

    @property
    def levels(self) -> Float32:
        """The least light at which each channel saturates; infinite without a channel."""
        sites = [self.limits[self.colours == channel] for channel in range(3)]
        return np.array([each.min(initial=np.inf) for each in sites], np.float32)

    @property
    def window(self) -> Float32:
        """The weights of samples by their distance along either axis: all windows show all channels."""
        reach = 1
        while not _shows_all(self.colours, 2 * reach + 1):
            reach += 1
        return np.arange(reach + 1, 0, -1).astype(np.float32)

    def period(self, row: int) -> tuple[NDArray[np.uint8], Float32]:
        """Return colours and limits of a period that begins at a row, the latter of what is not clipped."""
        shift = -(row % len(self.colours))
        return np.roll(self.colours, shift, axis=0), np.roll(self.limits * CLIPPED_SHARE, shift, axis=0)

    def is_clipped(self, light: Float32, rows: slice) -> Flags:
        """Tell which samples of some rows are clipped; those that are missing are not."""
        clipped: Flags = light >= self.tile(self.limits * CLIPPED_SHARE, rows)
        if self.missing is not None:
            clipped &= ~(self.missing[rows][..., None] if self.is_full else self.missing[rows])
        return clipped

    def tile(self, period: NDArray[Any], rows: slice) -> NDArray[Any]:
        """Return what a period says of all samples of some rows."""
        if self.is_full:
            return period
        down, across = (np.arange(*each) for each in ((rows.start, rows.stop), (0, self.size[1])))
        return period[np.ix_(down % period.shape[0], across % period.shape[1])]


def complete_highlights(
    mosaic: Float32,
    cfa: Cfa,
    levels: tuple[float, float, float],
    missing: Flags | None = None,
    threads: int = 1,
) -> Float32:
    """Return a mosaic of balanced light, (height, width), with its clipped samples completed.

    Channels saturate at ``levels``. A sample is never less than it was, and what is not clipped stays as it
    is, as do ``missing`` samples, which are not used.
    """
    light = np.ascontiguousarray(mosaic, np.float32)
    limits = np.asarray(levels, np.float32)[cfa.pattern]
    size = (light.shape[0], light.shape[1])
    clipped = ClippedMosaic(lambda rows: light[rows], size, cfa.pattern, limits, missing, threads)
    result = light.copy()
    for rows, completed in complete_rows(clipped):
        result[rows] = completed
    return result


def complete_rows(mosaic: ClippedMosaic) -> Iterator[tuple[slice, Float32]]:
    """Yield the bands of rows that have clipped samples, with these completed."""
    blocks = find_clipped_blocks(mosaic)
    if not blocks.any():
        return
    work = _Completion(mosaic, blocks)
    grid = predict_channels(work.sum_moments())
    tints = spread_tints(work.sum_rim(grid))
    yield from work.complete(grid, tints)


def find_clipped_blocks(mosaic: ClippedMosaic) -> Flags:
    """Flag the blocks, (rows, columns of blocks), that have a clipped sample."""
    height, width = mosaic.size
    blocks = np.zeros((-(-height // BLOCK), -(-width // BLOCK)), np.bool_)

    def look(band: int) -> None:
        rows = _band(band, height)
        light = mosaic.read(rows)
        if mosaic.is_full:
            columns = mosaic.is_clipped(light, rows).any(axis=(0, 2))
            blocks[band] = np.logical_or.reduceat(columns, range(0, width, BLOCK))
        else:
            flag_blocks(light, mosaic.period(rows.start)[1], blocks[band])

    for _ in imap_threads(look, range(len(blocks)), mosaic.threads):
        pass
    return blocks


class _Completion:
    """The sweeps over a mosaic, a band of blocks at a time; bands share nothing."""

    def __init__(self, mosaic: ClippedMosaic, blocks: Flags) -> None:
        self._mosaic, self._blocks = mosaic, blocks
        self._near = _dilate(blocks, 1)  # whose pixels may have flags
        self._seen = _dilate(blocks, _NEIGHBOURS)
        self._bounds = np.cbrt(mosaic.levels.astype(np.float64))
        self._has_cores = np.zeros(len(blocks), np.bool_)  # by bands

    def sum_moments(self) -> Float64:
        """Sum the moments of unclipped pixels by cells."""
        moments = self._cells(MOMENTS)

        def add(band: int) -> None:
            _, _, roots, flags = self._average(band, self._seen[band])
            levels, cells = self._mosaic.levels, self._cells_of(moments, band)
            add_moments(roots, flags, levels, self._seen[band], cells)
            self._has_cores[band] = bool((flags == ALL_CHANNELS).any())

        self._sweep(add, self._seen)
        return moments

    def sum_rim(self, grid: Float32) -> Float64:
        """Sum the tints of pixels that are partly clipped by cells, if there are cores to be tinted."""
        rim = self._cells(3)
        if not self._has_cores.any():
            return rim

        def add(band: int) -> None:
            rows, _, roots, flags = self._average(band, self._near[band])
            self._complete_partly(band, rows, roots, flags, grid, self._cells_of(rim, band))

        self._sweep(add, self._near)
        return rim

    def complete(self, grid: Float32, tints: Float32) -> Iterator[tuple[slice, Float32]]:
        """Yield bands with their clipped samples completed."""

        def complete(band: int) -> tuple[slice, Float32]:
            near = self._near[band]
            rows, light, roots, flags = self._average(band, near)
            self._complete_partly(band, rows, roots, flags, grid, np.zeros((CELL, grid.shape[1], 3)))
            complete_cores(roots, flags, self._bounds, near, tints, rows.start)
            return rows, self._put_roots(rows, light, roots)

        bands = np.flatnonzero(self._blocks.any(axis=1)).tolist()
        yield from imap_threads(complete, bands, self._mosaic.threads)

    def _put_roots(self, rows: slice, light: Float32, roots: Float32) -> Float32:
        """Return light with its clipped samples made of roots, which are of all channels."""
        mosaic, own = self._mosaic, roots
        if not mosaic.is_full:
            channels = mosaic.tile(mosaic.colours, rows).astype(np.intp)
            own = np.take_along_axis(roots, channels[..., None], axis=2)[..., 0]
        return np.where(mosaic.is_clipped(light, rows), np.maximum(light, own**3), light)

    def _complete_partly(
        self, band: int, rows: slice, roots: Float32, flags: NDArray[np.uint8], grid: Float32, rim: Float64
    ) -> None:
        """Complete what is partly clipped in a band."""
        complete_partly(roots, flags, self._bounds, self._near[band], grid, rows.start, rim)

    def _average(self, band: int, blocks: Flags) -> tuple[slice, Float32, Float32, NDArray[np.uint8]]:
        """Return the rows of a band, their light, and roots and flags in some blocks of it."""
        mosaic, (height, width) = self._mosaic, self._mosaic.size
        rows = _band(band, height)
        tall = rows.stop - rows.start
        roots, flags = np.zeros((tall, width, 3), np.float32), np.zeros((tall, width), np.uint8)
        if mosaic.is_full:
            light = mosaic.read(rows)
            hidden = np.zeros((tall, width), np.bool_) if mosaic.missing is None else mosaic.missing[rows]
            np.cbrt(np.maximum(light, 0), out=roots)
            bits = (mosaic.is_clipped(light, rows) | hidden[..., None]) @ np.array([1, 2, 4], np.uint8)
            flags[:] = np.where(np.repeat(blocks, BLOCK)[:width], bits, 0)
            return rows, light, roots, flags
        window = mosaic.window
        start = max(rows.start - len(window) + 1, 0)
        wide = slice(start, min(rows.stop + len(window) - 1, height))
        light = mosaic.read(wide)
        hidden = np.zeros(light.shape, np.bool_) if mosaic.missing is None else mosaic.missing[wide]
        first, (colours, limits) = rows.start - start, mosaic.period(start)
        average_colours(light, hidden, colours, limits, window, first, blocks, roots, flags)
        return rows, light[first : first + tall], roots, flags

    def _sweep(self, work: Callable[[int], None], blocks: Flags) -> None:
        """Do some work on all bands with blocks that are flagged."""
        bands = np.flatnonzero(blocks.any(axis=1)).tolist()
        for _ in imap_threads(work, bands, self._mosaic.threads):
            pass

    def _cells(self, planes: int) -> Float64:
        """Return nothing for every cell."""
        height, width = (-(-side // CELL) for side in self._mosaic.size)
        return np.zeros((height, width, planes))

    @staticmethod
    def _cells_of(cells: Float64, band: int) -> Float64:
        """Return the cells of a band."""
        return cells[band * BLOCK // CELL : (band + 1) * BLOCK // CELL]


def predict_channels(moments: Float64) -> Float32:
    """Return what predicts channels from each other in every cell, (rows, columns, PREDICTIONS).

    Channel k is the mean of the two others, plus the offset k, plus the slope k times their difference; or
    one other, plus the difference of their means. ``moments`` are those of `add_moments`.
    """
    grid = np.zeros((1, 1, PREDICTIONS + 3))  # the last three are slopes before averaging
    grid[..., SPREAD:LONE_SPREAD] = _FIRST_SPREAD**2
    grid[..., LONE_SPREAD:PREDICTIONS] = _FIRST_LONE_SPREAD**2
    for sums in reversed(_pyramid(moments)):
        grid = _resample(grid, sums.shape[:2])
        _update_predictions(grid, _smooth(sums) * _AREA)
    return grid[..., :PREDICTIONS].astype(np.float32)


def _update_predictions(grid: Float64, sums: Float64) -> None:
    """Mix what one Gaussian sees into the predictions by wider ones, in place."""
    weight = sums[..., 0]
    mean = sums[..., 1:4] / np.maximum(weight, 1e-12)[..., None]
    spread = _covariances(sums, mean)
    share, slopes = weight / (weight + _SEEN), grid[..., PREDICTIONS:]
    for k in range(3):
        i, j = (channel for channel in range(3) if channel != k)
        difference, rest = mean[..., i] - mean[..., j], mean[..., k] - (mean[..., i] + mean[..., j]) / 2
        xx = np.maximum(spread[i, i] + spread[j, j] - 2 * spread[i, j], 0)
        xy = spread[k, i] - spread[k, j] - (spread[i, i] - spread[j, j]) / 2
        halves = (spread[i, i] + spread[j, j] + 2 * spread[i, j]) / 4
        yy = np.maximum(spread[k, k] + halves - spread[k, i] - spread[k, j], 0)
        slope = (xy + _FLATNESS * slopes[..., k]) / (xx + _FLATNESS)
        slopes[..., k] = slope
        left = np.maximum(yy - 2 * slope * xy + slope**2 * xx, 0)
        for place, value in ((OFFSET, rest - slope * difference), (SLOPE, slope), (MEAN, mean[..., k])):
            grid[..., place + k] += share * (value - grid[..., place + k])
        for place, total in ((SPREAD, left), (LONE_SPREAD, xx)):
            grid[..., place + k] = (total + _SEEN * grid[..., place + k]) / (weight + _SEEN)


def _covariances(sums: Float64, mean: Float64) -> dict[tuple[int, int], Float64]:
    """Return the sums of products of deviations from the means, by channels."""
    found = dict[tuple[int, int], Float64]()
    for place, (a, b) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)), 4):
        found[a, b] = found[b, a] = sums[..., place] - sums[..., 0] * mean[..., a] * mean[..., b]
    return found


def spread_tints(rim: Float64) -> Float32:
    """Return the tint of the rim around every cell, red and blue minus green, (rows, columns, 2).

    ``rim`` has the weights and the sums of tints in every cell; far from any rim tints fade to grey.
    """
    tints, levels = np.zeros((1, 1, 2)), _pyramid(rim)
    for level, sums in reversed(list(enumerate(levels))):
        tints = _resample(tints, sums.shape[:2])
        seen = _smooth(sums) * _AREA
        weight = seen[..., :1]
        share = weight / (weight + _RIM_SEEN * _RIM_GROWTH**level)
        tints += share * (seen[..., 1:] / np.maximum(weight, 1e-12) - tints)
    return tints.astype(np.float32)


def _pyramid(cells: Float64) -> list[Float64]:
    """Return sums by cells, and by ever larger cells of twice the side."""
    levels = [cells]
    for _ in range(_LEVELS - 1):
        below = levels[-1]
        odd = ((0, below.shape[0] % 2), (0, below.shape[1] % 2), (0, 0))
        even = np.pad(below, odd)
        levels.append(even[::2, ::2] + even[1::2, ::2] + even[::2, 1::2] + even[1::2, 1::2])
    return levels


def _smooth(cells: Float64) -> Float64:
    """Return cells averaged with a Gaussian of one cell; beyond the border lies nothing."""
    for axis in (0, 1):
        reach = [(2, 2) if each == axis else (0, 0) for each in range(3)]
        padded, length = np.pad(cells, reach), cells.shape[axis]
        parts = [np.take(padded, range(step, step + length), axis) for step in range(len(_BINOMIAL))]
        cells = sum((part * weight for part, weight in zip(parts, _BINOMIAL, strict=True)), np.zeros(1))
    return cells


def _resample(cells: Float64, shape: tuple[int, ...]) -> Float64:
    """Return cells of half the side, as many as wanted, by lines between the middles of the larger ones."""
    for axis in (0, 1):
        place = (np.arange(shape[axis]) + 0.5) / 2 - 0.5
        last = cells.shape[axis] - 1
        before = np.clip(np.floor(place).astype(np.intp), 0, last)
        share = np.clip(place - before, 0, 1).reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
        after = np.minimum(before + 1, last)
        cells = np.take(cells, before, axis) * (1 - share) + np.take(cells, after, axis) * share
    return cells


def _shows_all(colours: NDArray[np.uint8], side: int) -> bool:
    """Whether every square window of a side shows all channels that the array has."""
    grown = np.pad(colours, (0, side), mode="wrap")
    windows = np.lib.stride_tricks.sliding_window_view(grown, (side, side))
    return all((windows == channel).any(axis=(-2, -1)).all() for channel in np.unique(colours))


def _dilate(blocks: Flags, reach: int) -> Flags:
    """Flag blocks within a reach of flagged ones."""
    for axis in (0, 1):
        around = np.pad(blocks, [(reach, reach) if each == axis else (0, 0) for each in (0, 1)])
        length = blocks.shape[axis]
        parts = [np.take(around, range(step, step + length), axis) for step in range(2 * reach + 1)]
        blocks = np.logical_or.reduce(parts)
    return blocks


def _band(band: int, height: int) -> slice:
    """Return the rows of a band of blocks."""
    return slice(band * BLOCK, min((band + 1) * BLOCK, height))
