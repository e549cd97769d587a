"""Methods of packages that only the benchmarks need: OpenCV's, and Menon's in colour-demosaicing."""

import warnings
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.errors import Unsupported
from demosaic_ntc.imaging.cfa import Cfa

from .pictures import Bytes, Mosaic

Floats = NDArray[np.float32]

#: OpenCV's algorithms and how the names of its conversions end.
OPENCV = {"bilinear": "", "vng": "_VNG", "ea": "_EA"}

#: OpenCV's algorithms for repairs: Telea's, and Navier-Stokes.
OPENCV_REPAIRS = {"telea": "INPAINT_TELEA", "ns": "INPAINT_NS"}


def opencv(mosaic: Mosaic, cfa: Cfa, algorithm: str, threads: int) -> Floats:
    """Demosaic a Bayer mosaic by one of OpenCV's conversions."""
    _check_bayer("OpenCV", cfa)
    cv2 = _loaded("cv2", "opencv-python-headless")
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
    cv2 = _loaded("cv2", "opencv-python-headless")
    cv2.setNumThreads(threads)
    flag = getattr(cv2, OPENCV_REPAIRS[algorithm])
    return np.asarray(cv2.inpaint(picture, missing.astype(np.uint8), radius, flag))


def menon(mosaic: Mosaic, cfa: Cfa) -> Floats:
    """Demosaic a Bayer mosaic by directional filtering with a posteriori decision, refined.

    D. Menon, S. Andriani, G. Calvagno, *Demosaicing With Directional Filtering and a posteriori Decision*,
    IEEE Transactions on Image Processing 16 (2007), 132-141, doi:10.1109/TIP.2006.884928.
    """
    _check_bayer("colour-demosaicing", cfa)
    package = _loaded("colour_demosaicing", "colour-demosaicing")
    white = np.iinfo(mosaic.dtype).max
    picture = package.demosaicing_CFA_Bayer_Menon2007(mosaic / white, cfa.name)
    return np.asarray(picture * white, dtype=np.float32)


def package_version(package: str) -> str:
    """A package with its version, or that it is not there."""
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} not installed"


def _check_bayer(package: str, cfa: Cfa) -> None:
    """Refuse arrays that a package does not know."""
    if not cfa.is_bayer:
        raise Unsupported(f"{package} knows Bayer arrays, not {cfa.name}; leave it out")


def _loaded(module: str, package: str) -> Any:
    """A module of an optional package; what it imports in an outdated way is not our user's concern."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return import_module(module)
    except ImportError as error:
        raise Unsupported(f"{package} is not installed; install demosaic-ntc[benchmark]") from error
