"""The first estimate of a mosaic: the blend of two guesses, computed in tiles whose seams are exact."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, product

import numpy as np

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.imaging.cfa import Cfa
from demosaic_ntc.imaging.first_guess import refine
from demosaic_ntc.imaging.first_guess.bilinear import bilinear, reach
from demosaic_ntc.imaging.first_guess.blend import (
    SMOOTHING_HALO,
    Contest,
    apart,
    confidence_in_smooth,
    guess_halo,
    local_error,
    mean_error,
    refined_guesses,
    total_error,
)
from demosaic_ntc.imaging.mosaics.coarse import Coarse
from demosaic_ntc.imaging.mosaics.rims import close_to
from demosaic_ntc.imaging.mosaics.samples import Samples
from demosaic_ntc.imaging.mosaics.stored import Steps, Stored
from demosaic_ntc.imaging.parallel import in_order
from demosaic_ntc.imaging.tiles import TILE_SIDE, Tile, span, tiles_of
from demosaic_ntc.ntc.deadline import Deadline

Report = Callable[[float], None]

_APART_HALO = 4
_NEAR = 12  # pixels from guesses that differ within which they are refined
_SMALL = (320, 128)  # sides of small tiles
_SHARE_OF_GUESSES = 0.3  # of the time that guesses and trials take
_BAND = 64  # rows that are blended together
_NEVER = Deadline()


@dataclass(frozen=True, slots=True, eq=False)
class First:
    """The first estimate of a mosaic with full scale 1, samples in their place."""

    picture: Stored
    differing: Flags  # (height, width): whether the two guesses lie far apart around a pixel
    error: Float32  # (height, width), or empty: expected squares, as trials or the distance of guesses tell


@dataclass(frozen=True, slots=True, eq=False)
class _Guesses:
    """The two guesses of a picture, and how far they lie apart."""

    smooth: Stored
    residual: Stored
    differing: Flags  # (height, width): by more than groups are formed for
    doubtful: Flags  # by more than trials are held for, or close to it
    distance: Float32  # (height, width), or empty where it is not wanted


@dataclass(frozen=True, slots=True, eq=False)
class _Trials:
    """The squared errors of both methods, smoothed, and their means over the picture."""

    errors: tuple[Coarse, Coarse]
    means: tuple[float, float]


def first_estimate(
    samples: Samples,
    cfa: Cfa,
    contest: Contest,
    threads: int,
    report: Report,
    least: float = -1.0,
    far: float = -1.0,
    errors: bool = False,
    side: int = TILE_SIDE,
    deadline: Deadline = _NEVER,
) -> First:
    """Return the first estimate of a mosaic; what is not guessed by the deadline is interpolated plainly.

    Trials are held where the guesses differ by more than ``least``, and around; pixels around which they
    differ by more than ``far`` are flagged. The error is told if ``errors`` are wanted.
    """
    guesses = _guesses_of_all(samples, cfa, contest, threads, report, least, far, errors, side, deadline)
    if deadline.passed():
        return First(guesses.smooth, guesses.differing, np.square(guesses.distance))
    trials = _trials_where(guesses, samples, cfa, contest, threads, report, side, deadline)
    if deadline.passed():  # trials of a part would favour it: the first guess stands
        return First(guesses.smooth, guesses.differing, np.square(guesses.distance))
    error = np.empty(samples.shape[1:] if errors else (0, 0), np.float32)
    bands = list(_bands(samples.shape[1]))
    for _ in in_order(lambda rows: _blend(guesses, trials, rows, error), bands, threads):
        pass
    return First(guesses.smooth, guesses.differing, error)


def _guesses_of_all(
    samples: Samples,
    cfa: Cfa,
    contest: Contest,
    threads: int,
    report: Report,
    least: float,
    far: float,
    errors: bool,
    side: int,
    deadline: Deadline,
) -> _Guesses:
    """Make the two guesses tile by tile; after the deadline a plain one in the place of both."""
    shape = samples.shape[1:]
    low, high = samples.extremes(cfa)
    steps = Steps.between(float(low.min()), float(high.max()))
    smooth, residual = Stored.empty(samples, cfa, steps), Stored.empty(samples, cfa, steps)
    differing, doubtful = np.empty(shape, np.bool_), np.empty(shape, np.bool_)
    distance = np.empty(shape if errors else (0, 0), np.float32)
    tiles = list(tiles_of(shape, guess_halo(cfa) + _APART_HALO, cfa.period, side))
    for number, tile in enumerate(tiles, 1):
        if deadline.passed():
            _guess_plainly(samples, cfa, threads, tiles[number - 1 :], smooth)
            _leave_out(tiles[number - 1 :], differing, doubtful, distance, float(high.max() - low.min()))
            break
        mosaic = samples.window(*tile.seen)
        part = contest.guesses(mosaic, cfa, threads)
        around = _around_core(tile, shape)
        if contest.sparing and cfa.is_bayer:
            _refine_where_apart(part, mosaic, cfa, far, around, threads)
        apart_there = apart(*(guess[around.inner] for guess in part))[_within(tile.core, around.core)]
        for guess, into in zip(part, (smooth, residual), strict=True):
            into[:, *tile.core] = np.moveaxis(guess[tile.inner], 2, 0)
        differing[tile.core], doubtful[tile.core] = apart_there > far, apart_there > least
        if errors:
            distance[tile.core] = apart_there
        report(_SHARE_OF_GUESSES * number / len(tiles))
    return _Guesses(smooth, residual, differing, close_to(doubtful, SMOOTHING_HALO), distance)


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
    for part in _around_flagged(near, Tile(window, window, window), cfa, refine.halo(cfa)):
        seen = plain[0][part.seen], plain[1][part.seen]
        refined = refined_guesses(seen, mosaic[part.seen], cfa, threads)
        for guess, better in zip(guesses, refined, strict=True):
            np.copyto(guess[part.core], better[part.inner], where=near[part.core][..., None])


def _guess_plainly(samples: Samples, cfa: Cfa, threads: int, tiles: list[Tile], into: Stored) -> None:
    """Interpolate what tiles hold bilinearly, a few rows at a time."""
    margin = -(-reach(cfa) // max(cfa.period)) * max(cfa.period)

    def guess(place: tuple[slice, slice]) -> None:
        around = [slice(max(axis.start - margin, 0), axis.stop + margin) for axis in place]
        part = bilinear(samples.window(*around), _shifted(cfa, around[0].start, around[1].start))
        inner = _within(place, (around[0], around[1]))
        into[:, *place] = np.moveaxis(part[inner], 2, 0)

    for _ in in_order(guess, [strip for tile in tiles for strip in _strips(tile)], threads):
        pass


@lru_cache
def _shifted(cfa: Cfa, row: int, column: int) -> Cfa:
    """Return the array of a window that starts there."""
    return cfa.shifted(row % cfa.period[0], column % cfa.period[1])


def _strips(tile: Tile) -> Iterator[tuple[slice, slice]]:
    """Yield the core of a tile in strips that fit into a processor's cache."""
    rows, columns = tile.core
    for top in range(rows.start, rows.stop, _BAND):
        yield slice(top, min(top + _BAND, rows.stop)), columns


