"""LibRaw's interpolations, through a synthetic DNG in memory.

The raw says: black 0, white 65535, camera colours are linear sRGB. Development leaves the samples alone (no
white balance, no curve, no brightening, no colour conversion, no rotation), so that what comes out is the
interpolation and nothing else. 8-bit samples are stretched by 257 and come back divided by it; 16-bit ones
stay as they are. The colour matrix still matters: AHD and AAHD compare directions in CIELab.
"""

from io import BytesIO

import numpy as np
import rawpy
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.errors import Unsupported, border, words
from demosaic_ntc.io.colour import XYZ_FROM_SRGB

from ..measure.metrics import Mosaic
from ..siblings import Camera, dng

Floats = NDArray[np.float32]

ALGORITHMS = ("linear", "vng", "ppg", "ahd", "dcb", "dht", "aahd")

_FOR_BOTH = ("linear", "vng")

#: With an X-Trans array LibRaw takes these names for Markesteijn's method with one and with three passes.
MARKESTEIJN = {1: "ppg", 3: "ahd"}

VERSION = "LibRaw " + ".".join(map(str, rawpy.libraw_version))

_XTRANS = Cfa.from_name("XTRANS")
_XTRANS_PHASES = {_XTRANS.shift(row, column) for row in range(6) for column in range(6)}

#: Markesteijn's method works in tiles of this size and refuses smaller pictures.
XTRANS_LEAST = 512

_WHITE = 65535
_FROM_XYZ = np.asarray(np.linalg.inv(XYZ_FROM_SRGB), np.float64)
_PLAIN = Camera(black=0.0, white=_WHITE, neutral=(1.0, 1.0, 1.0), from_xyz=_FROM_XYZ)


def demosaic_libraw(algorithm: str, mosaic: Mosaic, cfa: Cfa, _threads: int = 1) -> Floats:
    """Demosaic a mosaic by one of LibRaw's algorithms; it has some for X-Trans, too."""
    if not cfa.is_bayer and algorithm not in _FOR_BOTH:
        raise Unsupported(f"LibRaw's {algorithm} is defined on Bayer arrays, not on {cfa.name}; leave it out")
    if not cfa.is_bayer and cfa not in _XTRANS_PHASES:
        raise Unsupported(f"LibRaw knows Bayer and X-Trans arrays, not {cfa.name}; leave it out")
    return _develop(mosaic, cfa, algorithm)


def demosaic_markesteijn(passes: int, mosaic: Mosaic, cfa: Cfa, _threads: int = 1) -> Floats:
    """Demosaic an X-Trans mosaic by Markesteijn's method."""
    if cfa not in _XTRANS_PHASES:
        raise Unsupported(f"Markesteijn's method is defined on X-Trans, not on {cfa.name}; leave it out")
    height, width = mosaic.shape
    rows, columns = _mirror_indices(height, cfa.pattern), _mirror_indices(width, cfa.pattern.T)
    padded = mosaic[np.ix_(rows, columns)]
    return _develop(padded, cfa, MARKESTEIJN[passes])[:height, :width]


def _mirror_indices(size: int, pattern: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Indices that extend an axis to LibRaw's least size by reflection.

    Mirrors stand only at rows about which the array itself is symmetric (every third row of X-Trans), so that
    each reflected sample falls on a pixel of its own colour; no sample is invented and none is seen twice in
    two colours.
    """
    period = len(pattern)
    axes = [row for row in range(size) if _is_symmetric(pattern, row % period)]
    if size >= XTRANS_LEAST or len(axes) < 2:
        return np.arange(size)
    first, last = axes[0], axes[-1]
    beyond = np.arange(size, XTRANS_LEAST) - first
    span = last - first
    return np.concatenate([np.arange(size), first + span - np.abs(beyond % (2 * span) - span)])


def _is_symmetric(pattern: NDArray[np.uint8], row: int) -> bool:
    """Whether a periodic array is its own mirror image about a row."""
    order = (2 * row - np.arange(len(pattern))) % len(pattern)
    return bool(np.array_equal(pattern[order], pattern))


def _develop(mosaic: Mosaic, cfa: Cfa, algorithm: str) -> Floats:
    """What LibRaw makes of a mosaic, in the mosaic's scale."""
    stretch = np.uint16(_WHITE // np.iinfo(mosaic.dtype).max)
    samples = BytesIO(dng(mosaic.astype(np.uint16) * stretch, cfa, _PLAIN))

    def refusal(error: Exception) -> Unsupported:
        return Unsupported(f"LibRaw refuses a mosaic of {mosaic.shape} ({words(error)}); leave it out")

    with border(refusal), rawpy.imread(samples) as raw:
        picture = raw.postprocess(
            demosaic_algorithm=rawpy.DemosaicAlgorithm[algorithm.upper()],
            user_wb=[1.0, 1.0, 1.0, 1.0],
            output_color=rawpy.ColorSpace.raw,
            gamma=(1, 1),
            no_auto_bright=True,
            adjust_maximum_thr=0.0,
            output_bps=16,
            user_flip=0,
        )
    return picture.astype(np.float32) / np.float32(stretch)
