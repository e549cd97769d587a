"""Demosaicing: a first estimate, then steps over groups of similar patches."""

from dataclasses import replace

import numpy as np

from demosaic_ntc.arrays import Flags, Float32, Planes
from demosaic_ntc.imaging.cfa import Cfa
from demosaic_ntc.imaging.first_guess.blend import try_both, try_quickly
from demosaic_ntc.imaging.known import Known
from demosaic_ntc.imaging.mosaics.calm import settle_calm
from demosaic_ntc.imaging.mosaics.first_estimate import Try, first_estimate
from demosaic_ntc.imaging.plan import TOLERANCE, Kind
from demosaic_ntc.imaging.plans import Plan
from demosaic_ntc.imaging.restore import Estimate, Report, Work, restore
from demosaic_ntc.imaging.restored import Progress, ReportProgress
from demosaic_ntc.ntc.deadline import Deadline

_UNITS = 1000  # of progress in a stage
TRIALS: dict[str, Try] = {"fast": try_quickly, "normal": try_both, "best": try_both}


def complete_mosaic(
    mosaic: Float32,
    missing: Flags | None,
    cfa: Cfa,
    trial: Try,
    plan: Plan,
    threads: int,
    progress: ReportProgress,
    deadline: Deadline,
    errors: bool = False,
    noise: Float32 | None = None,
) -> tuple[Estimate, Float32]:
    """Restore the picture of a mosaic, (height, width), with full scale 1.

    Samples that are missing take part in the first estimate only, as they stand. With ``noise``, (3, levels),
    the variance of samples at equal steps from level 0 to 1, they are estimated like all else; without it
    they are exact. Returns the estimate, with
    expected squared errors where they are wanted, and the certified gaps of the groups of the last step.
    """
    if noise is not None and noise.mean() > TOLERANCE:
        trial = try_quickly  # what refined guesses tell apart better is lost in noise
    planes, expected = first_estimate(mosaic, cfa, trial, threads, _reporting(progress, "first estimate"))
    channels = cfa.channel_map(mosaic.shape)
    known = np.stack([channels == channel for channel in range(3)])
    if missing is not None:
        known &= ~missing
    start = Estimate(planes, _variance(expected, known, noise) if errors else np.zeros((0, 0, 0), np.float32))
    what = Known.of(planes, known, np.ones(mosaic.shape, np.uint8), noise)
    wanted = np.ones(mosaic.shape, np.bool_)
    if noise is not None:
        what = replace(what, measured=mosaic[None])
        wanted = ~settle_calm(planes, mosaic, cfa, noise, threads)
    del known, expected
    works = [Work(step, wanted) for step in plan[Kind.BAYER if cfa.is_bayer else Kind.ARRAY]]
    return restore(start, what, works, threads, _reporting(progress, "groups"), deadline)


def _variance(expected: Float32, known: Flags, noise: Float32 | None) -> Planes:
    """Return the expected squared error of the first estimate, (3, height, width)."""
    return np.where(known, np.float32(0 if noise is None else noise.mean()), expected)


def _reporting(progress: ReportProgress, stage: str) -> Report:
    """Return how to report the share of a stage that is done."""
    return lambda share: progress(Progress(stage, round(share * _UNITS), _UNITS))
