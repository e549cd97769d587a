"""From a mosaic to a picture: the border where input is checked, and the choice of method."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demosaic_ntc.arrays import Flags, Float32, Planes
from demosaic_ntc.deadline import Deadline
from demosaic_ntc.demosaicing.cfa import Cfa, make_cfa
from demosaic_ntc.demosaicing.group_demosaic import APART, EVERYWHERE, TRIALS, complete_mosaic
from demosaic_ntc.demosaicing.interpolation.bilinear import bilinear
from demosaic_ntc.demosaicing.interpolation.blend import blend
from demosaic_ntc.demosaicing.interpolation.dead_samples import fill_dead_samples, replace_missing_samples
from demosaic_ntc.demosaicing.interpolation.kiku2014 import kiku2014
from demosaic_ntc.demosaicing.interpolation.malvar2004 import malvar2004
from demosaic_ntc.demosaicing.interpolation.zhang_wu2005 import zhang_wu2005
from demosaic_ntc.demosaicing.samples import MosaicSamples
from demosaic_ntc.engine.checks import (
    QUALITIES,
    Quality,
    as_array,
    check_missing,
    check_noise,
    check_threads,
    check_time_limit,
    full_scale,
    ignore_progress,
    is_finite,
    result_type,
)
from demosaic_ntc.engine.parallel import imap_threads
from demosaic_ntc.engine.pass_tables import COMPLETIONS, PLANS
from demosaic_ntc.engine.result import NormCertificate, Progress, ReportProgress, Restored, out_of_time
from demosaic_ntc.engine.windowed import Windowed
from demosaic_ntc.errors import InputError, as_number, check_choice
from demosaic_ntc.jit.signatures import for_mosaics, prepare_kernels

FirstGuess = Callable[[Float32, Cfa, int], Float32]

FIRST_GUESSES: dict[str, FirstGuess] = {
    "bilinear": lambda mosaic, cfa, threads: bilinear(mosaic, cfa),
    "malvar": lambda mosaic, cfa, threads: malvar2004(mosaic, cfa),
    "lmmse": lambda mosaic, cfa, threads: zhang_wu2005(mosaic, cfa),
    "mlri": lambda mosaic, cfa, threads: kiku2014(mosaic, cfa),
    "blend": lambda mosaic, cfa, threads: blend(mosaic, cfa, threads).image,
}
Method = Literal["gaussian", "ntc", "ntc-tiled", "ntc-whole", "bilinear", "malvar", "lmmse", "mlri", "blend"]
METHODS: tuple[str, ...] = get_args(Method)
BY_GROUPS = ("gaussian", "ntc")
SINGLE_TENSORS = ("ntc-tiled", "ntc-whole")

_BAND = 64  # rows that are read together

# Samples further out than so many times full scale are no samples of a picture.
_MOST_OF_WHITE = 2.0**60


def demosaic(
    mosaic: NDArray[Any],
    cfa: Cfa | str = "RGGB",
    *,
    method: Method = "gaussian",
    quality: Quality = "normal",
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
    * ``method``: ``"gaussian"`` (groups of similar patches predicted by Gaussians), ``"ntc"`` (the samples of
      groups completed with the least norm), for study ``"ntc-tiled"`` and ``"ntc-whole"`` (all samples
      completed as one tensor, of tiles or height × width × 3), or an interpolation, one of `FIRST_GUESSES`.
    * ``quality``: ``"fast"``, ``"normal"`` or ``"best"``: how much effort the groups are worth.
    * ``seed``: makes the random starts of ``"ntc-whole"`` and ``"ntc-tiled"`` repeatable; groups need none.
    * ``threads``: how many share the work, all processors by default; the result does not depend on it.
    * ``progress``: called with a `Progress` after each step.
    * ``white``: the sample value of full scale; by default the one `full_scale` reads from the data.
    * ``missing``: height × width flags of samples not to be used (dead pixels), which are restored as well.
    * ``time_limit``: seconds after which nothing more is restored: what stands then is the result, the
      certificate shows it, and a notice says so. Of a first estimate that takes longer, the rest is plain.
    * ``error``: also return `Restored.error`, the standard deviation of the error expected at every entry.
    * ``noise``: the standard deviation of the samples' noise, in their scale: one, or one for each of R, G
      and B, or for each of them those at equal steps of the level from 0 to ``white``, (3, steps). Samples
      are then not kept but estimated, without the noise; interpolations and single tensors ignore it.
    * ``denoise``: how strongly, as if there were so many times the noise; calm places are told by `noise`.
    """
    array = make_cfa(cfa)
    check_choice("method", method, METHODS)
    check_choice("quality", quality, QUALITIES)
    task = _Task.check(
        mosaic, array, white, missing, check_threads(threads), progress or ignore_progress, noise
    )
    strength, seconds = check_strength(denoise), check_time_limit(time_limit)
    prepare_kernels(for_mosaics(method, array.is_bayer, error))
    if method in FIRST_GUESSES:
        return task.interpolate(method)
    if method in SINGLE_TENSORS:
        return task.complete_whole(method, quality, seed, seconds)
    return task.restore(method, quality, Deadline.after(seconds), error, strength)


