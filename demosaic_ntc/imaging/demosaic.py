"""From a mosaic to a picture: the border where input is checked, and the choice of method."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.errors import InputError
from demosaic_ntc.imaging.cfa import Cfa, as_cfa
from demosaic_ntc.imaging.checks import (
    QUALITIES,
    check_choice,
    checked_missing,
    checked_noise,
    checked_threads,
    full_scale,
    silently,
)
from demosaic_ntc.imaging.first_guess.bilinear import bilinear
from demosaic_ntc.imaging.first_guess.blend import blend
from demosaic_ntc.imaging.first_guess.dead_samples import without_missing
from demosaic_ntc.imaging.first_guess.kiku2014 import kiku2014
from demosaic_ntc.imaging.first_guess.malvar2004 import malvar2004
from demosaic_ntc.imaging.first_guess.zhang_wu2005 import zhang_wu2005
from demosaic_ntc.imaging.kernels.examples import for_mosaics, prepare_kernels
from demosaic_ntc.imaging.mosaics.complete import APART, TRIALS, complete_mosaic
from demosaic_ntc.imaging.plan import TOLERANCE
from demosaic_ntc.imaging.plans import PLANS, without_completion
from demosaic_ntc.imaging.restored import GroupCertificate, Progress, ReportProgress, Restored
from demosaic_ntc.ntc.deadline import Deadline

FirstGuess = Callable[[Float32, Cfa, int], Float32]

FIRST_GUESSES: dict[str, FirstGuess] = {
    "bilinear": lambda mosaic, cfa, threads: bilinear(mosaic, cfa),
    "malvar": lambda mosaic, cfa, threads: malvar2004(mosaic, cfa),
    "lmmse": lambda mosaic, cfa, threads: zhang_wu2005(mosaic, cfa),
    "mlri": lambda mosaic, cfa, threads: kiku2014(mosaic, cfa),
    "blend": lambda mosaic, cfa, threads: blend(mosaic, cfa, threads).image,
}
METHODS = ("ntc", "predict-only", *FIRST_GUESSES)
TENSORS = ("groups", "whole", "tiled")


def demosaic(
    mosaic: NDArray[Any],
    cfa: Cfa | str = "RGGB",
    *,
    method: str = "ntc",
    quality: str = "normal",
    tensor: str = "groups",
    seed: int = 0,
    threads: int | None = None,
    progress: ReportProgress | None = None,
    white: float | None = None,
    missing: NDArray[np.bool_] | None = None,
    time_limit: float | None = None,
    error: bool = False,
    noise: ArrayLike | None = None,
    denoise: float = 1.0,
) -> Restored:
    """Restore the full colour picture of a mosaic: float32, in its scale, with the measured samples kept.

    * ``mosaic``: height × width samples of any integer or float type, finite; without noise not negative.
    * ``cfa``: the colour array, a name (``"RGGB"``, ``"XTRANS"``), rows (``"RG/GB"``) or a `Cfa`.
    * ``method``: ``"ntc"`` (groups of patches predicted and completed), ``"predict-only"`` (the same without
      the completion, to see what it adds) or a first guess alone, one of `FIRST_GUESSES`.
    * ``quality``: ``"fast"``, ``"normal"`` or ``"best"``: how much effort the groups are worth.
    * ``tensor``: ``"groups"``; for study also ``"whole"`` (height × width × 3) and ``"tiled"``.
    * ``seed``: makes the random starts of ``"whole"`` and ``"tiled"`` repeatable; groups need none.
    * ``threads``: how many share the work, all processors by default; the result does not depend on it.
    * ``progress``: called with a `Progress` after each step.
    * ``white``: the sample value of full scale; by default the one `full_scale` reads from the data.
    * ``missing``: height × width flags of samples not to be used (dead pixels), which are restored as well.
    * ``time_limit``: seconds after which no more groups are restored: what stands then is the result, and the
      certificate shows it. The first estimate is always computed.
    * ``error``: also return `Restored.error`, the standard deviation of the error expected at every entry.
    * ``noise``: the standard deviation of the samples' noise, in their scale: one, or one for each of R, G
      and B, or for each of them those at equal steps of the level from 0 to ``white``, (3, steps). Samples
      are then not kept but estimated, so that the picture comes out without the noise; first guesses, and the
      tensors for study, ignore it.
    * ``denoise``: how strongly, as if samples had so many times their noise; not to be confused with it:
      where nothing but noise is seen, its true size tells.
    """
    array = as_cfa(cfa)
    check_choice("method", method, METHODS)
    check_choice("quality", quality, QUALITIES)
    check_choice("tensor", tensor, TENSORS)
    task = _Task.checked(mosaic, array, white, missing, checked_threads(threads), progress or silently, noise)
    strength = _checked_strength(denoise)
    prepare_kernels(for_mosaics(method, array.is_bayer, error))
    if method in FIRST_GUESSES:
        return task.interpolated(method)
    if method == "ntc" and tensor != "groups":
        return task.completed_plainly(tensor, quality, seed)
    return task.restored(method, quality, Deadline.after(time_limit), error, strength)


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """A mosaic that was found in order, and how to work on it."""

    samples: NDArray[Any]
    scaled: Float32  # full scale 1, missing samples filled from their neighbours
    scale: float
    cfa: Cfa
    missing: Flags | None
    threads: int
    report: ReportProgress
    noise: Float32 | None  # (3, levels): variance of the samples with full scale 1

    @classmethod
    def checked(
        cls,
        mosaic: NDArray[Any],
        cfa: Cfa,
        white: float | None,
        missing: Flags | None,
        threads: int,
        report: ReportProgress,
        noise: ArrayLike | None = None,
    ) -> "_Task":
        """Return the task, or raise."""
        samples = checked_samples(mosaic, cfa, signed=noise is not None)
        scale = full_scale(samples, noise) if white is None else _checked_white(white)
        scaled, dead = (samples / scale).astype(np.float32), None
        if missing is not None:
            dead = checked_missing(missing, "mosaic", samples.shape)
            scaled = without_missing(scaled, dead, cfa)
        variance = None if noise is None else checked_noise(noise, scale, 3)
        return cls(samples, scaled, scale, cfa, dead, threads, report, variance)

    def interpolated(self, method: str) -> Restored:
        """Return a first guess alone."""
        picture = FIRST_GUESSES[method](self.scaled, self.cfa, self.threads)
        self.report(Progress(method, 1, 1))
        return Restored(self._finished(picture))

    def completed_plainly(self, tensor: str, quality: str, seed: int) -> Restored:
        """Return what completion makes of the mosaic as one tensor."""
        from demosaic_ntc.imaging.plain import complete_plainly  # noqa: PLC0415 (takes solvers, for study only)

        picture, certificate = complete_plainly(self.scaled, self.cfa, tensor, quality, seed, self.report)
        return Restored(self._finished(picture), certificate)

    def restored(
        self, method: str, quality: str, deadline: Deadline, error: bool, strength: float
    ) -> Restored:
        """Return the picture that groups of patches make."""
        completed = method == "ntc"
        plan = PLANS[quality] if completed else without_completion(PLANS[quality])
        completed_mosaic = complete_mosaic(
            self.scaled,
            self.missing,
            self.cfa,
            TRIALS[quality],
            plan,
            self.threads,
            self.report,
            deadline,
            error,
            self.noise,
            strength,
            APART[quality],
        )
        estimate = completed_mosaic.estimate
        image = np.moveaxis(estimate.planes, 0, 2)
        image = self._finished(image) if self.noise is None else image * np.float32(self.scale)
        deviation = np.moveaxis(np.sqrt(estimate.variance), 0, 2) * np.float32(self.scale) if error else None
        proven = GroupCertificate.of(completed_mosaic.gaps, TOLERANCE, completed_mosaic.left)
        return Restored(image, proven if completed else None, error=deviation)

    def _finished(self, picture: Float32) -> Float32:
        """Return a picture in the scale of the mosaic, with the measured samples."""
        return keep_samples(picture * np.float32(self.scale), self.samples, self.cfa, self.missing)


def checked_samples(mosaic: NDArray[Any], cfa: Cfa, *, signed: bool = False) -> NDArray[Any]:
    """Return the mosaic as an array of numbers that can be demosaiced, or raise."""
    samples = np.asarray(mosaic)
    cfa.checked_shape(samples.shape)
    if samples.dtype.kind not in "uif":
        raise InputError(f"samples of type {samples.dtype} are not numbers; give integers or floats")
    if not np.isfinite(samples).all():
        raise InputError("the mosaic has samples that are NaN or infinite; replace them first")
    if not signed and samples.min() < 0:
        raise InputError(
            "the mosaic has negative samples; give their noise, a smaller black level, or clip at zero"
        )
    return samples


def keep_samples(picture: Float32, samples: NDArray[Any], cfa: Cfa, missing: Flags | None = None) -> Float32:
    """Return the picture with every measured value put back exactly."""
    measured = cfa.masks(samples.shape)
    if missing is not None:
        measured &= ~missing[..., None]
    return np.where(measured, samples[..., None], picture).astype(np.float32)


def _checked_strength(strength: float) -> float:
    """Return a strength that noise can be taken off with, or raise."""
    if not (np.isfinite(strength) and strength >= 0):
        raise InputError(f"denoise is {strength}; give a strength from 0 up, 1 for the noise there is")
    return float(strength)


def _checked_white(white: float) -> float:
    """Return a usable full-scale value, or raise."""
    if not (np.isfinite(white) and white > 0):
        raise InputError(f"white level {white} is not a positive number; give the sample value of full scale")
    return float(white)
