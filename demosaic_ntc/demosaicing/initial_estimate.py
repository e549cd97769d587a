"""The first estimate of a mosaic: two guesses, tile by tile, compete where they differ, and are blended.

All is computed in tiles whose seams are exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np

from demosaic_ntc.arrays import Float32, Places
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.interpolation import refine
from demosaic_ntc.demosaicing.interpolation.bilinear import bilinear, reach
from demosaic_ntc.demosaicing.interpolation.blend import (
    SMOOTHING_HALO,
    MethodSelection,
    apart,
    confidence_in_smooth,
    guess_halo,
    local_error,
    mean_error,
    refine_guesses,
    total_error,
)
from demosaic_ntc.demosaicing.quantised_planes import (
    LAST_CODE,
    DifferenceCodes,
    MosaicSamples,
    QuantisedPlanes,
    Quantiser,
    decode_difference,
    encode_difference,
)
from demosaic_ntc.engine.tiles import (
    TILE_SIDE,
    BitFlags,
    Tile,
    around_flagged,
    close_to,
    row_bands,
    tiles_of,
    within,
)
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
    difference: DifferenceCodes  # (2, height, width): what is added to the smooth guess for the residual one
    differing: BitFlags  # (height, width): by more than groups are formed for
    contested: BitFlags  # by more than trials are held for
    doubtful: BitFlags  # contested, or close to such
    distance: Float32  # (height, width), or empty where it is not wanted

    @classmethod
    def empty(cls, samples: MosaicSamples, cfa: Cfa, steps: Quantiser, errors: bool) -> Self:
        """Return room for guesses, and for their distance if errors are wanted."""
        shape = samples.shape[1:]
        smooth = QuantisedPlanes(samples, cfa, steps, np.empty((2, *shape), np.uint16))
        difference = np.empty((2, *shape), np.int8)
        distance = np.empty(shape if errors else (0, 0), np.float32)
        plane = np.zeros(shape, np.uint8)
        differing, contested, doubtful = (BitFlags(plane, np.uint8(bit)) for bit in (1, 2, 4))
        return cls(smooth, difference, differing, contested, doubtful, distance)


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
    for number, (tile, in_time) in enumerate(zip(tiles, run.map(guess, tiles, len(tiles)), strict=True), 1):
        late += [] if in_time else [tile]
        run.report(number / len(tiles))
    if late:
        _guess_plainly(samples, cfa, run, late, made.smooth)
        _leave_out(late, made, high - low)
    for rows in row_bands(samples.shape[1]):
        around, above = slice(max(rows.start - _TRIED, 0), rows.stop + _TRIED), min(rows.start, _TRIED)
        close = close_to(made.contested[around, :], _TRIED)
        made.doubtful[rows, :] = close[above : above + rows.stop - rows.start]
    return made


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
    codes = (into.smooth.steps.encode(np.moveaxis(guess[tile.inner], 2, 0)) for guess in part)
    smooth, residual = (into.smooth.pick_others(each, *tile.core) for each in codes)
    into.smooth.others[:, *tile.core] = smooth
    into.difference[:, *tile.core] = encode_difference(residual, smooth)
    into.differing[tile.core], into.contested[tile.core] = distance > far, distance > least
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
        into.differing[tile.core], into.contested[tile.core] = True, False
        into.difference[:, *tile.core] = 0
        if into.distance.size:
            into.distance[tile.core] = span


def _around_core(tile: Tile, shape: tuple[int, ...]) -> Tile:
    """Return the core of a tile with what is compared around it, and that within what the tile sees."""
    wide = tuple(
        slice(max(core.start - _APART_HALO, 0), min(core.stop + _APART_HALO, length))
        for core, length in zip(tile.core, shape, strict=True)
    )
    return Tile((wide[0], wide[1]), tile.seen, within((wide[0], wide[1]), tile.seen))


_SHARE_OF_GUESSES = 0.3  # of the time that guesses and trials take
STEP = 4  # rows and columns from one entry of a subsampled map to the next


class SubsampledMap:
    """A map of a picture, (height, width), of which every fourth row and column are kept."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self._kept = np.zeros([-(-length // STEP) for length in shape], np.float32)

    def write(self, rows: slice, columns: slice, values: Float32) -> None:
        """Keep some of the values of a window, (rows, columns)."""
        first, left = -rows.start % STEP, -columns.start % STEP
        some = values[first::STEP, left::STEP]
        top, start = -(-rows.start // STEP), -(-columns.start // STEP)
        self._kept[top : top + some.shape[0], start : start + some.shape[1]] = some

    def read(self, rows: slice, columns: slice) -> Float32:
        """Return the values of a window, on straight lines between those that are kept."""
        tall = _interpolate_axis(self._kept, rows, 0)
        return _interpolate_axis(tall, columns, 1)

    def at(self, places: Places) -> Float32:
        """Return the kept values at or just before some places, (count, 2)."""
        rows, columns = (places // STEP).T
        values: Float32 = self._kept[rows, columns]
        return values


def _interpolate_axis(values: Float32, places: slice, axis: int) -> Float32:
    """Return values at the places along an axis, the last one beyond all that are kept."""
    place = np.arange(places.start, places.stop)
    before = place // STEP
    after = np.minimum(before + 1, values.shape[axis] - 1)
    share = (place % STEP / np.float32(STEP)).astype(np.float32)
    share = share[:, None] if axis == 0 else share
    low = values.take(before, axis)
    result: Float32 = values.take(after, axis)
    result -= low
    result *= share
    result += low
    return result


@dataclass(frozen=True, slots=True, eq=False)
class Trials:
    """The squared errors of both methods, smoothed, and their means over the picture."""

    errors: tuple[SubsampledMap, SubsampledMap]
    means: tuple[float, float]


def trials_where(guesses: Guesses, contest: MethodSelection, run: Run, side: int) -> Trials:
    """Run trials around the doubtful pixels of every tile; errors are zero where none are run in time."""
    shape, cfa = guesses.doubtful.shape, guesses.smooth.cfa
    kept, totals = (SubsampledMap(shape), SubsampledMap(shape)), (0, 0)
    tiles = list(tiles_of(shape, SMOOTHING_HALO, cfa.period, side))
    sharing = max(run.threads // len(tiles), 1)  # threads that share a tile

    def keep_trials(tile: Tile) -> tuple[int, int]:
        parts = around_flagged(guesses.doubtful, tile, cfa.period, guess_halo(cfa, contest.quick))
        if not parts or run.deadline.is_over():
            return 0, 0
        smooth, residual = _run_trials(guesses, contest, sharing, tile, parts)
        kept[0].write(*tile.core, local_error(smooth)[tile.inner])
        kept[1].write(*tile.core, local_error(residual)[tile.inner])
        return total_error(smooth[tile.inner]), total_error(residual[tile.inner])

    for number, found in enumerate(run.map(keep_trials, tiles, len(tiles)), 1):
        totals = totals[0] + found[0], totals[1] + found[1]
        run.report(number / len(tiles))
    pixels = shape[0] * shape[1]
    return Trials(kept, (mean_error(totals[0], pixels), mean_error(totals[1], pixels)))


def _run_trials(
    guesses: Guesses, contest: MethodSelection, threads: int, tile: Tile, parts: list[Tile]
) -> tuple[Float32, Float32]:
    """Return the squared errors of both methods in what a tile sees, zero where no trials are held."""
    seen, stored = np.zeros((2, *(axis.stop - axis.start for axis in tile.seen)), np.float32), guesses.smooth
    for part in parts:
        mosaic = stored.samples.window(*part.seen)
        apart = decode_difference(guesses.difference[:, *part.seen])
        others = stored.steps.values(stored.others[:, *part.seen] + np.float32(0.5) * apart)
        middle = np.moveaxis(stored.spread(mosaic, others, *part.seen), 0, 2)
        place, held = within(part.core, tile.seen), guesses.doubtful[part.core]
        for errors, error in zip(seen, contest.errors(middle, mosaic, stored.cfa, threads), strict=True):
            np.copyto(errors[place], error[part.inner], where=held)
    return seen[0], seen[1]


@dataclass(frozen=True, slots=True, eq=False)
class InitialEstimate:
    """The first estimate of a mosaic with full scale 1, samples in their place."""

    picture: QuantisedPlanes
    differing: BitFlags  # (height, width): whether the two guesses lie far apart around a pixel
    error: Float32  # (height, width), or empty: expected squares, as trials or the distance of guesses tell
    confidence: SubsampledMap  # (height, width): the share of the smooth guess


def first_estimate(
    samples: MosaicSamples,
    cfa: Cfa,
    contest: MethodSelection,
    run: Run,
    least: float = -1.0,
    far: float = -1.0,
    side: int = TILE_SIDE,
) -> InitialEstimate:
    """Return the first estimate of a mosaic; what is not guessed by the deadline is interpolated plainly.

    Trials are held where the guesses differ by more than ``least``, and around; pixels around which they
    differ by more than ``far`` are flagged. The error is told if errors are wanted.
    """
    confidence = SubsampledMap(samples.shape[1:])
    guesses = guesses_of_all(samples, cfa, contest, run.part(0.0, _SHARE_OF_GUESSES), least, far, side)
    if run.deadline.is_over():
        return InitialEstimate(guesses.smooth, guesses.differing, np.square(guesses.distance), confidence)
    trials = trials_where(guesses, contest, run.part(_SHARE_OF_GUESSES, 1.0), side)
    if run.deadline.is_over():  # trials of a part would favour it: the first guess stands
        return InitialEstimate(guesses.smooth, guesses.differing, np.square(guesses.distance), confidence)
    error = np.empty(samples.shape[1:] if run.want_error else (0, 0), np.float32)
    run.do(lambda rows: _blend(guesses, trials, rows, error, confidence), row_bands(samples.shape[1]))
    return InitialEstimate(guesses.smooth, guesses.differing, error, confidence)


def _blend(guesses: Guesses, trials: Trials, rows: slice, error: Float32, kept: SubsampledMap) -> None:
    """Write the blend of some rows in the place of the smooth guess, and its error where that is wanted.

    Also keep the share of the smooth guess.
    """
    columns = slice(0, guesses.smooth.shape[2])
    local = [errors.read(rows, columns) for errors in trials.errors]
    confidence = confidence_in_smooth(local[0], local[1], *trials.means)
    kept.write(rows, columns, confidence)
    smooth = guesses.smooth.others[:, rows]
    blended = (1 - confidence) * decode_difference(guesses.difference[:, rows])
    blended += smooth + np.float32(0.5)
    smooth[...] = np.clip(blended, 0, LAST_CODE, out=blended)
    if error.size:
        told = local[1] + confidence * (local[0] - local[1])
        error[rows] = np.where(guesses.doubtful[rows, columns], told, np.square(guesses.distance[rows]))
