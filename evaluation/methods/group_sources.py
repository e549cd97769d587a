"""What groups of patches are found in: mosaics and pictures with holes, filled by a first estimate.

A task is named `mosaic` (in the form of the method ntc), `plain` (the same groups, the values themselves), or
by a mask. Of a mask the groups are those of the kind of hole that most of its pixels belong to.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc import demosaic, inpaint
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.engine.kernels.group_pass import GAUSSIAN, Pass
from demosaic_ntc.engine.pass_tables import COMPLETIONS, PLANS
from demosaic_ntc.engine.passes import DEEPEST, HoleKind, Step
from demosaic_ntc.inpainting.classification import depths, kinds_of

from ..data.masks import make_mask
from ..measure.metrics import PEAK, Bytes
from .group_tensors import GroupSource, Planes
from .tensors import Flags

MOSAIC, PLAIN = "mosaic", "plain"
_QUALITY = "normal"
_LEAST_CONFIDENCE = 1e-6


def make_source(task: str, picture: Bytes, cfa: Cfa, seed: int) -> GroupSource:
    """A task on a picture, (height, width, 3)."""
    if task in (MOSAIC, PLAIN):
        return sample_mosaic(picture, cfa, is_plain=task == PLAIN)
    return cut_holes(picture, make_mask(task, (picture.shape[0], picture.shape[1]), seed))


def sample_mosaic(picture: Bytes, cfa: Cfa, *, is_plain: bool = False) -> GroupSource:
    """The samples of a colour array, and the first estimate of the rest."""
    kind = HoleKind.BAYER if cfa.is_bayer else HoleKind.ARRAY
    truth = to_planes(picture)
    known = np.ascontiguousarray(cfa.masks(picture.shape[:2]).transpose(2, 0, 1))
    first = to_planes(demosaic(cfa.sample(picture), cfa, method="blend", threads=1).image)
    estimate = np.where(known, truth, first)
    return GroupSource(truth, estimate, known, COMPLETIONS[_QUALITY][kind][-1], _predictor(kind), is_plain)


def cut_holes(picture: Bytes, missing: Flags) -> GroupSource:
    """What a mask leaves, and its holes filled smoothly."""
    kind = HoleKind(int(np.bincount(kinds_of(missing)[missing]).argmax()))
    truth, step = to_planes(picture), COMPLETIONS[_QUALITY][kind][-1]
    damaged = np.where(missing[..., None], 0.0, picture / PEAK)
    first = inpaint(damaged, missing, method="biharmonic", threads=1).image
    known = np.ascontiguousarray(np.broadcast_to(~missing, truth.shape))
    estimate = np.where(known, truth, to_planes(PEAK * first))
    return GroupSource(truth, estimate, known, step, _predictor(kind), confidence=_confidence(missing, step))


def to_planes(picture: NDArray[Any]) -> Planes:
    """A picture as channels of full scale 1."""
    return np.ascontiguousarray(np.moveaxis(picture, 2, 0), dtype=np.float32) / np.float32(PEAK)


def _predictor(kind: HoleKind) -> Pass:
    """The engine's last prediction by Gaussians for a kind of hole."""
    return next(step.does for step in reversed(PLANS[_QUALITY][kind]) if step.does.predictor == GAUSSIAN)


def _confidence(missing: Flags, step: Step) -> Planes:
    """The trust in pixels when patches are compared: less the deeper in a hole."""
    trust = step.compute_trust(0)[np.minimum(depths(missing), DEEPEST)]
    return np.maximum(np.where(missing, trust, 1.0), _LEAST_CONFIDENCE).astype(np.float32)
