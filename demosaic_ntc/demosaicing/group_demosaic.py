"""Demosaicing: a first estimate, then steps over groups of similar patches."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demosaic_ntc.arrays import Bits, Flags, Float32, Places, Planes
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.flat_regions import settle_calm
from demosaic_ntc.demosaicing.initial_estimate import SubsampledMap, first_estimate
from demosaic_ntc.demosaicing.interpolation.blend import MethodSelection
from demosaic_ntc.demosaicing.interpolation.dead_samples import fill_dead_samples
from demosaic_ntc.demosaicing.quantised_planes import MosaicSamples, QuantisedPlanes
from demosaic_ntc.engine.checks import check_missing, check_noise
from demosaic_ntc.engine.groups import count_references, unproven
from demosaic_ntc.engine.pass_tables import AGREED, COMPLETIONS, PLANS, Plan
from demosaic_ntc.engine.passes import HoleKind, ObservedPixels, Step, WindowedBits
from demosaic_ntc.engine.restore import Estimate, MaskedPass, restore
from demosaic_ntc.engine.result import NormCertificate, StoredPicture, notices_of, out_of_time
from demosaic_ntc.engine.tiles import close_to
from demosaic_ntc.errors import InputError, as_number
from demosaic_ntc.run import Run

_RIM = 5  # pixels
_LEAST_SHARE = np.float32(0.3)  # of the correction of means, where the first estimate is the smooth guess
_LEAST_ERROR = np.float32(0.4 / 255**2)  # squared, of a first estimate where its guesses agree
_STRONGEST = 1e3  # times the noise there is: more changes nothing
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


@dataclass(frozen=True, slots=True)
class ArrayEntries:
    """The entry that a colour array measures at each pixel, as a bit, told window by window."""

    cfa: Cfa
    shape: tuple[int, int]

    def __getitem__(self, place: tuple[slice, slice], /) -> Bits:
        """Return the bits of a window."""
        spans = zip(place, self.shape, strict=True)
        rows, columns = (slice(*part.indices(length)[:2]) for part, length in spans)
        return np.left_shift(np.uint8(1), self.cfa.window(rows, columns))


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredMosaic:
    """A mosaic with full scale 1, as exact as its samples are."""

    samples: MosaicSamples  # those that are missing are filled from their neighbours
    cfa: Cfa
    missing: Flags | None = None  # (height, width): samples that take part in the first estimate only
    noise: Float32 | None = None  # (3, levels): variance at equal steps from level 0 to 1; exact without
    strength: float = 1.0  # times the noise's standard deviation: what the engine assumes

    @classmethod
    def check(
        cls,
        samples: MosaicSamples,
        cfa: Cfa,
        missing: NDArray[np.bool_] | None = None,
        noise: ArrayLike | None = None,
        strength: float = 1.0,
        threads: int = 1,
    ) -> "MeasuredMosaic":
        """Return a mosaic with the standard deviations of its noise, missing samples filled; or raise."""
        dead = None if missing is None else check_missing(missing, "mosaic", samples.shape[1:])
        filled = samples if dead is None else fill_dead_samples(samples, dead, cfa, threads)
        variance = None if noise is None else check_noise(noise, 1.0, 3)
        return cls(filled, cfa, dead, variance, check_strength(strength))

    @property
    def keeps_samples(self) -> bool:
        """Whether samples stay as they are: they are exact, or none of their noise is to be removed."""
        return self.noise is None or self.strength == 0

    def observe(self, threads: int = 1) -> ObservedPixels:
        """Return what is known of the picture."""
        shape = self.samples.shape[1:]
        entries: WindowedBits = ArrayEntries(self.cfa, (shape[0], shape[1]))
        if self.missing is not None:
            entries = np.where(self.missing, np.uint8(0), entries[:, :])
        low, high = self.samples.extremes(self.cfa, self.missing, threads)
        if not (low <= high).all():  # nothing is known of such a channel: all samples bound it
            low, high = self.samples.extremes(self.cfa, threads=threads)
        depth = np.broadcast_to(np.uint8(1), shape)
        if self.noise is None or self.keeps_samples:
            return ObservedPixels(entries, depth, low, high, np.zeros((3, 1), np.float32))
        share = 1 / self.strength**2
        return ObservedPixels(
            entries, depth, low, high, self.noise * np.float32(self.strength**2), self.samples, share
        )


@dataclass(frozen=True, slots=True)
class Effort:
    """How a mosaic is restored: by which trials and steps, and where."""

    trial: MethodSelection
    plan: Plan
    apart: float  # groups are formed where first guesses differ by more, everywhere if it is negative

    @classmethod
    def of(cls, method: str, quality: str) -> "Effort":
        """Return the effort of a method and a quality."""
        if method == "ntc":
            return cls(TRIALS[quality], COMPLETIONS[quality], EVERYWHERE)
        return cls(TRIALS[quality], PLANS[quality], APART[quality])

    def adapt_to_noise(self) -> "Effort":
        """Return the effort for samples whose noise shows.

        It drowns the details that refined guesses tell apart, and all that is gained where guesses agree.
        """
        apart = self.apart if self.apart < 0 else max(self.apart, _APART_IN_NOISE)
        return Effort(replace(self.trial, quick=True, sparing=True), self.plan, apart)


def demosaic_stored(
    samples: MosaicSamples,
    cfa: Cfa,
    run: Run,
    *,
    method: str = "gaussian",
    quality: str = "normal",
    missing: NDArray[np.bool_] | None = None,
    noise: ArrayLike | None = None,
    strength: float = 1.0,
) -> StoredPicture:
    """Do what `demosaic` does by groups, with samples and picture kept in their compact storage."""
    mosaic = MeasuredMosaic.check(samples, cfa, missing, noise, strength, run.threads)
    return complete_mosaic(mosaic, Effort.of(method, quality), run)


def complete_mosaic(mosaic: MeasuredMosaic, effort: Effort, run: Run) -> StoredPicture:
    """Restore the picture of a mosaic.

    Groups are formed where the first guesses differ. If samples are noisy, they are formed wherever more than
    noise is seen: small ones where the guesses agree.
    """
    noise, missing, samples = mosaic.noise, mosaic.missing, mosaic.samples
    shows = noise is not None and bool(noise.mean() > SHOWS)
    effort = effort.adapt_to_noise() if shows else effort
    doubt = apart = effort.apart
    if noise is not None and apart >= 0:
        doubt = apart + _DOUBT * float(np.sqrt(noise.mean()))
    first = first_estimate(samples, mosaic.cfa, effort.trial, run.stage("first estimate"), doubt, apart)
    wanted = uncertain = find_refinement_mask(first.differing[:, :], missing)
    picture, error, confidence = first.picture, first.error, first.confidence
    del first  # flags take a byte per pixel
    kind = HoleKind.BAYER if mosaic.cfa.is_bayer else HoleKind.ARRAY
    known, steps = mosaic.observe(run.threads), effort.plan[kind]
    if not mosaic.keeps_samples:
        picture = picture.store_all()
    elif missing is not None:
        picture = picture.store_some(missing)
    variance = _variance(error, known, noise) if run.want_error else np.zeros((0, 0, 0), np.float32)
    start = Estimate(picture, variance)
    if run.deadline.is_over():
        count = count_references(wanted, steps[-1].patches.fit_to(samples.shape[1:]))
        return _store(start, unproven(count), steps, run)
    if noise is not None and shows and not mosaic.keeps_samples and not steps[-1].norm:
        wanted = ~settle_calm(picture, samples, mosaic.cfa, noise, mosaic.strength, run)
    works = _works(steps, AGREED[kind], wanted, uncertain, confidence)
    del uncertain
    estimate, bounds, check = restore(start, known, works, run.stage("groups"))
    stored = _store(estimate, bounds, steps, run)
    return replace(stored, check=check, notices=(*stored.notices, *notices_of(check)))


def _store(
    estimate: Estimate[QuantisedPlanes], bounds: Float32, steps: tuple[Step, ...], run: Run
) -> StoredPicture:
    """Return an estimate with what is proven of it, where groups were to be completed."""
    proven = NormCertificate.of(bounds) if steps[-1].norm else None
    return StoredPicture(estimate.planes, proven, estimate.variance, out_of_time(run.deadline))


def _works(
    steps: tuple[Step, ...], small: Step, wanted: Flags, uncertain: Flags, confidence: SubsampledMap
) -> list[MaskedPass]:
    """Return the steps: all where guesses differ, small groups where only noise is to be removed.

    The means of groups are corrected the less the more the smooth guess is trusted: where it is, colours
    follow each other, and estimates are so good that samples tell little of their means.
    """

    def shares(places: Places) -> Float32:
        return 1 - (1 - _LEAST_SHARE) * confidence.at(places)

    if wanted is uncertain:
        return [MaskedPass(step, wanted, shares, step is steps[-1]) for step in steps]
    differing = wanted & uncertain
    return [
        *(MaskedPass(step, differing, shares, step is steps[-1]) for step in steps),
        MaskedPass(small, wanted & ~uncertain, shares, True),
    ]


def find_refinement_mask(differing: Flags, missing: Flags | None) -> Flags:
    """Return where groups are formed: where first guesses differ, close to it, and where samples are missing.

    All are (height, width). The rim takes in what a patch there spans: no seam can be seen where guesses
    agree on both sides of it.
    """
    close = close_to(differing, _RIM)
    return close if missing is None else close | missing


def _variance(expected: Float32, known: ObservedPixels, noise: Float32 | None) -> Planes:
    """Return the expected squared error of the first estimate, (3, height, width)."""
    of_known = np.float32(0 if noise is None else noise.mean())
    return np.stack(
        [np.where(known.flags(channel), of_known, expected + _LEAST_ERROR) for channel in range(3)]
    )


def check_strength(strength: float) -> float:
    """Return a strength that noise can be removed with, or raise."""
    if not 0 <= as_number(strength) <= _STRONGEST:
        advice = f"give a strength from 0 to {_STRONGEST:g}, 1 for the noise there is"
        raise InputError(f"denoise is {strength!r}; {advice}")
    return float(strength)
