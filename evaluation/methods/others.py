"""Methods of packages that only the benchmarks need: OpenCV's, and Menon's in colour-demosaicing."""

import warnings

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.errors import Unsupported
from demosaic_ntc.imaging.cfa import Cfa

from ..measure.likeness import Bytes, Mosaic
from .method import requires

Floats = NDArray[np.float32]

#: OpenCV's algorithms and how the names of its conversions end.
OPENCV = {"bilinear": "", "vng": "_VNG", "ea": "_EA"}

#: OpenCV's algorithms for repairs: Telea's, and Navier-Stokes.
OPENCV_REPAIRS = {"telea": "INPAINT_TELEA", "ns": "INPAINT_NS"}


def opencv(algorithm: str, mosaic: Mosaic, cfa: Cfa, threads: int) -> Floats:
    """Demosaic a Bayer mosaic by one of OpenCV's conversions."""
    _check_bayer("OpenCV", cfa)
    with requires("benchmark"):
        import cv2
    cv2.setNumThreads(threads)
    code = getattr(cv2, f"COLOR_Bayer{cfa.name}2RGB{OPENCV[algorithm]}")
    return np.asarray(cv2.cvtColor(mosaic, code), dtype=np.float32)


def repaired_by_opencv(
    picture: Bytes, missing: NDArray[np.bool_], algorithm: str, radius: int, threads: int
) -> Bytes:
    """Restore the missing pixels of an 8-bit picture by one of OpenCV's two algorithms.

    A. Telea, *An Image Inpainting Technique Based on the Fast Marching Method*, Journal of Graphics Tools 9
    (2004), 23-34, doi:10.1080/10867651.2004.10487596; M. Bertalmio, A. L. Bertozzi, G. Sapiro,
    *Navier-Stokes, fluid dynamics, and image and video inpainting*, CVPR 2001,
    doi:10.1109/CVPR.2001.990497.
    """
    with requires("benchmark"):
        import cv2
    cv2.setNumThreads(threads)
    flag = getattr(cv2, OPENCV_REPAIRS[algorithm])
    return np.asarray(cv2.inpaint(picture, missing.astype(np.uint8), radius, flag))


def menon(mosaic: Mosaic, cfa: Cfa) -> Floats:
    """Demosaic a Bayer mosaic by directional filtering with a posteriori decision, refined.

    D. Menon, S. Andriani, G. Calvagno, *Demosaicing With Directional Filtering and a posteriori Decision*,
    IEEE Transactions on Image Processing 16 (2007), 132-141, doi:10.1109/TIP.2006.884928.
    """
    _check_bayer("colour-demosaicing", cfa)
    with requires("benchmark"), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # what it imports is not our user's concern
        from colour_demosaicing import demosaicing_CFA_Bayer_Menon2007
    white = np.iinfo(mosaic.dtype).max
    picture = demosaicing_CFA_Bayer_Menon2007(mosaic / white, cfa.name)
    return np.asarray(picture * white, dtype=np.float32)


def _check_bayer(package: str, cfa: Cfa) -> None:
    """Refuse arrays that a package does not know."""
    if not cfa.is_bayer:
        raise Unsupported(f"{package} knows Bayer arrays, not {cfa.name}; leave it out")
