"""The inpainting methods a benchmark can compare, by name.

Another method is one more line here: its name, what it is, its role, and a function of picture and mask.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from skimage.restoration import inpaint_biharmonic

from demosaic_ntc import Restored, inpaint

from . import als, halrtc, silrtc, tncp
from .choosing import picked
from .demosaicers import CONTROL, OURS, Effort, Role, grades
from .optional import OPENCV_REPAIRS, package_version, repaired_by_opencv
from .pictures import PEAK, Bytes
from .plain_completion import Completion, complete_known
from .protocol import engine

Flags = NDArray[np.bool_]

BASELINE = "biharmonic"
DEFAULT = (OURS, CONTROL, BASELINE, *OPENCV_REPAIRS)

#: The largest side of a tile for general tensor completion.
TILE = 256

_OPENCV_RADIUS = 3


@dataclass(frozen=True, slots=True)
class Inpainter:
    """A way from a damaged picture to a whole one; results of the same name and settings may be compared."""

    name: str
    settings: str
    role: Role
    run: Callable[[Bytes, Flags], Restored]


def select(names: Iterable[str], effort: Effort) -> list[Inpainter]:
    """The methods with these names."""
    return picked(catalogue(effort), names)


def catalogue(effort: Effort) -> dict[str, Inpainter]:
    """All methods by name."""
    methods = [*(_graded(*grade) for grade in grades(effort)), *_interpolations(effort), *_completions()]
    return {method.name: method for method in methods}


def _interpolations(effort: Effort) -> list[Inpainter]:
    """What people use: scikit-image's interpolation, and both of OpenCV's."""
    return [
        Inpainter(BASELINE, package_version("scikit-image"), "peer", _biharmonic),
        *(_opencv(name, effort) for name in OPENCV_REPAIRS),
    ]


def _completions() -> list[Inpainter]:
    """General tensor completion, with the settings that suit values in [0, 1]."""
    return [
        _completion("silrtc", "shrinkage 1/3", lambda s: silrtc.silrtc(s, silrtc.PICTURES)),
        _completion("halrtc", "step .01, growing by 1.1", lambda s: halrtc.halrtc(s, halrtc.TUNED)),
        _completion("tncp", "rank 10, soft thresholding", lambda s: tncp.tncp(s, 0, tncp.CORRECTED)),
        _completion("als", "rank 10, ridge .03", lambda s: als.als(s, 0, als.TUNED).dense()),
    ]


def _graded(name: str, method: str, role: Role, effort: Effort) -> Inpainter:
    """A method of this package whose effort can be chosen."""
    settings = f"quality {effort.quality}, {effort.thread_words}, {engine()}"

    def run(picture: Bytes, missing: Flags) -> Restored:
        return inpaint(picture, missing, method=method, quality=effort.quality, threads=effort.threads)

    return Inpainter(name, settings, role, run)


def _biharmonic(picture: Bytes, missing: Flags) -> Restored:
    """Scikit-image's biharmonic interpolation (Damelin and Hoang, 2018, doi:10.1155/2018/3950312)."""
    restored: NDArray[Any] = inpaint_biharmonic(picture / PEAK, missing, channel_axis=2)
    return Restored(restored * PEAK)


def _opencv(name: str, effort: Effort) -> Inpainter:
    """One of OpenCV's algorithms."""
    settings = f"{package_version('opencv-python-headless')}, radius {_OPENCV_RADIUS}"

    def run(picture: Bytes, missing: Flags) -> Restored:
        return Restored(repaired_by_opencv(picture, missing, name, _OPENCV_RADIUS, effort.threads))

    return Inpainter(name, settings, "peer", run)


def _completion(name: str, settings: str, complete: Completion) -> Inpainter:
    """A general completion of the height × width × 3 tensor, in tiles; known entries are kept."""

    def run(picture: Bytes, missing: Flags) -> Restored:
        known = np.broadcast_to(~missing[..., None], picture.shape)
        completed = complete_known(picture, known, complete, TILE)
        return Restored(np.where(known, picture, completed))

    tiled = f"height × width × 3 tensor in tiles of at most {TILE}×{TILE}, {settings}"
    return Inpainter(name, tiled, "peer", run)
