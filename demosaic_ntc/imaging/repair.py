"""Inpainting by group completion: a first fill of the holes, then passes over groups of similar patches."""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.imaging.first_guess.fill import biharmonic
from demosaic_ntc.imaging.restored import GroupCertificate, Progress, ReportProgress
from demosaic_ntc.ntc.deadline import Deadline

METHODS = ("ntc", "group-mean", "biharmonic")

Planes = NDArray[np.float32]  # (channels, height, width)
Flags = NDArray[np.bool_]  # of the same shape


def repair(
    planes: Planes,
    known: Flags,
    method: str,
    quality: str,
    threads: int,
    progress: ReportProgress,
    deadline: Deadline,
) -> tuple[Planes, GroupCertificate | None]:
    """Restore the entries of a picture with full scale 1 that are not known; keep those that are."""
    filled = biharmonic(planes, known)
    progress(Progress("first estimate", 1, 1))
    return np.where(known, planes, filled), None
