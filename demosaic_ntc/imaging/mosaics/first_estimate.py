"""The first estimate of a mosaic: the blend of two guesses, computed in tiles whose seams are exact."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from demosaic_ntc.arrays import Flags, Float32, Planes
from demosaic_ntc.imaging.cfa import Cfa
from demosaic_ntc.imaging.first_guess.blend import (
    SMOOTHING_HALO,
    Contest,
    Trial,
    apart,
    guess_halo,
    mean_error,
    total_error,
    weigh,
)
from demosaic_ntc.imaging.mosaics.rims import close_to
from demosaic_ntc.imaging.tiles import TILE_SIDE, Tile, span, tiles_of

Report = Callable[[float], None]

_APART_HALO = 4
_SHARE_OF_GUESSES = 0.3  # of the time that guesses and trials take


@dataclass(frozen=True, slots=True, eq=False)
class First:
    """The first estimate of a mosaic with full scale 1, samples in their place."""

    planes: Planes  # (3, height, width)
    error: Float32  # (height, width): its expected square, as trials tell it, or how far guesses differ
    differing: Float32  # (height, width): how far the two guesses lie apart around a pixel


def first_estimate(
    mosaic: Float32,
    cfa: Cfa,
    contest: Contest,
    threads: int,
    report: Report,
    least: float = -1.0,
    side: int = TILE_SIDE,
) -> First:
    """Return the first estimate of a mosaic, (height, width), with full scale 1.

    Trials are held where the guesses differ by more than ``least``, and around.
    """
    shape = (mosaic.shape[0], mosaic.shape[1])
    guesses = _guesses_of_all(mosaic, cfa, contest, threads, report, side)
    differing = _differing(*guesses, cfa, side)
    doubtful = close_to(differing > least, SMOOTHING_HALO)
    tried = _trials_where(doubtful, guesses, mosaic, cfa, contest, threads, report, side)
    means = [
        mean_error(total_error(error), error.size) for error in (tried.smooth_error, tried.residual_error)
    ]
    planes, error = np.empty((3, *shape), np.float32), np.empty(shape, np.float32)
    for tile in tiles_of(shape, SMOOTHING_HALO, cfa.period, side):
        part = weigh(_part(tried, tile), *means)
        planes[:, *tile.core] = np.moveaxis(part.image[tile.inner], 2, 0)
        error[tile.core] = part.error[tile.inner]
    np.copyto(error, np.square(differing), where=~doubtful)
    channels = cfa.channel_map(shape)
    for channel, plane in enumerate(planes):
        np.copyto(plane, mosaic, where=channels == channel)
    return First(planes, error, differing)


def _guesses_of_all(
    mosaic: Float32, cfa: Cfa, contest: Contest, threads: int, report: Report, side: int
) -> tuple[Float32, Float32]:
    """Make the two guesses, (height, width, 3), tile by tile."""
    shape = (mosaic.shape[0], mosaic.shape[1])
    smooth, residual = np.empty((*shape, 3), np.float32), np.empty((*shape, 3), np.float32)
    tiles = list(tiles_of(shape, guess_halo(cfa), cfa.period, side))
    for number, tile in enumerate(tiles, 1):
        part = contest.guesses(np.ascontiguousarray(mosaic[tile.seen]), cfa, threads)
        smooth[tile.core], residual[tile.core] = (guess[tile.inner] for guess in part)
        report(_SHARE_OF_GUESSES * number / len(tiles))
    return smooth, residual


def _differing(smooth: Float32, residual: Float32, cfa: Cfa, side: int) -> Float32:
    """Return how far guesses lie apart around every pixel, (height, width)."""
    differing = np.empty(smooth.shape[:2], np.float32)
    for tile in tiles_of((smooth.shape[0], smooth.shape[1]), _APART_HALO, cfa.period, side):
        differing[tile.core] = apart(smooth[tile.seen], residual[tile.seen])[tile.inner]
    return differing


def _trials_where(
    doubtful: Flags,
    guesses: tuple[Float32, Float32],
    mosaic: Float32,
    cfa: Cfa,
    contest: Contest,
    threads: int,
    report: Report,
    side: int,
) -> Trial:
    """Hold trials on the part of every tile that has doubtful pixels; elsewhere their errors are zero."""
    shape = (mosaic.shape[0], mosaic.shape[1])
    smooth_error, residual_error = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    tiles = list(tiles_of(shape, guess_halo(cfa), cfa.period, side))
    for number, tile in enumerate(tiles, 1):
        for part in _around(doubtful, tile, cfa):
            smooth, residual, samples = (np.ascontiguousarray(each[part.seen]) for each in (*guesses, mosaic))
            errors = contest.errors(smooth, residual, samples, cfa, threads)
            wanted = doubtful[part.core]
            np.copyto(smooth_error[part.core], errors[0][part.inner], where=wanted)
            np.copyto(residual_error[part.core], errors[1][part.inner], where=wanted)
        report(_SHARE_OF_GUESSES + (1 - _SHARE_OF_GUESSES) * number / len(tiles))
    return Trial(*guesses, smooth_error, residual_error)


def _around(doubtful: Flags, tile: Tile, cfa: Cfa) -> list[Tile]:
    """Return the tile around the doubtful pixels of a tile, with its own halo, if there are any."""
    rows = np.flatnonzero(doubtful[tile.core].any(axis=1))
    columns = np.flatnonzero(doubtful[tile.core].any(axis=0))
    if not rows.size:
        return []
    spans = [
        span(core.start + int(found[0]), core.start + int(found[-1]) + 1, guess_halo(cfa), period, length)
        for core, found, period, length in zip(
            tile.core, (rows, columns), cfa.period, doubtful.shape, strict=True
        )
    ]
    core, seen, inner = zip(*spans, strict=True)
    return [Tile(core, seen, inner)]


def _part(trial: Trial, tile: Tile) -> Trial:
    """Return what a tile sees of a trial."""
    return Trial(
        trial.smooth[tile.seen],
        trial.residual[tile.seen],
        trial.smooth_error[tile.seen],
        trial.residual_error[tile.seen],
    )
