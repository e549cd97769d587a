"""The first estimate of a mosaic: the blend of two guesses, computed in tiles whose seams are exact."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.deadline import Deadline
from demosaic_ntc.demosaicing.cfa import Cfa
from demosaic_ntc.demosaicing.interpolation.blend import MethodSelection, confidence_in_smooth
from demosaic_ntc.demosaicing.method_selection import Trials, trials_where
from demosaic_ntc.demosaicing.quantised_planes import QuantisedPlanes
from demosaic_ntc.demosaicing.samples import MosaicSamples
from demosaic_ntc.demosaicing.subsampled_map import SubsampledMap
from demosaic_ntc.demosaicing.tile_interpolation import Guesses, guesses_of_all
from demosaic_ntc.engine.parallel import imap_threads
from demosaic_ntc.engine.tiles import TILE_SIDE

Report = Callable[[float], None]

_SHARE_OF_GUESSES = 0.3  # of the time that guesses and trials take
_BAND = 64  # rows that are blended together
_NEVER = Deadline()


@dataclass(frozen=True, slots=True, eq=False)
class InitialEstimate:
    """The first estimate of a mosaic with full scale 1, samples in their place."""

    picture: QuantisedPlanes
    differing: Flags  # (height, width): whether the two guesses lie far apart around a pixel
    error: Float32  # (height, width), or empty: expected squares, as trials or the distance of guesses tell
    confidence: SubsampledMap  # (height, width): the share of the smooth guess


def first_estimate(
    samples: MosaicSamples,
    cfa: Cfa,
    contest: MethodSelection,
    threads: int,
    report: Report,
    least: float = -1.0,
    far: float = -1.0,
    errors: bool = False,
    side: int = TILE_SIDE,
    deadline: Deadline = _NEVER,
) -> InitialEstimate:
    """Return the first estimate of a mosaic; what is not guessed by the deadline is interpolated plainly.

    Trials are held where the guesses differ by more than ``least``, and around; pixels around which they
    differ by more than ``far`` are flagged. The error is told if ``errors`` are wanted.
    """
    heard, confidence = _make_share_reporter(report, 0.0, _SHARE_OF_GUESSES), SubsampledMap(samples.shape[1:])
    guesses = guesses_of_all(samples, cfa, contest, threads, heard, least, far, errors, side, deadline)
    if deadline.is_over():
        return InitialEstimate(guesses.smooth, guesses.differing, np.square(guesses.distance), confidence)
    heard = _make_share_reporter(report, _SHARE_OF_GUESSES, 1.0)
    trials = trials_where(guesses, contest, threads, heard, side, deadline)
    if deadline.is_over():  # trials of a part would favour it: the first guess stands
        return InitialEstimate(guesses.smooth, guesses.differing, np.square(guesses.distance), confidence)
    error = np.empty(samples.shape[1:] if errors else (0, 0), np.float32)
    bands = list(_bands(samples.shape[1]))
    for _ in imap_threads(lambda rows: _blend(guesses, trials, rows, error, confidence), bands, threads):
        pass
    return InitialEstimate(guesses.smooth, guesses.differing, error, confidence)


def _blend(guesses: Guesses, trials: Trials, rows: slice, error: Float32, kept: SubsampledMap) -> None:
    """Write the blend of some rows in the place of the smooth guess, and its error where that is wanted.

    Also keep the share of the smooth guess.
    """
    columns = slice(0, guesses.smooth.shape[2])
    local = [errors.read(rows, columns) for errors in trials.errors]
    confidence = confidence_in_smooth(local[0], local[1], *trials.means)
    kept.write(rows, columns, confidence)
    smooth, residual = guesses.smooth.others[:, rows], guesses.residual.others[:, rows].astype(np.float32)
    blended = residual + confidence * (smooth.astype(np.float32) - residual)
    blended += np.float32(0.5)
    smooth[...] = blended
    if error.size:
        told = local[1] + confidence * (local[0] - local[1])
        error[rows] = np.where(guesses.doubtful[rows], told, np.square(guesses.distance[rows]))


def _make_share_reporter(report: Report, start: float, stop: float) -> Report:
    """Return how to report the share of a stage that lasts from one share of the whole to another."""
    return lambda share: report(start + (stop - start) * share)


def _bands(height: int) -> Iterator[slice]:
    """Yield slices of rows, a few at a time."""
    return (slice(top, min(top + _BAND, height)) for top in range(0, height, _BAND))
