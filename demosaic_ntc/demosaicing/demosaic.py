"""From a mosaic to a picture: the border where input is checked, and the choice of method."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.cfa import Cfa, make_cfa
from demosaic_ntc.demosaicing.group_demosaic import Effort, MeasuredMosaic, check_strength, complete_mosaic
from demosaic_ntc.demosaicing.interpolation.bayer import kiku2014, malvar2004, zhang_wu2005
from demosaic_ntc.demosaicing.interpolation.bilinear import bilinear
from demosaic_ntc.demosaicing.interpolation.blend import blend
from demosaic_ntc.demosaicing.interpolation.dead_samples import replace_missing_samples
from demosaic_ntc.demosaicing.quantised_planes import MosaicSamples
from demosaic_ntc.engine.checks import (
    QUALITIES,
    Quality,
    as_array,
    check_missing,
    check_noise,
    full_scale,
    is_finite,
    result_type,
)
from demosaic_ntc.engine.result import Restored, out_of_time
from demosaic_ntc.engine.tiles import Windowed, row_bands
from demosaic_ntc.errors import InputError, as_number, check_choice
from demosaic_ntc.run import Progress, ReportProgress, Run

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
SINGLE_TENSORS = ("ntc-tiled", "ntc-whole")

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
    * ``noise``: the standard deviation of the samples' noise, in their scale: one, three, or (3, steps)
      at equal steps from 0 to ``white``. Samples are then estimated without it; interpolations ignore it.
    * ``denoise``: how strongly, as if there were so many times the noise; calm places are told by `noise`.
    """
    array = make_cfa(cfa)
    check_choice("method", method, METHODS)
    check_choice("quality", quality, QUALITIES)
    run = Run.start(threads, progress, time_limit, error)
    task = _Task.check(mosaic, array, white, missing, noise, denoise)
    if method in FIRST_GUESSES:
        return task.interpolate(method, run)
    if method in SINGLE_TENSORS:
        return task.complete_whole(method, quality, seed, run)
    return task.restore(Effort.of(method, quality), run)


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """A mosaic that was found in order, in its own scale and that of the engine."""

    samples: NDArray[Any]
    scale: float
    mosaic: MeasuredMosaic

    @classmethod
    def check(
        cls,
        given: NDArray[Any],
        cfa: Cfa,
        white: float | None,
        missing: Flags | None,
        noise: ArrayLike | None,
        strength: float,
    ) -> "_Task":
        """Return the task, or raise."""
        samples = check_samples(given, cfa, signed=noise is not None)
        deviations = None if noise is None else as_array(noise, "noise")
        scale = full_scale(samples, deviations) if white is None else check_white(white, samples)
        if float(samples.min()) / scale < -_MOST_OF_WHITE:
            raise InputError("the mosaic has samples far below zero; give another black level")
        wide = samples.astype(np.float32) if samples.dtype == np.float16 else samples
        scaled, dead = (wide / scale).astype(np.float32, copy=False), None
        if missing is not None:
            dead = check_missing(missing, "mosaic", samples.shape)
            scaled = replace_missing_samples(scaled, dead, cfa)
        variance = None if deviations is None else check_noise(deviations, scale, 3)
        times = check_strength(strength)
        return cls(samples, scale, MeasuredMosaic(MosaicSamples(scaled), cfa, dead, variance, times))

    def interpolate(self, method: str, run: Run) -> Restored:
        """Return a first guess alone."""
        picture = FIRST_GUESSES[method](self.mosaic.samples.whole(), self.mosaic.cfa, run.threads)
        run.progress(Progress(method, 1, 1))
        return Restored(self._finish(picture))

    def complete_whole(self, method: str, quality: str, seed: int, run: Run) -> Restored:
        """Return what completion makes of the mosaic as one tensor."""
        from demosaic_ntc.demosaicing.single_tensor import complete_single  # noqa: PLC0415 (takes solvers, for study only)

        scaled, missing = self.mosaic.samples.whole(), self.mosaic.missing
        shown = np.ones(scaled.shape, np.bool_) if missing is None else ~missing
        picture, certificate = complete_single(scaled, shown, self.mosaic.cfa, method, quality, seed, run)
        return Restored(self._finish(picture), certificate, out_of_time(run.deadline))

    def restore(self, effort: Effort, run: Run) -> Restored:
        """Return the picture that groups of patches make."""
        stored = complete_mosaic(self.mosaic, effort, run)
        kind, deviation = result_type(self.scale), None
        if run.want_error:
            deviation = np.moveaxis(np.sqrt(stored.variance), 0, 2).astype(kind) * kind(self.scale)
        image = self._read(stored.planes, run)
        return Restored(image, stored.certificate, stored.notices, deviation, stored.check)

    def _read(self, planes: Windowed, run: Run) -> NDArray[Any]:
        """Return a stored picture in the scale of the mosaic, with its samples where they are exact."""
        kind, (_, height, width), mosaic = result_type(self.scale), planes.shape, self.mosaic
        image = np.empty((height, width, 3), kind)

        def read(rows: slice) -> None:
            for channel, plane in enumerate(planes[:, rows, :]):
                np.multiply(plane, kind(self.scale), out=image[rows, :, channel])
            if mosaic.keeps_samples:
                dead = None if mosaic.missing is None else mosaic.missing[rows]
                put_back(image[rows], self.samples[rows], mosaic.cfa, dead)

        run.do(read, row_bands(height, mosaic.cfa.period[0]))
        return image

    def _finish(self, picture: Float32) -> Float32:
        """Return a picture in the scale of the mosaic, with the measured samples."""
        kind, mosaic = result_type(self.scale), self.mosaic
        return keep_samples(picture.astype(kind) * kind(self.scale), self.samples, mosaic.cfa, mosaic.missing)


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


def check_white(white: float, samples: NDArray[Any]) -> float:
    """Return a usable full-scale value, or raise."""
    if not 0 < as_number(white) < np.inf:
        raise InputError(
            f"white level {white!r} is not a positive number; give the sample value of full scale"
        )
    if float(samples.max()) / float(white) > _MOST_OF_WHITE:
        raise InputError(f"white level {white:g} lies far below the samples; give the value of full scale")
    return float(white)
