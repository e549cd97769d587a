"""Demosaicing: a first estimate, then steps over groups of similar patches."""

from dataclasses import dataclass, replace

import numpy as np

from demosaic_ntc.arrays import Flags, Float32, Planes
from demosaic_ntc.imaging.cfa import Cfa
from demosaic_ntc.imaging.first_guess.blend import Contest, try_both, try_quickly
from demosaic_ntc.imaging.known import Known
from demosaic_ntc.imaging.mosaics.calm import settle_calm
from demosaic_ntc.imaging.mosaics.first_estimate import first_estimate
from demosaic_ntc.imaging.mosaics.rims import close_to
from demosaic_ntc.imaging.plan import TOLERANCE, Kind
from demosaic_ntc.imaging.plans import Plan
from demosaic_ntc.imaging.restore import Estimate, Report, Work, restore
from demosaic_ntc.imaging.restored import Progress, ReportProgress
from demosaic_ntc.ntc.deadline import Deadline

_UNITS = 1000  # of progress in a stage
_RIM = 5  # pixels
_DOUBT = 1.5  # standard deviations of noise that guesses differ by for its sake
TRIALS: dict[str, Contest] = {"fast": try_quickly, "normal": try_both, "best": try_both}
# Where first guesses differ by less there is nothing to be gained that could be seen, by quality.
APART = {"fast": 2 / 255, "normal": 1.75 / 255, "best": -1.0}


@dataclass(frozen=True, slots=True, eq=False)
class Completed:
    """A mosaic restored."""

    estimate: Estimate  # with expected squared errors where they are wanted
    gaps: Float32  # certified, of the groups of the last step
    left: float  # the share of the picture that was left to the first estimate


def complete_mosaic(
    mosaic: Float32,
    missing: Flags | None,
    cfa: Cfa,
    trial: Contest,
    plan: Plan,
    threads: int,
    progress: ReportProgress,
    deadline: Deadline,
    errors: bool = False,
    noise: Float32 | None = None,
    strength: float = 1.0,
    apart: float = 0.0,
) -> Completed:
    """Restore the picture of a mosaic, (height, width), with full scale 1.

    Samples that are missing take part in the first estimate only, as they stand. With ``noise``, (3, levels),
    the variance of samples at equal steps from level 0 to 1, they are estimated like all else; without it
    they are exact; ``strength`` multiplies the deviation that is reckoned with. Groups are formed where the
    first guesses differ by more than ``apart``, everywhere if that is negative; of noisy samples where more
    than noise is seen, once where the guesses agree.
    """
    shows = noise is not None and noise.mean() > TOLERANCE
    if shows:
        trial = try_quickly  # what refined guesses tell apart better is lost in noise
    doubt = apart if noise is None or apart < 0 else apart + _DOUBT * float(np.sqrt(noise.mean()))
    first = first_estimate(mosaic, cfa, trial, threads, _reporting(progress, "first estimate"), doubt)
    planes, known = first.planes, _measured(mosaic, missing, cfa)
    variance = _variance(first.error, known, noise) if errors else np.zeros((0, 0, 0), np.float32)
    start, what = Estimate(planes, variance), _what_is_known(planes, known, mosaic, noise, strength)
    wanted = uncertain = worth_groups(first.differing, apart) | (False if missing is None else missing)
    if noise is not None and shows and apart >= 0:
        wanted = ~settle_calm(planes, mosaic, cfa, noise, strength, threads)
    del known, first
    *before, last = plan[Kind.BAYER if cfa.is_bayer else Kind.ARRAY]
    works = [*(Work(step, wanted & uncertain) for step in before), Work(last, wanted)]
    estimate, gaps = restore(start, what, works, threads, _reporting(progress, "groups"), deadline)
    return Completed(estimate, gaps, 1 - float(wanted.mean()))


def worth_groups(differing: Float32, apart: float) -> Flags:
    """Return where groups are formed: where first guesses differ by more than ``apart``, and close to it.

    ``differing`` is (height, width). The rim takes in what a patch there spans: no seam can be seen where
    guesses agree on both sides of it.
    """
    return close_to(differing > apart, _RIM)


def _measured(mosaic: Float32, missing: Flags | None, cfa: Cfa) -> Flags:
    """Return which entries were measured, (3, height, width)."""
    channels = cfa.channel_map(mosaic.shape)
    known = np.stack([channels == channel for channel in range(3)])
    return known if missing is None else known & ~missing


def _what_is_known(
    planes: Planes, known: Flags, mosaic: Float32, noise: Float32 | None, strength: float
) -> Known:
    """Return what is known of a picture, as exact as its samples are."""
    depth = np.ones(mosaic.shape, np.uint8)
    if noise is None:
        return Known.of(planes, known, depth)
    assumed = noise * np.float32(strength**2)
    return replace(Known.of(planes, known, depth, assumed), measured=mosaic[None])


def _variance(expected: Float32, known: Flags, noise: Float32 | None) -> Planes:
    """Return the expected squared error of the first estimate, (3, height, width)."""
    return np.where(known, np.float32(0 if noise is None else noise.mean()), expected)


def _reporting(progress: ReportProgress, stage: str) -> Report:
    """Return how to report the share of a stage that is done."""
    return lambda share: progress(Progress(stage, round(share * _UNITS), _UNITS))