def _leave_out(tiles: list[Tile], differing: Flags, doubtful: Flags, distance: Float32, span: float) -> None:
    """Note that nothing is known of how good the guesses of some tiles are: they may be off by anything."""
    for tile in tiles:
        differing[tile.core], doubtful[tile.core] = True, False
        if distance.size:
            distance[tile.core] = span


def _around_core(tile: Tile, shape: tuple[int, ...]) -> Tile:
    """Return the core of a tile with what is compared around it, and that within what the tile sees."""
    wide = tuple(
        slice(max(core.start - _APART_HALO, 0), min(core.stop + _APART_HALO, length))
        for core, length in zip(tile.core, shape, strict=True)
    )
    return Tile((wide[0], wide[1]), tile.seen, _within((wide[0], wide[1]), tile.seen))


def _within(part: tuple[slice, slice], whole: tuple[slice, slice]) -> tuple[slice, slice]:
    """Return where a part lies in a whole."""
    rows, columns = (
        slice(inner.start - outer.start, inner.stop - outer.start)
        for inner, outer in zip(part, whole, strict=True)
    )
    return rows, columns


def _trials_where(
    guesses: _Guesses,
    samples: Samples,
    cfa: Cfa,
    contest: Contest,
    threads: int,
    report: Report,
    side: int,
    deadline: Deadline,
) -> _Trials:
    """Hold trials around the doubtful pixels of every tile until the deadline; else their errors are zero."""
    shape = samples.shape[1:]
    kept, totals = (Coarse(shape), Coarse(shape)), [0, 0]
    tiles = list(tiles_of(shape, SMOOTHING_HALO, cfa.period, side))
    for number, tile in enumerate(tiles, 1):
        if deadline.passed():
            break
        parts = _around_flagged(guesses.doubtful, tile, cfa, guess_halo(cfa, contest.quick))
        seen = np.zeros((2, *(axis.stop - axis.start for axis in tile.seen)), np.float32)
        for part in parts:
            place, held = _within(part.core, tile.seen), guesses.doubtful[part.core]
            for which, error in enumerate(_tried(guesses, samples, cfa, contest, threads, part)):
                np.copyto(seen[which][place], error, where=held)
        for which, error in enumerate(seen if parts else ()):
            totals[which] += total_error(error[tile.inner])
            kept[which].write(*tile.core, local_error(error)[tile.inner])
        report(_SHARE_OF_GUESSES + (1 - _SHARE_OF_GUESSES) * number / len(tiles))
    smooth, residual = (mean_error(total, samples.size) for total in totals)
    return _Trials(kept, (smooth, residual))