@dataclass(frozen=True, slots=True, eq=False)
class StoredPicture:
    """A picture with full scale 1 that takes six bytes per pixel and is read window by window."""

    planes: Windowed  # (3, height, width)
    certificate: NormCertificate | None
    variance: Planes  # the expected squared error, (3, height, width), or empty
    notices: tuple[str, ...] = ()  # what a user should know about it


def demosaic_stored(
    samples: MosaicSamples,
    cfa: Cfa,
    *,
    method: str = "gaussian",
    quality: str = "normal",
    threads: int | None = None,
    progress: ReportProgress | None = None,
    missing: NDArray[np.bool_] | None = None,
    time_limit: float | None = None,
    error: bool = False,
    noise: ArrayLike | None = None,
    denoise: float = 1.0,
) -> StoredPicture:
    """Do what `demosaic` does by groups, for samples and a picture that are too large to be spread out."""
    report, strength, dead = progress or ignore_progress, check_strength(denoise), None
    if missing is not None:
        dead = check_missing(missing, "mosaic", samples.shape[1:])
        samples = fill_dead_samples(samples, dead, cfa)
    variance = None if noise is None else check_noise(noise, 1.0, 3)
    prepare_kernels(for_mosaics(method, cfa.is_bayer, error))
    deadline = Deadline.after(check_time_limit(time_limit))
    work = _Groups(method, quality, check_threads(threads), report, deadline, error)
    return work.complete(samples, dead, cfa, variance, strength)


