"""The inpainting methods a benchmark can compare, by name: functions of picture and mask.

Another method is one more line here: its name, how it is called, whose it is, and its function, which
imports what it needs within `requires`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from skimage.restoration import inpaint_biharmonic

from demosaic_ntc import Restored, inpaint
from demosaic_ntc.imaging.inpaint import Method as Name

from ..measure.likeness import PEAK, Bytes
from ..measure.protocol import SOLVER_LAYERS, engine
from . import als, halrtc, silrtc, tncp
from .method import CONTROL, OURS, Effort, Method, Role, grades, named, package_version
from .others import OPENCV_REPAIRS, repaired_by_opencv
from .tiles import GAP, Completion, by_ours, by_ours_folded, complete_known

Flags = NDArray[np.bool_]

BASELINE = "biharmonic"
TENSORS = ("als", "silrtc", "halrtc", "ntc-whole", "ntc-tiled")
DEFAULT = (OURS, f"{OURS}-best", f"{OURS}-fast", CONTROL, BASELINE, *OPENCV_REPAIRS, *TENSORS)

#: The largest side of a tile for general tensor completion.
TILE = 256

_OPENCV_RADIUS = 3


def catalogue(effort: Effort) -> dict[str, Method]:
    """All methods by name."""
    ours = (_graded(*grade) for grade in grades(effort))
    return named((*ours, *_interpolations(effort), *_completions()))


def _interpolations(effort: Effort) -> list[Method]:
    """What people use: scikit-image's interpolation, and both of OpenCV's."""
    return [
        Method(BASELINE, package_version("scikit-image"), "peer", _biharmonic),
        *(_opencv(name, effort) for name in OPENCV_REPAIRS),
    ]


def _completions() -> list[Method]:
    """General tensor completion, with the settings that suit values in [0, 1]."""
    solver = f"radius 2, gap {GAP}, {engine(SOLVER_LAYERS)}"
    return [
        _completion("silrtc", "shrinkage 1/3", lambda s: silrtc.silrtc(s, silrtc.PICTURES)),
        _completion("halrtc", "step .01, growing by 1.1", lambda s: halrtc.halrtc(s, halrtc.TUNED)),
        _completion("tncp", "rank 10, soft thresholding", lambda s: tncp.tncp(s, 0, tncp.CORRECTED)),
        _completion("als", "rank 10, ridge .03", lambda s: als.als(s, 0, als.TUNED).dense()),
        _completion("ntc-whole", solver, by_ours, "part"),
        _completion("ntc-tiled", f"as blocks of 8×8, {solver}", by_ours_folded, "part"),
    ]


def _graded(name: str, method: Name, role: Role, effort: Effort) -> Method:
    """A method of this package whose effort can be chosen."""

    def run(picture: Bytes, missing: Flags) -> Restored:
        return inpaint(picture, missing, method=method, quality=effort.quality, threads=effort.threads)

    return Method(name, effort.words, role, run)


def _biharmonic(picture: Bytes, missing: Flags) -> Restored:
    """Scikit-image's biharmonic interpolation (Damelin and Hoang, 2018, doi:10.1155/2018/3950312)."""
    restored: NDArray[Any] = inpaint_biharmonic(picture / PEAK, missing, channel_axis=2)
    return Restored(restored * PEAK)


def _opencv(name: str, effort: Effort) -> Method:
    """One of OpenCV's algorithms."""
    settings = f"{package_version('opencv-python-headless')}, radius {_OPENCV_RADIUS}"

    def run(picture: Bytes, missing: Flags) -> Restored:
        return Restored(repaired_by_opencv(picture, missing, name, _OPENCV_RADIUS, effort.threads))

    return Method(name, settings, "peer", run)


def _completion(name: str, settings: str, complete: Completion, role: Role = "peer") -> Method:
    """A general completion of the height × width × 3 tensor, in tiles; known entries are kept."""

    def run(picture: Bytes, missing: Flags) -> Restored:
        known = np.broadcast_to(~missing[..., None], picture.shape)
        completed = complete_known(picture, known, complete, TILE)
        return Restored(np.where(known, picture, completed))

    tiled = f"height × width × 3 tensor in tiles of at most {TILE}×{TILE}, {settings}"
    return Method(name, tiled, role, run)
