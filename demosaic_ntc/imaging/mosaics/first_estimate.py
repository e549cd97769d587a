"""The first estimate of a mosaic: the blend of two guesses, computed in tiles whose seams are exact."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from demosaic_ntc.arrays import Float32, Planes
from demosaic_ntc.imaging.cfa import Cfa
from demosaic_ntc.imaging.first_guess.blend import (
    SMOOTHING_HALO,
    Trial,
    apart,
    mean_error,
    total_error,
    trial_halo,
    weigh,
)
from demosaic_ntc.imaging.tiles import TILE_SIDE, Tile, tiles_of

Try = Callable[[Float32, Cfa, int], Trial]
Report = Callable[[float], None]


@dataclass(frozen=True, slots=True, eq=False)
class First:
    """The first estimate of a mosaic with full scale 1, samples in their place."""

    planes: Planes  # (3, height, width)
    error: Float32  # (height, width): its expected square, as the trials tell it
    differing: Float32  # (height, width): how far the two guesses lie apart around a pixel


def first_estimate(
    mosaic: Float32, cfa: Cfa, trial: Try, threads: int, report: Report, side: int = TILE_SIDE
) -> First:
    """Return the first estimate of a mosaic, (height, width), with full scale 1."""
    shape = (mosaic.shape[0], mosaic.shape[1])
    tried = _trial_of_all(mosaic, cfa, trial, threads, report, side)
    means = [
        mean_error(total_error(error), error.size) for error in (tried.smooth_error, tried.residual_error)
    ]
    planes, (error, differing) = np.empty((3, *shape), np.float32), np.empty((2, *shape), np.float32)
    for tile in tiles_of(shape, SMOOTHING_HALO, cfa.period, side):
        part = weigh(_part(tried, tile), *means)
        planes[:, *tile.core] = np.moveaxis(part.image[tile.inner], 2, 0)
        error[tile.core] = part.error[tile.inner]
        differing[tile.core] = apart(part.trial)[tile.inner]
    channels = cfa.channel_map(shape)
    for channel, plane in enumerate(planes):
        np.copyto(plane, mosaic, where=channels == channel)
    return First(planes, error, differing)


def _trial_of_all(mosaic: Float32, cfa: Cfa, trial: Try, threads: int, report: Report, side: int) -> Trial:
    """Run the trials tile by tile."""
    shape = (mosaic.shape[0], mosaic.shape[1])
    whole = Trial(
        np.empty((*shape, 3), np.float32),
        np.empty((*shape, 3), np.float32),
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
    )
    tiles = list(tiles_of(shape, trial_halo(cfa), cfa.period, side))
    done, total = 0, sum(tile.work for tile in tiles)
    for tile in tiles:
        part = trial(np.ascontiguousarray(mosaic[tile.seen]), cfa, threads)
        whole.smooth[tile.core], whole.residual[tile.core] = (
            part.smooth[tile.inner],
            part.residual[tile.inner],
        )
        whole.smooth_error[tile.core] = part.smooth_error[tile.inner]
        whole.residual_error[tile.core] = part.residual_error[tile.inner]
        done += tile.work
        report(done / total)
    return whole


def _part(trial: Trial, tile: Tile) -> Trial:
    """Return what a tile sees of a trial."""
    return Trial(
        trial.smooth[tile.seen],
        trial.residual[tile.seen],
        trial.smooth_error[tile.seen],
        trial.residual_error[tile.seen],
    )