@dataclass(frozen=True, slots=True, eq=False)
class _Groups:
    """How a mosaic is restored by groups of patches."""

    method: str
    quality: str
    threads: int
    report: ReportProgress
    deadline: Deadline
    error: bool

    def complete(
        self, samples: MosaicSamples, missing: Flags | None, cfa: Cfa, noise: Float32 | None, strength: float
    ) -> StoredPicture:
        """Return the picture with full scale 1."""
        completes = self.method == "ntc"
        done = complete_mosaic(
            samples,
            missing,
            cfa,
            TRIALS[self.quality],
            (COMPLETIONS if completes else PLANS)[self.quality],
            self.threads,
            self.report,
            self.deadline,
            self.error,
            noise,
            strength,
            EVERYWHERE if completes else APART[self.quality],
        )
        proven = NormCertificate.of(done.bounds) if completes else None
        return StoredPicture(done.estimate.planes, proven, done.estimate.variance, out_of_time(self.deadline))


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
    def check(
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
        samples = check_samples(mosaic, cfa, signed=noise is not None)
        deviations = None if noise is None else as_array(noise, "noise")
        scale = full_scale(samples, deviations) if white is None else _check_white(white, samples)
        if float(samples.min()) / scale < -_MOST_OF_WHITE:
            raise InputError("the mosaic has samples far below zero; give another black level")
        wide = samples.astype(np.float32) if samples.dtype == np.float16 else samples
        scaled, dead = (wide / scale).astype(np.float32, copy=False), None
        if missing is not None:
            dead = check_missing(missing, "mosaic", samples.shape)
            scaled = replace_missing_samples(scaled, dead, cfa)
        variance = None if deviations is None else check_noise(deviations, scale, 3)
        return cls(samples, scaled, scale, cfa, dead, threads, report, variance)

    def interpolate(self, method: str) -> Restored:
        """Return a first guess alone."""
        picture = FIRST_GUESSES[method](self.scaled, self.cfa, self.threads)
        self.report(Progress(method, 1, 1))
        return Restored(self._finish(picture))

    def complete_whole(self, method: str, quality: str, seed: int, seconds: float | None) -> Restored:
        """Return what completion makes of the mosaic as one tensor."""
        from demosaic_ntc.demosaicing.single_tensor import complete_single  # noqa: PLC0415 (takes solvers, for study only)

        shown = np.ones(self.scaled.shape, np.bool_) if self.missing is None else ~self.missing
        picture, certificate = complete_single(
            self.scaled, shown, self.cfa, method, quality, seed, seconds, self.report
        )
        return Restored(self._finish(picture), certificate)

    def restore(
        self, method: str, quality: str, deadline: Deadline, error: bool, strength: float
    ) -> Restored:
        """Return the picture that groups of patches make."""
        work = _Groups(method, quality, self.threads, self.report, deadline, error)
        stored = work.complete(MosaicSamples(self.scaled), self.missing, self.cfa, self.noise, strength)
        kind, deviation = result_type(self.scale), None
        if error:
            deviation = np.moveaxis(np.sqrt(stored.variance), 0, 2).astype(kind) * kind(self.scale)
        return Restored(self._read(stored.planes), stored.certificate, stored.notices, error=deviation)

    def _read(self, planes: Windowed) -> NDArray[Any]:
        """Return a stored picture in the scale of the mosaic, with its samples where they are exact."""
        kind, (_, height, width) = result_type(self.scale), planes.shape
        image = np.empty((height, width, 3), kind)

        def read(rows: slice) -> None:
            for channel, plane in enumerate(planes[:, rows, :]):
                np.multiply(plane, kind(self.scale), out=image[rows, :, channel])
            if self.noise is None:
                dead = None if self.missing is None else self.missing[rows]
                put_back(image[rows], self.samples[rows], self.cfa, dead)

        tall = -(-_BAND // self.cfa.period[0]) * self.cfa.period[0]
        for _ in imap_threads(read, [slice(top, top + tall) for top in range(0, height, tall)], self.threads):
            pass
        return image

    def _finish(self, picture: Float32) -> Float32:
        """Return a picture in the scale of the mosaic, with the measured samples."""
        kind = result_type(self.scale)
        return keep_samples(picture.astype(kind) * kind(self.scale), self.samples, self.cfa, self.missing)


def check_samples(mosaic: NDArray[Any], cfa: Cfa, *, signed: bool = False) -> NDArray[Any]:
    """Return the mosaic as an array of numbers that can be demosaiced, or raise."""
    if cfa.is_mono:
        raise InputError("a monochrome mosaic has no colours to restore; give one of R, G and B")
    samples = as_array(mosaic, "mosaic")
    cfa.check_shape(samples.shape)
    if not is_finite(samples):
        raise InputError("the mosaic has samples that are NaN or infinite; replace them first")
    if not signed and samples.min() < 0:
        raise InputError(
            "the mosaic has negative samples; give their noise, a smaller black level, or clip at zero"
        )
    return samples


def keep_samples(picture: Float32, samples: NDArray[Any], cfa: Cfa, missing: Flags | None = None) -> Float32:
    """Return the picture with every measured value put back exactly."""
    kept = picture.copy()
    put_back(kept, samples, cfa, missing)
    return kept


def put_back(picture: NDArray[Any], samples: NDArray[Any], cfa: Cfa, missing: Flags | None = None) -> None:
    """Put every measured value back into a picture, (height, width, 3), in place."""
    for (y, x), channel in np.ndenumerate(cfa.pattern):
        site = slice(y, None, cfa.period[0]), slice(x, None, cfa.period[1])
        shown: Any = True if missing is None else ~missing[site]
        np.copyto(picture[*site, channel], samples[site], where=shown, casting="unsafe")


def check_strength(strength: float) -> float:
    """Return a strength that noise can be taken off with, or raise."""
    if not 0 <= as_number(strength) < np.inf:
        raise InputError(f"denoise is {strength!r}; give a strength from 0 up, 1 for the noise there is")
    return float(strength)


def _check_white(white: float, samples: NDArray[Any]) -> float:
    """Return a usable full-scale value, or raise."""
    if not 0 < as_number(white) < np.inf:
        raise InputError(f"white level {white!r} is no positive number; give the sample value of full scale")
    if float(samples.max()) / float(white) > _MOST_OF_WHITE:
        raise InputError(f"white level {white:g} lies far below the samples; give the value of full scale")
    return float(white)
