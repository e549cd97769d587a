"""From several mosaics of one scene, as arrays, to one picture: the border where input is checked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demosaic_ntc.cfa import Cfa, make_cfa
from demosaic_ntc.choices import Ghosts, MotionKind
from demosaic_ntc.demosaicing.burst.burst import (
    FrameReport,
    find_sharpest,
    merge_mosaics,
)
from demosaic_ntc.demosaicing.demosaic import check_samples, check_white
from demosaic_ntc.demosaicing.group_demosaic import MeasuredMosaic
from demosaic_ntc.demosaicing.quantised_planes import MosaicSamples
from demosaic_ntc.engine.checks import QUALITIES, Quality, as_array, full_scale, result_type
from demosaic_ntc.engine.result import Restored
from demosaic_ntc.errors import InputError, check_choice
from demosaic_ntc.run import ReportProgress, Run


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MergedBurst(Restored):
    """A picture made of several frames, with what became of each."""

    frames: tuple[FrameReport, ...] = ()


def demosaic_burst(
    mosaics: Sequence[NDArray[Any]],
    cfa: Cfa | str = "RGGB",
    *,
    noise: ArrayLike | None = None,
    reference: int | None = None,
    motion: MotionKind = "auto",
    ghosts: Ghosts = "normal",
    quality: Quality = "normal",
    threads: int | None = None,
    progress: ReportProgress | None = None,
    white: float | None = None,
    missing: Sequence[NDArray[np.bool_] | None] | None = None,
    time_limit: float | None = None,
    error: bool = False,
) -> MergedBurst:
    """Restore one picture from mosaics of the same scene, whose camera may have moved between them.

    * ``mosaics``: samples of one size, under one curve and exposure. They should look equally bright to the
      eye at equal steps (gamma-encoded or under a square root), as for `demosaic`.
    * ``cfa``: their colour array, one of Bayer's.
    * ``noise``: the standard deviation of the samples' noise, as for `demosaic`; without, they are exact.
    * ``reference``: the frame whose view the picture has, from 0; by default the sharpest.
    * ``motion``: ``"auto"`` aligns frames by an affine map, and by a flow where that does not do; with
      ``"none"`` all are alike; ``"pixel-shift"`` is an affine map alone.
    * ``ghosts``: ``"normal"``, ``"strict"`` or ``"off"``: how soon a frame that shows something else at a
      place is left out there.
    * ``missing``: for each frame the flags of samples not to be used, or None.

    The other arguments are those of `demosaic`.
    """
    array, run = make_cfa(cfa), Run.start(threads, progress, time_limit, error)
    check_choice("quality", quality, QUALITIES)
    check_choice("motion", motion, get_args(MotionKind))
    check_choice("ghosts", ghosts, get_args(Ghosts))
    frames, scale = _check_frames(mosaics, array, white, missing, noise)
    chosen = find_sharpest(frames) if reference is None else reference
    if chosen not in range(len(frames)):
        raise InputError(
            f"reference is {reference!r}; give the number of a frame, from 0 to {len(frames) - 1}"
        )
    stored, reports = merge_mosaics(frames, chosen, quality, run, motion=motion, ghosts=ghosts)
    kind, deviation = result_type(scale), None
    image = np.ascontiguousarray(np.moveaxis(stored.planes[:, :, :], 0, 2)).astype(kind) * kind(scale)
    if error:
        deviation = np.moveaxis(np.sqrt(stored.variance), 0, 2).astype(kind) * kind(scale)
    return MergedBurst(image, notices=stored.notices, error=deviation, frames=tuple(reports))


def _check_frames(
    mosaics: Sequence[NDArray[Any]],
    cfa: Cfa,
    white: float | None,
    missing: Sequence[NDArray[np.bool_] | None] | None,
    noise: ArrayLike | None,
) -> tuple[list[MeasuredMosaic], float]:
    """Return the frames with full scale 1, and what that is; or raise."""
    flags = [None] * len(mosaics) if missing is None else list(missing)
    if not len(mosaics) or len(flags) != len(mosaics):
        raise InputError(f"there are {len(mosaics)} mosaics and {len(flags)} sets of flags; give one of each")
    checked = [check_samples(each, cfa, signed=noise is not None) for each in mosaics]
    deviations = None if noise is None else as_array(noise, "noise")
    scales = [full_scale(each, deviations) if white is None else check_white(white, each) for each in checked]
    scale, frames = max(scales), []
    for samples, dead in zip(checked, flags, strict=True):
        wide = samples.astype(np.float32) if samples.dtype == np.float16 else samples
        scaled = MosaicSamples((wide / scale).astype(np.float32, copy=False))
        frames.append(MeasuredMosaic.check(scaled, cfa, dead, _scale_noise(deviations, scale)))
    return frames, scale


def _scale_noise(noise: NDArray[Any] | None, scale: float) -> NDArray[Any] | None:
    """Return deviations with full scale 1."""
    return None if noise is None else noise / scale
