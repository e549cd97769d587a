"""From a mosaic to a picture: the border where input is checked, and the choice of method."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.errors import InputError
from demosaic_ntc.imaging.cfa import Cfa, as_cfa
from demosaic_ntc.imaging.checks import (
    QUALITIES,
    check_choice,
    checked_missing,
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
from demosaic_ntc.imaging.guided import PLANS, complete_mosaic
from demosaic_ntc.imaging.plain import complete_plainly
from demosaic_ntc.imaging.restored import Progress, ReportProgress, Restored
from demosaic_ntc.ntc.deadline import Deadline

Floats = NDArray[np.float32]
FirstGuess = Callable[[Floats, Cfa, int], Floats]

FIRST_GUESSES: dict[str, FirstGuess] = {
    "bilinear": lambda mosaic, cfa, threads: bilinear(mosaic, cfa),
    "malvar": lambda mosaic, cfa, threads: malvar2004(mosaic, cfa),
    "lmmse": lambda mosaic, cfa, threads: zhang_wu2005(mosaic, cfa),
    "mlri": lambda mosaic, cfa, threads: kiku2014(mosaic, cfa),
    "blend": lambda mosaic, cfa, threads: blend(mosaic, cfa, threads).image,
}
METHODS = ("ntc", "group-mean", *FIRST_GUESSES)
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
) -> Restored:
    """Restore the full colour picture of a mosaic.

    Parameters
    ----------
    mosaic
        Height × width samples of any integer or float type, finite and not negative.
    cfa
        The colour array: a name (``"RGGB"``, ``"XTRANS"``), rows (``"RG/GB"``) or a `Cfa`.
    method
        ``"ntc"`` (groups of patches completed), ``"group-mean"`` (the same without the completion, to see
        what it adds) or a first guess alone, one of `FIRST_GUESSES`.
    quality
        ``"fast"``, ``"normal"`` or ``"best"``: how much effort the groups are worth.
    tensor
        ``"groups"`` of similar patches; for study also ``"whole"`` (height × width × 3) and ``"tiled"``.
    seed
        Makes the random starts of ``"whole"`` and ``"tiled"`` repeatable; groups need none.
    threads
        How many threads share the work; all processors when not given. The result does not depend on it.
    progress
        Called with a `Progress` after each step.
    white
        The sample value of full scale; by default the one `full_scale` reads from the data.
    missing
        Height × width flags of samples not to be used (dead pixels): the groups complete them. Interpolations
        fill them from their neighbours.
    time_limit
        Seconds after which groups are no longer completed but left at their means, which the certificate
        then shows. The first estimate is always computed.

    Returns
    -------
    Restored
        The float32 picture in the scale of the mosaic, with the measured samples kept.
    """
    array = as_cfa(cfa)
    check_choice("method", method, METHODS)
    check_choice("quality", quality, QUALITIES)
    check_choice("tensor", tensor, TENSORS)
    samples = checked_samples(mosaic, array)
    scale = full_scale(samples) if white is None else _checked_white(white)
    workers, report = checked_threads(threads), progress or silently
    deadline = Deadline.after(time_limit)
    dead = None if missing is None else checked_missing(missing, "mosaic", samples.shape)
    scaled = (samples / scale).astype(np.float32)
    if dead is not None:
        scaled = without_missing(scaled, dead, array)
    if method == "ntc" and tensor != "groups":
        picture, certificate = complete_plainly(scaled, array, tensor, quality, seed, report)
    elif method in FIRST_GUESSES:
        picture, certificate = FIRST_GUESSES[method](scaled, array, workers), None
        report(Progress(method, 1, 1))
    else:
        plan = PLANS[quality] if method == "ntc" else PLANS[quality].without_completion
        picture, certificate = complete_mosaic(scaled, array, plan, workers, report, dead, deadline)
    return Restored(keep_samples(picture * np.float32(scale), samples, array, dead), certificate)


def checked_samples(mosaic: NDArray[Any], cfa: Cfa) -> NDArray[Any]:
    """Return the mosaic as an array of numbers that can be demosaiced, or raise."""
    samples = np.asarray(mosaic)
    cfa.checked_shape(samples.shape)
    if samples.dtype.kind not in "uif":
        raise InputError(f"samples of type {samples.dtype} are not numbers; give integers or floats")
    if not np.isfinite(samples).all():
        raise InputError("the mosaic has samples that are NaN or infinite; replace them first")
    if samples.min() < 0:
        raise InputError("the mosaic has negative samples; subtract a smaller black level or clip at zero")
    return samples


def keep_samples(
    picture: Floats, samples: NDArray[Any], cfa: Cfa, missing: NDArray[np.bool_] | None = None
) -> Floats:
    """Return the picture with every measured value put back exactly."""
    measured = cfa.masks(samples.shape)
    if missing is not None:
        measured &= ~missing[..., None]
    return np.where(measured, samples[..., None], picture).astype(np.float32)


def _checked_white(white: float) -> float:
    """Return a usable full-scale value, or raise."""
    if not (np.isfinite(white) and white > 0):
        raise InputError(f"white level {white} is not a positive number; give the sample value of full scale")
    return float(white)
