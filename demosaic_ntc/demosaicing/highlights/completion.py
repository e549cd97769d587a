"""Highlights: clipped samples of a mosaic completed from what their neighbours show.

A clipped sample is no measurement but a bound: at least this much. What is missing is completed before
demosaicing, in balanced light under the cube root, by regression on the unclipped pixels around it: from the
two other channels where one is clipped, then from the third and the tint of its surroundings where two are,
and last by the tint of the rim where all are. Regressions are local: their moments are summed on a grid of
cells and averaged by Gaussians, from wide ones to narrow ones, each falling back on the wider one where it
sees little. Bright neighbours tell most, vivid ones little. A prediction is the mean of what lies above the
bound, so that noise and texture make the bound soft.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Float32, Float64
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.highlights.grid import SEEN, predict_channels, spread_tints, tints_of
from demosaic_ntc.demosaicing.highlights.kernels import (
    MAGENTA,
    TINT_SUMS,
    complete_cores,
    complete_pairs,
    complete_single,
    scale_roots,
)
from demosaic_ntc.demosaicing.highlights.window_kernels import (
    ALL_CHANNELS,
    BLOCK,
    CELL,
    CLIPPED_SHARE,
    EVENNESS,
    MOMENTS,
    SEEN_PLANES,
    add_moments,
    average_colours,
    flag_blocks,
    flag_channels,
)
from demosaic_ntc.run import do_threads, imap_threads

_NEIGHBOURS = 3  # blocks around a clipped one that the widest Gaussian sees
_RIM_SEEN, _RIM_GROWTH = 32.0, 4.0  # pixels that count as much as a wider rim, and times that per level
_RIM_SINGLE = 0.3  # the weight in a rim of pixels with one channel clipped, beside those with two
_SHADED = 4  # rows of cells from one whose shading is looked at to the next: in between lie straight lines
_ROWS, _MARGIN = 32, 3  # rows of blocks: computed at a time, and on which these depend on either side
_BITS = np.array([1, 2, 4], np.uint8)  # of the flags of R, G and B

ReadRows = Callable[[slice], Float32]


@dataclass(frozen=True, slots=True)
class ClippedMosaic:
    """Balanced light, grey in equal channels, that is read a few rows at a time.

    ``read`` returns rows, (rows, width), or (rows, width, 3) of a picture that has all channels. ``colours``
    and ``limits`` are one period of the array, or (1, 1, 3): the channel of each site, and the light at which
    it saturates. ``missing`` samples, (height, width), are not used. ``shading`` returns what light of some
    rows, (rows, width), is yet to be multiplied by: varying slowly, it makes grey equal in all channels.
    """

    read: ReadRows
    size: tuple[int, int]
    colours: NDArray[np.uint8]
    limits: Float32
    missing: Flags | None = None
    threads: int = 1
    shading: ReadRows | None = None

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
    moments = work.sum_moments()
    grid = work.compute_cells(predict_channels, moments)
    tints = tints_of(moments) + work.sum_tints(grid, None)
    del moments
    magenta = grid[..., MAGENTA]
    near = work.compute_cells(partial(spread_tints, seen=SEEN, growth=1.0), tints, magenta)
    tints = work.sum_tints(grid, near)
    rim = work.compute_cells(partial(spread_tints, seen=_RIM_SEEN, growth=_RIM_GROWTH), tints, magenta)
    yield from work.complete(grid, near, rim)


def find_clipped_blocks(mosaic: ClippedMosaic) -> Flags:
    """Flag the blocks, (rows, columns of blocks), that have a clipped sample."""
    height, width = mosaic.size
    blocks = np.zeros((-(-height // BLOCK), -(-width // BLOCK)), np.bool_)

    def look(band: int) -> None:
        rows = _band(band, height)
        if mosaic.is_full:
            columns = mosaic.is_clipped(mosaic.read(rows), rows).any(axis=(0, 2))
            blocks[band] = np.logical_or.reduceat(columns, range(0, width, BLOCK))
        else:
            flag_blocks(mosaic.read(rows), mosaic.period(rows.start)[1], blocks[band])

    do_threads(look, range(len(blocks)), mosaic.threads)
    return blocks


class _Completion:
    """The sweeps over a mosaic, a band of blocks at a time; bands share nothing."""

    def __init__(self, mosaic: ClippedMosaic, blocks: Flags) -> None:
        self._mosaic, self._blocks = mosaic, blocks
        self._near = dilate(blocks, 1)  # whose pixels may have flags
        self._seen = dilate(blocks, _NEIGHBOURS)
        self._levels = mosaic.levels
        self._flags = np.zeros(mosaic.size, np.uint8)
        self._scales = None if mosaic.shading is None else self._find_scales(mosaic.shading)
        bounds = np.ones((*self._cells, 3), np.float32) if self._scales is None else self._scales
        self._bounds = bounds * np.cbrt(self._levels)

    def sum_moments(self) -> Float64:
        """Sum the moments of unclipped pixels by cells, and flag those that are clipped."""
        moments = np.zeros((*self._cells, MOMENTS))

        def add(band: int) -> None:
            rows, seen = _band(band, self._mosaic.size[0]), self._seen[band]
            _, roots = self._average(rows, seen, only_flagged=False)
            add_moments(roots, self._flags[rows], self._levels, seen, _cells_of(moments, band))

        do_threads(add, np.flatnonzero(self._seen.any(axis=1)).tolist(), self._mosaic.threads)
        return moments

    def sum_tints(self, grid: Float32, near: Float32 | None) -> Float64:
        """Sum the tints of pixels with one channel clipped by cells; with tints near them, of two as well."""
        sums = np.zeros((*self._cells, TINT_SUMS))

        def add(band: int) -> None:
            rows = _band(band, self._mosaic.size[0])
            _, roots = self._average(rows, self._near[band], only_flagged=True)
            self._complete_partly(band, roots, grid, near, _cells_of(sums, band))

        if near is None or (self._flags == ALL_CHANNELS).any():  # only then they are needed
            do_threads(add, np.flatnonzero(self._near.any(axis=1)).tolist(), self._mosaic.threads)
        return sums

    def compute_cells(self, compute: Callable[..., Float32], *grids: NDArray[Any]) -> Float32:
        """Return what a function computes of cells, (rows, columns, …); zero in rows far from clipped ones.

        It is called for some rows of cells at a time, with as many around as any cell depends on.
        """
        size = BLOCK // CELL

        def compute_rows(rows: slice) -> Float32:
            seen = slice(max(rows.start - _MARGIN, 0) * size, (rows.stop + _MARGIN) * size)
            first, count = rows.start * size - seen.start, (rows.stop - rows.start) * size
            return compute(*(each[seen] for each in grids))[first : first + count]

        rows = np.flatnonzero(dilate(self._near, 1).any(axis=1))  # that hold all from which cells are read
        starts = np.flatnonzero((np.diff(rows, prepend=-2) > 1) | (np.diff(rows // _ROWS, prepend=-1) > 0))
        parts = [slice(int(part[0]), int(part[-1]) + 1) for part in np.split(rows, starts[1:])]
        done = imap_threads(compute_rows, parts, self._mosaic.threads)
        result = np.zeros((0, 0), np.float32)
        for place, part in zip(parts, done, strict=True):
            result = result if result.size else np.zeros((*self._cells, *part.shape[2:]), np.float32)
            result[place.start * size : place.stop * size] = part
        return result

    def complete(self, grid: Float32, near: Float32, rim: Float32) -> Iterator[tuple[slice, Float32]]:
        """Yield bands with their clipped samples completed."""

        def complete(band: int) -> tuple[slice, Float32]:
            rows, blocks = _band(band, self._mosaic.size[0]), self._near[band]
            light, roots = self._average(rows, blocks, only_flagged=True)
            self._complete_partly(
                band, roots, grid, near, np.zeros((BLOCK // CELL, grid.shape[1], TINT_SUMS))
            )
            complete_cores(roots, self._flags[rows], self._bounds, blocks, rim, rows.start)
            self._scale(roots, blocks, rows, is_inverse=True)
            return rows, self._put_roots(rows, light, roots)

        bands = np.flatnonzero(self._blocks.any(axis=1)).tolist()
        yield from imap_threads(complete, bands, self._mosaic.threads)

    def _complete_partly(
        self, band: int, roots: Float32, grid: Float32, near: Float32 | None, sums: Float64
    ) -> None:
        """Complete pixels with one channel clipped, and with tints near them those with two."""
        rows, blocks = _band(band, self._mosaic.size[0]), self._near[band]
        flags = self._flags[rows]
        weight = 1.0 if near is None else _RIM_SINGLE
        complete_single(roots, flags, self._bounds, blocks, grid, rows.start, weight, sums)
        if near is not None:
            complete_pairs(roots, flags, self._bounds, blocks, grid, near, rows.start, sums)

    def _put_roots(self, rows: slice, light: Float32, roots: Float32) -> Float32:
        """Return light with its clipped samples made of roots, which are of all channels."""
        mosaic, own = self._mosaic, roots[..., :EVENNESS]
        if not mosaic.is_full:
            channels = mosaic.tile(mosaic.colours, rows).astype(np.intp)
            own = np.take_along_axis(roots, channels[..., None], axis=2)[..., 0]
        return np.where(mosaic.is_clipped(light, rows), np.maximum(light, own**3), light)

    def _average(self, rows: slice, blocks: Flags, *, only_flagged: bool) -> tuple[Float32, Float32]:
        """Return the light of a band and what is seen of its channels; flag them, unless they are."""
        light, roots = self._look(rows, blocks, only_flagged=only_flagged)
        self._scale(roots, blocks, rows, is_inverse=False)
        return light, roots

    def _look(self, rows: slice, blocks: Flags, *, only_flagged: bool) -> tuple[Float32, Float32]:
        """Return the same before shading."""
        mosaic, height = self._mosaic, self._mosaic.size[0]
        flags = self._flags[rows]
        roots = np.ones((*flags.shape, SEEN_PLANES), np.float32)
        if mosaic.is_full:
            light = mosaic.read(rows)
            if not only_flagged:
                hidden = np.zeros(flags.shape, np.bool_) if mosaic.missing is None else mosaic.missing[rows]
                flags[:] = (mosaic.is_clipped(light, rows) | hidden[..., None]) @ _BITS
            roots[..., :EVENNESS] = np.cbrt(np.maximum(light, 0))
            return light, roots
        window = mosaic.window
        start = max(rows.start - len(window) + 1, 0)
        wide = slice(start, min(rows.stop + len(window) - 1, height))
        light = mosaic.read(wide)
        hidden = np.zeros(light.shape, np.bool_)
        if mosaic.missing is not None:
            hidden[:] = mosaic.missing[wide]
        first, (colours, limits) = rows.start - start, mosaic.period(start)
        if not only_flagged:
            flag_channels(light, hidden, colours, limits, len(window) - 1, first, flags)
        average_colours(
            light, hidden, colours, self._levels, window, first, blocks, only_flagged, roots, flags
        )
        return light[first : first + rows.stop - rows.start], roots

    def _find_scales(self, shading: ReadRows) -> Float32:
        """Return the cube roots of shading in every cell, (rows, columns of cells, 3)."""
        scales = np.ones((*self._cells, 3), np.float32)
        rows = np.flatnonzero(self._seen.any(axis=1).repeat(BLOCK // CELL)[: len(scales)])
        nodes = np.append(np.arange(rows[0], rows[-1], _SHADED), rows[-1])
        known = np.stack([self._find_row_scales(shading, int(node)) for node in nodes])
        after = np.searchsorted(nodes, rows)
        before = np.maximum(after - 1, 0)
        share = (rows - nodes[before]) / np.maximum(nodes[after] - nodes[before], 1)
        scales[rows] = known[before] + share[:, None, None] * (known[after] - known[before])
        return scales

    def _find_row_scales(self, shading: ReadRows, row: int) -> Float32:
        """Return the same of one row of cells, (columns, 3)."""
        (height, width), colours = self._mosaic.size, self._mosaic.colours
        rows, starts = slice(row * CELL, min(row * CELL + len(colours), height)), range(0, width, CELL)
        ratios, channels = np.cbrt(shading(rows)), self._mosaic.tile(colours, rows)
        scales = np.ones((self._cells[1], 3), np.float32)
        for channel in range(3):
            own = channels == channel
            total, count = (np.add.reduceat(each.sum(axis=0), starts) for each in (ratios * own, own))
            np.divide(total, count, out=scales[:, channel], where=count > 0)
        return scales

    def _scale(self, roots: Float32, blocks: Flags, rows: slice, *, is_inverse: bool) -> None:
        """Apply the shading to roots of a band, or take it off."""
        if self._scales is not None:
            scale_roots(roots, self._scales, blocks, rows.start, is_inverse)

    @property
    def _cells(self) -> tuple[int, int]:
        """How many rows and columns of cells there are."""
        height, width = (-(-side // CELL) for side in self._mosaic.size)
        return height, width


def _cells_of(cells: Float64, band: int) -> Float64:
    """Return the cells of a band."""
    return cells[band * BLOCK // CELL : (band + 1) * BLOCK // CELL]


def _shows_all(colours: NDArray[np.uint8], side: int) -> bool:
    """Whether every square window of a side shows all channels that the array has."""
    grown = np.pad(colours, (0, side), mode="wrap")
    windows = np.lib.stride_tricks.sliding_window_view(grown, (side, side))
    return all((windows == channel).any(axis=(-2, -1)).all() for channel in np.unique(colours))


def dilate(flags: Flags, reach: int) -> Flags:
    """Flag what lies within a reach of flagged places along the first two axes."""
    for axis in (0, 1):
        around = np.pad(flags, [(reach, reach) if each == axis else (0, 0) for each in range(flags.ndim)])
        length = flags.shape[axis]
        parts = [np.take(around, range(step, step + length), axis) for step in range(2 * reach + 1)]
        flags = np.logical_or.reduce(parts)
    return flags


def _band(band: int, height: int) -> slice:
    """Return the rows of a band of blocks."""
    return slice(band * BLOCK, min((band + 1) * BLOCK, height))
