"""The inpainting methods a benchmark can compare, by name: functions of picture and mask.

Another method is one more line here: its name, how it is called, whose it is, and its function, which
imports what it needs within `requires`.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from skimage.restoration import inpaint_biharmonic

from demosaic_ntc import Restored, inpaint
from demosaic_ntc.arrays import Flags

from ..measure.metrics import PEAK, Bytes
from .method import COMPLETED, OURS, Effort, Method, grades, index_by_name, package_version, requires
from .plain_tensors import PICTURE_COMPLETIONS, Completion, complete_known, completion

#: OpenCV's algorithms for repairs: Telea's, and Navier-Stokes.
OPENCV = {"telea": "INPAINT_TELEA", "ns": "INPAINT_NS"}

BASELINE = "biharmonic"
TENSORS = ("als", "silrtc", "halrtc", "ntc-whole", "ntc-tiled")
DEFAULT = (OURS, f"{OURS}-best", f"{OURS}-fast", COMPLETED, BASELINE, *OPENCV, *TENSORS)

#: The largest side of a tile for general tensor completion.
TILE = 256

OPENCV_RADIUS = 3


def catalogue(effort: Effort) -> dict[str, Method]:
    """All methods by name: ours, what people use, and completions of tensors."""
    by_opencv = f"{package_version('opencv-python-headless')}, radius {OPENCV_RADIUS}"
    return index_by_name(
        (
            *(_ours(name, method, role, each) for name, method, role, each in grades(effort)),
            _peer(BASELINE, package_version("scikit-image"), biharmonic),
            *(_peer(name, by_opencv, partial(opencv, name, effort.threads)) for name in OPENCV),
            *(completion(name, entry, TILE, _complete_tensor) for name, entry in PICTURE_COMPLETIONS.items()),
        )
    )


def _ours(name: str, method: Any, role: Any, effort: Effort) -> Method:
    """A method of this package whose effort can be chosen."""
    how: Any = {"method": method, "quality": effort.quality, "threads": effort.threads}
    return Method(name, effort.words, role, lambda picture, missing: inpaint(picture, missing, **how))


def _peer(name: str, settings: str, run: Callable[[Bytes, Flags], NDArray[Any]]) -> Method:
    """A method of another library."""
    return Method(name, settings, "peer", lambda picture, missing: Restored(run(picture, missing)))


def biharmonic(picture: Bytes, missing: Flags) -> NDArray[Any]:
    """Scikit-image's biharmonic interpolation (Damelin and Hoang, 2018, doi:10.1155/2018/3950312)."""
    restored: NDArray[Any] = inpaint_biharmonic(picture / PEAK, missing, channel_axis=2)
    return restored * PEAK


def opencv(algorithm: str, threads: int, picture: Bytes, missing: Flags) -> Bytes:
    """Restore the missing pixels of an 8-bit picture by one of OpenCV's two algorithms.

    A. Telea, *An Image Inpainting Technique Based on the Fast Marching Method*, Journal of Graphics Tools 9
    (2004), 23-34, doi:10.1080/10867651.2004.10487596; M. Bertalmio, A. L. Bertozzi, G. Sapiro,
    *Navier-Stokes, fluid dynamics, and image and video inpainting*, CVPR 2001,
    doi:10.1109/CVPR.2001.990497.
    """
    with requires("benchmark"):
        import cv2
    cv2.setNumThreads(threads)
    flag = getattr(cv2, OPENCV[algorithm])
    return np.asarray(cv2.inpaint(picture, missing.astype(np.uint8), OPENCV_RADIUS, flag), np.uint8)


def _complete_tensor(complete: Completion, picture: Bytes, missing: Flags) -> NDArray[Any]:
    """The tensor of a picture completed where pixels are missing; known entries are kept."""
    known = np.broadcast_to(~missing[..., None], picture.shape)
    return np.where(known, picture, complete_known(picture, known, complete, TILE))
