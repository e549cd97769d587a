"""Demosaicing: a first estimate, then steps over groups of similar patches."""

from dataclasses import dataclass, replace

import numpy as np

from demosaic_ntc.arrays import Flags, Float32, Planes
from demosaic_ntc.deadline import Deadline
from demosaic_ntc.demosaicing.cfa import Cfa
from demosaic_ntc.demosaicing.dilation import close_to
from demosaic_ntc.demosaicing.flat_regions import settle_calm
from demosaic_ntc.demosaicing.initial_estimate import first_estimate
from demosaic_ntc.demosaicing.interpolation.blend import MethodSelection
from demosaic_ntc.demosaicing.samples import MosaicSamples
from demosaic_ntc.demosaicing.subsampled_map import SubsampledMap
from demosaic_ntc.engine.groups import Shares, count_references, unproven
from demosaic_ntc.engine.observations import ObservedPixels
from demosaic_ntc.engine.pass_tables import AGREED, Plan
from demosaic_ntc.engine.passes import HoleKind
from demosaic_ntc.engine.restore import Estimate, MaskedPass, Report, restore
from demosaic_ntc.engine.result import Progress, ReportProgress

_UNITS = 1000  # of progress in a stage
_RIM = 5  # pixels
_LEAST_SHARE = np.float32(0.3)  # of the correction of means, where the first estimate is the smooth guess
_DOUBT = 1.5  # standard deviations of noise that guesses differ by for its sake
# Two trials tell as much as three, within .01 dB in the mean; of one alone some pictures lose .4 dB.
_TWO_SHIFTS = ((0, 1), (1, 0))
TRIALS: dict[str, MethodSelection] = {
    "fast": MethodSelection(quick=True, shifts=_TWO_SHIFTS),
    "normal": MethodSelection(quick=False, shifts=_TWO_SHIFTS),
    "best": MethodSelection(quick=False),
}
# Where first guesses differ by less there is nothing to be gained that could be seen, by quality: .006 dB on
# Kodak and .008 on McMaster are lost at 1.5 of 255, .04 and .007 at 2.
EVERYWHERE = -1.0
APART = {"fast": 2 / 255, "normal": 1.5 / 255, "best": EVERYWHERE}
# Noise makes them differ where there is nothing else: more gains nothing on parts of sixteen pictures.
_APART_IN_NOISE = 2.5 / 255
SHOWS = (0.5 / 255) ** 2  # a variance of noise above which it shows: half a level of 255


@dataclass(frozen=True, slots=True, eq=False)
class Completed:
    """A mosaic restored."""

    estimate: Estimate  # with expected squared errors where they are wanted
    bounds: Float32  # of the norms of groups that were completed: see `unproven`


