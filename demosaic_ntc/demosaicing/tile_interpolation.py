"""The two guesses of a mosaic, tile by tile, and how far they lie apart."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Self

import numpy as np

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.interpolation import refine
from demosaic_ntc.demosaicing.interpolation.bilinear import bilinear, reach
from demosaic_ntc.demosaicing.interpolation.blend import MethodSelection, apart, guess_halo, refine_guesses
from demosaic_ntc.demosaicing.quantised_planes import QuantisedPlanes, Quantiser
from demosaic_ntc.demosaicing.samples import MosaicSamples
from demosaic_ntc.engine.tiles import Tile, around_flagged, close_to, row_bands, tiles_of, within
from demosaic_ntc.run import Run

_APART_HALO = 4
_NEAR = 12  # pixels from guesses that differ within which they are refined
# Pixels from them within which trials are held: those further out than two deviations of the Gaussian under
# which their errors are averaged tell little, .001 dB on parts of fourteen pictures.
_TRIED = 12


@dataclass(frozen=True, slots=True, eq=False)
class Guesses:
    """The two guesses of a picture, and how far they lie apart."""

    smooth: QuantisedPlanes
    residual: QuantisedPlanes
    differing: Flags  # (height, width): by more than groups are formed for
    doubtful: Flags  # by more than trials are held for, or close to it
    distance: Float32  # (height, width), or empty where it is not wanted

    @classmethod
    def empty(cls, samples: MosaicSamples, cfa: Cfa, steps: Quantiser, errors: bool) -> Self:
        """Return room for guesses, and for their distance if errors are wanted."""
        shape = samples.shape[1:]
        smooth, residual = (
            QuantisedPlanes.empty(samples, cfa, steps),
            QuantisedPlanes.empty(samples, cfa, steps),
        )
        distance = np.empty(shape if errors else (0, 0), np.float32)
        return cls(smooth, residual, np.empty(shape, np.bool_), np.empty(shape, np.bool_), distance)


def guesses_of_all(
    samples: MosaicSamples,
    cfa: Cfa,
    contest: MethodSelection,
    run: Run,
    least: float,
    far: float,
    side: int,
) -> Guesses:
    """Make the two guesses tile by tile; after the deadline a plain one in the place of both."""
    least_of, largest_of = samples.extremes(cfa, threads=run.threads)
    low, high = float(least_of.min()), float(largest_of.max())
    made = Guesses.empty(samples, cfa, Quantiser.from_range(low, high), run.want_error)
    tiles = list(tiles_of(samples.shape[1:], guess_halo(cfa) + _APART_HALO, cfa.period, side))
    sharing = max(run.threads // len(tiles), 1)  # threads that share a tile

    def guess(tile: Tile) -> bool:
        in_time = not run.deadline.is_over()
        if in_time:
            _guess(contest, sharing, least, far, tile, made)
        return in_time

    late = []
    for number, (tile, in_time) in enumerate(zip(tiles, run.map(guess, tiles), strict=True), 1):
        late += [] if in_time else [tile]
        run.report(number / len(tiles))
    _guess_plainly(samples, cfa, run, late, made.smooth)
    _leave_out(late, made, high - low)
    return replace(made, doubtful=close_to(made.doubtful, _TRIED))


def _guess(
    contest: MethodSelection, threads: int, least: float, far: float, tile: Tile, into: Guesses
) -> None:
    """Make the two guesses of a tile, and note how far they lie apart."""
    samples, cfa = into.smooth.samples, into.smooth.cfa
    mosaic = samples.window(*tile.seen)
    part = contest.guesses(mosaic, cfa, threads)
    around = _around_core(tile, samples.shape[1:])
    if contest.sparing and cfa.is_bayer:
        _refine_where_apart(part, mosaic, cfa, far, around, threads)
    distance = apart(*(guess[around.inner] for guess in part))[within(tile.core, around.core)]
    for guess, stored in zip(part, (into.smooth, into.residual), strict=True):
        stored[:, *tile.core] = np.moveaxis(guess[tile.inner], 2, 0)
    into.differing[tile.core], into.doubtful[tile.core] = distance > far, distance > least
    if into.distance.size:
        into.distance[tile.core] = distance


def _refine_where_apart(
    guesses: tuple[Float32, Float32], mosaic: Float32, cfa: Cfa, far: float, around: Tile, threads: int
) -> None:
    """Refine plain guesses of a window close to where they differ by more than ``far``, in place.

    Only in the inner part of ``around`` are they needed. What the window sees beyond it is enough for flags
    and for refinements: these reach further than `_NEAR` and twice what is compared.
    """
    near = np.zeros(mosaic.shape, np.bool_)
    near[around.inner] = close_to(apart(*guesses) > far, _NEAR)[around.inner]
    window = slice(0, mosaic.shape[0]), slice(0, mosaic.shape[1])
    plain = guesses[0].copy(), guesses[1].copy()  # what was refined is not to be refined again
    for part in around_flagged(near, Tile(window, window, window), cfa.period, refine.halo(cfa)):
        seen = plain[0][part.seen], plain[1][part.seen]
        refined = refine_guesses(seen, mosaic[part.seen], cfa, threads)
        for guess, better in zip(guesses, refined, strict=True):
            np.copyto(guess[part.core], better[part.inner], where=near[part.core][..., None])


def _guess_plainly(
    samples: MosaicSamples, cfa: Cfa, run: Run, tiles: list[Tile], into: QuantisedPlanes
) -> None:
    """Interpolate what tiles hold bilinearly, a few rows at a time."""
    margin = -(-reach(cfa) // max(cfa.period)) * max(cfa.period)

    def guess(place: tuple[slice, slice]) -> None:
        around = [slice(max(axis.start - margin, 0), axis.stop + margin) for axis in place]
        part = bilinear(samples.window(*around), _shift_cfa(cfa, around[0].start, around[1].start))
        inner = within(place, (around[0], around[1]))
        into[:, *place] = np.moveaxis(part[inner], 2, 0)

    run.do(guess, [strip for tile in tiles for strip in _strips(tile)])


@lru_cache
def _shift_cfa(cfa: Cfa, row: int, column: int) -> Cfa:
    """Return the array of a window that starts there."""
    return cfa.shift(row % cfa.period[0], column % cfa.period[1])


def _strips(tile: Tile) -> Iterator[tuple[slice, slice]]:
    """Yield the core of a tile in strips that fit into a processor's cache."""
    rows, columns = tile.core
    for part in row_bands(rows.stop - rows.start):
        yield slice(rows.start + part.start, rows.start + part.stop), columns


def _leave_out(tiles: list[Tile], into: Guesses, span: float) -> None:
    """Note that the guesses of some tiles were not compared: they may be off by the whole range."""
    for tile in tiles:
        into.differing[tile.core], into.doubtful[tile.core] = True, False
        if into.distance.size:
            into.distance[tile.core] = span


def _around_core(tile: Tile, shape: tuple[int, ...]) -> Tile:
    """Return the core of a tile with what is compared around it, and that within what the tile sees."""
    wide = tuple(
        slice(max(core.start - _APART_HALO, 0), min(core.stop + _APART_HALO, length))
        for core, length in zip(tile.core, shape, strict=True)
    )
    return Tile((wide[0], wide[1]), tile.seen, within((wide[0], wide[1]), tile.seen))