def _tried(
    guesses: _Guesses, samples: Samples, cfa: Cfa, contest: Contest, threads: int, part: Tile
) -> tuple[Float32, Float32]:
    """Return the squared errors of both methods in a part of the picture."""
    one, other = (guess.others[:, *part.seen] for guess in (guesses.smooth, guesses.residual))
    mosaic, stored = samples.window(*part.seen), guesses.smooth
    others = (stored.steps.values(one) + stored.steps.values(other)) * np.float32(0.5)
    middle = np.moveaxis(stored.spread(mosaic, others, *part.seen), 0, 2)
    smooth, residual = contest.errors(middle, mosaic, cfa, threads)
    return smooth[part.inner], residual[part.inner]


def _around_flagged(flags: Flags, tile: Tile, cfa: Cfa, halo: int) -> list[Tile]:
    """Return tiles, each with a halo, that hold the flagged pixels that a tile sees: one, or small ones.

    What is computed at a pixel is the same in all; they are of the side with which they see least together.
    """
    ways = [_around(flags, tile.seen, cfa, halo)]
    for side in _SMALL:
        rows, columns = ([*range(axis.start, axis.stop, side), axis.stop] for axis in tile.seen)
        places = product(pairwise(rows), pairwise(columns))
        ways.append(
            [
                part
                for down, across in places
                for part in _around(flags, (slice(*down), slice(*across)), cfa, halo)
            ]
        )
    return min(ways, key=lambda parts: sum(part.work for part in parts))


def _around(flags: Flags, place: tuple[slice, slice], cfa: Cfa, halo: int) -> list[Tile]:
    """Return the tile around the flagged pixels in a place, with its own halo, if there are any."""
    rows, columns = (np.flatnonzero(flags[place].any(axis=axis)) for axis in (1, 0))
    if not rows.size:
        return []
    spans = [
        span(axis.start + int(found[0]), axis.start + int(found[-1]) + 1, halo, period, length)
        for axis, found, period, length in zip(place, (rows, columns), cfa.period, flags.shape, strict=True)
    ]
    core, seen, inner = zip(*spans, strict=True)
    return [Tile(core, seen, inner)]


def _blend(guesses: _Guesses, trials: _Trials, rows: slice, error: Float32) -> None:
    """Write the blend of some rows in the place of the smooth guess, and its error where that is wanted."""
    columns = slice(0, guesses.smooth.shape[2])
    local = [errors.read(rows, columns) for errors in trials.errors]
    confidence = confidence_in_smooth(local[0], local[1], *trials.means)
    smooth, residual = guesses.smooth.others[:, rows], guesses.residual.others[:, rows].astype(np.float32)
    blended = residual + confidence * (smooth.astype(np.float32) - residual)
    blended += np.float32(0.5)
    smooth[...] = blended
    if error.size:
        told = local[1] + confidence * (local[0] - local[1])
        error[rows] = np.where(guesses.doubtful[rows], told, np.square(guesses.distance[rows]))


def _bands(height: int) -> Iterator[slice]:
    """Yield slices of rows, a few at a time."""
    return (slice(top, min(top + _BAND, height)) for top in range(0, height, _BAND))