def complete_mosaic(
    samples: MosaicSamples,
    missing: Flags | None,
    cfa: Cfa,
    trial: MethodSelection,
    plan: Plan,
    threads: int,
    progress: ReportProgress,
    deadline: Deadline,
    errors: bool = False,
    noise: Float32 | None = None,
    strength: float = 1.0,
    apart: float = 0.0,
) -> Completed:
    """Restore the picture of a mosaic with full scale 1.

    Samples that are missing take part in the first estimate only, as they stand. With ``noise``, (3, levels),
    the variance of samples at equal steps from level 0 to 1, they are estimated like all else; without it
    they are exact; ``strength`` multiplies the deviation that is reckoned with. Groups are formed where the
    first guesses differ by more than ``apart``, everywhere if that is negative; of noisy samples where more
    than noise is seen, small ones where the guesses agree.
    """
    shows = noise is not None and noise.mean() > SHOWS
    if shows:
        # What refined guesses tell apart better is lost in noise, and where guesses agree, all they gain.
        trial = replace(trial, quick=True, sparing=True)
        apart = apart if apart < 0 else max(apart, _APART_IN_NOISE)
    doubt = apart if noise is None or apart < 0 else apart + _DOUBT * float(np.sqrt(noise.mean()))
    reported = _make_reporter(progress, "first estimate")
    first = first_estimate(samples, cfa, trial, threads, reported, doubt, apart, errors, deadline=deadline)
    picture = first.picture
    if noise is not None or missing is not None:
        picture = picture.store_all(missing if noise is None else None)
    known = _make_observed(samples, missing, cfa, noise, strength)
    variance = _variance(first.error, known, noise) if errors else np.zeros((0, 0, 0), np.float32)
    if deadline.is_over():
        step = plan[HoleKind.BAYER if cfa.is_bayer else HoleKind.ARRAY][-1]
        groups = count_references(first.differing, step.patches.fit_to(samples.shape[1:])) if step.norm else 0
        return Completed(Estimate(picture, variance), unproven(groups))
    wanted = uncertain = find_refinement_mask(first.differing, missing)
    if noise is not None and shows and apart >= 0:
        wanted = ~settle_calm(picture, samples, cfa, noise, strength, threads, deadline)
    shares = _shares(first.confidence)
    works = _works(plan, HoleKind.BAYER if cfa.is_bayer else HoleKind.ARRAY, wanted, uncertain, shares)
    del first, uncertain
    start, heard = Estimate(picture, variance), _make_reporter(progress, "groups")
    return Completed(*restore(start, known, works, threads, heard, deadline))


def _shares(confidence: SubsampledMap) -> Shares:
    """Return how far the means of groups are corrected: the less the more the smooth guess is trusted.

    Where it is, colours follow each other, and estimates are so good that samples tell little of their means.
    """
    return lambda places: 1 - (1 - _LEAST_SHARE) * confidence.at(places)


def _works(plan: Plan, kind: HoleKind, wanted: Flags, uncertain: Flags, shares: Shares) -> list[MaskedPass]:
    """Return the steps: all where guesses differ, small groups where noise alone is to be taken off."""
    steps = plan[kind]
    if wanted is uncertain:
        return [MaskedPass(step, wanted, shares) for step in steps]
    differing = wanted & uncertain
    return [
        *(MaskedPass(step, differing, shares) for step in steps),
        MaskedPass(AGREED[kind], wanted & ~uncertain, shares),
    ]


def find_refinement_mask(differing: Flags, missing: Flags | None) -> Flags:
    """Return where groups are formed: where first guesses differ, close to it, and where samples are missing.

    All are (height, width). The rim takes in what a patch there spans: no seam can be seen where guesses
    agree on both sides of it.
    """
    close = close_to(differing, _RIM)
    return close if missing is None else close | missing


def _make_observed(
    samples: MosaicSamples, missing: Flags | None, cfa: Cfa, noise: Float32 | None, strength: float
) -> ObservedPixels:
    """Return what is known of a mosaic, as exact as its samples are."""
    shape = samples.shape[1:]
    entries = np.left_shift(np.uint8(1), cfa.channel_map(shape))
    if missing is not None:
        entries[missing] = 0
    low, high = samples.extremes(cfa, missing)
    if not (low <= high).all():  # nothing is known of such a channel: all samples bound it
        low, high = samples.extremes(cfa)
    depth = np.broadcast_to(np.uint8(1), shape)
    if noise is None:
        return ObservedPixels(entries, depth, low, high, np.zeros((3, 1), np.float32))
    return ObservedPixels(entries, depth, low, high, noise * np.float32(strength**2), samples)


def _variance(expected: Float32, known: ObservedPixels, noise: Float32 | None) -> Planes:
    """Return the expected squared error of the first estimate, (3, height, width)."""
    of_known = np.float32(0 if noise is None else noise.mean())
    return np.stack([np.where(known.flags(channel), of_known, expected) for channel in range(3)])


def _make_reporter(progress: ReportProgress, stage: str) -> Report:
    """Return how to report the share of a stage that is done."""
    return lambda share: progress(Progress(stage, round(share * _UNITS), _UNITS))
