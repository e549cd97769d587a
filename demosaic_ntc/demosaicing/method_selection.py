"""The trials in which the two guesses of a mosaic compete, held where these differ."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from demosaic_ntc.arrays import Float32
from demosaic_ntc.deadline import Deadline
from demosaic_ntc.demosaicing.interpolation.blend import (
    SMOOTHING_HALO,
    MethodSelection,
    guess_halo,
    local_error,
    mean_error,
    total_error,
)
from demosaic_ntc.demosaicing.subsampled_map import SubsampledMap
from demosaic_ntc.demosaicing.tile_interpolation import Guesses
from demosaic_ntc.engine.parallel import imap_threads
from demosaic_ntc.engine.tiles import Tile, around_flagged, tiles_of, within

Report = Callable[[float], None]


@dataclass(frozen=True, slots=True, eq=False)
class Trials:
    """The squared errors of both methods, smoothed, and their means over the picture."""

    errors: tuple[SubsampledMap, SubsampledMap]
    means: tuple[float, float]


def trials_where(
    guesses: Guesses, contest: MethodSelection, threads: int, report: Report, side: int, deadline: Deadline
) -> Trials:
    """Hold trials around the doubtful pixels of every tile until the deadline; else their errors are zero."""
    shape, cfa = guesses.doubtful.shape, guesses.smooth.cfa
    kept, totals = (SubsampledMap(shape), SubsampledMap(shape)), (0, 0)
    tiles = list(tiles_of(shape, SMOOTHING_HALO, cfa.period, side))
    sharing = max(threads // len(tiles), 1)  # threads that share a tile

    def keep_trials(tile: Tile) -> tuple[int, int]:
        parts = around_flagged(guesses.doubtful, tile, cfa.period, guess_halo(cfa, contest.quick))
        if not parts or deadline.is_over():
            return 0, 0
        smooth, residual = _errors_seen(guesses, contest, sharing, tile, parts)
        kept[0].write(*tile.core, local_error(smooth)[tile.inner])
        kept[1].write(*tile.core, local_error(residual)[tile.inner])
        return total_error(smooth[tile.inner]), total_error(residual[tile.inner])

    for number, found in enumerate(imap_threads(keep_trials, tiles, threads), 1):
        totals = totals[0] + found[0], totals[1] + found[1]
        report(number / len(tiles))
    pixels = guesses.doubtful.size
    return Trials(kept, (mean_error(totals[0], pixels), mean_error(totals[1], pixels)))


def _errors_seen(
    guesses: Guesses, contest: MethodSelection, threads: int, tile: Tile, parts: list[Tile]
) -> tuple[Float32, Float32]:
    """Return the squared errors of both methods in what a tile sees, zero where no trials are held."""
    seen = np.zeros((2, *(axis.stop - axis.start for axis in tile.seen)), np.float32)
    for part in parts:
        place, held = within(part.core, tile.seen), guesses.doubtful[part.core]
        for which, error in enumerate(_run_trial(guesses, contest, threads, part)):
            np.copyto(seen[which][place], error, where=held)
    return seen[0], seen[1]


def _run_trial(
    guesses: Guesses, contest: MethodSelection, threads: int, part: Tile
) -> tuple[Float32, Float32]:
    """Return the squared errors of both methods in a part of the picture."""
    one, other = (guess.others[:, *part.seen] for guess in (guesses.smooth, guesses.residual))
    stored = guesses.smooth
    mosaic = stored.samples.window(*part.seen)
    others = (stored.steps.values(one) + stored.steps.values(other)) * np.float32(0.5)
    middle = np.moveaxis(stored.spread(mosaic, others, *part.seen), 0, 2)
    smooth, residual = contest.errors(middle, mosaic, stored.cfa, threads)
    return smooth[part.inner], residual[part.inner]
