"""Directional linear minimum mean square error estimation (method ``lmmse``).

L. Zhang, X. Wu, "Color demosaicking via directional linear minimum mean square-error estimation", IEEE Trans.
Image Processing 14(12), 2005, doi:10.1109/TIP.2005.857260. Along rows and along columns the difference green
minus colour is estimated at every pixel, seen as a smooth signal plus interpolation noise, and shrunk by the
local variances of both; the two directions are fused by their error variances. Red and blue follow from
bilinear colour differences.
"""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.interpolation.bayer import inner, make_green_sign, mirror_mosaic, require_bayer
from demosaic_ntc.demosaicing.interpolation.kernels import (
    complete_difference,
    row_difference,
    shrink_rows,
)

Floats = NDArray[np.float32]

HALO = 12

TINY = np.float32(1e-30)


def zhang_wu2005(mosaic: Floats, cfa: Cfa) -> Floats:
    """Interpolate by directional colour differences, shrunk and fused by their variances."""
    require_bayer(cfa, "lmmse")
    extended = mirror_mosaic(mosaic, HALO)
    masks = cfa.masks(extended.shape)
    green = _complete_green(extended, cfa)
    picture = np.empty((*mosaic.shape, 3), np.float32)
    picture[..., 1] = inner(green, HALO)
    for channel in (0, 2):
        mask = masks[..., channel]
        missing = complete_difference(np.where(mask, extended - green, np.float32(0)))
        picture[..., channel] = inner(np.where(mask, extended, green + missing), HALO)
    return picture


def estimate_green(mosaic: Floats, cfa: Cfa) -> Floats:
    """Green of that interpolation alone."""
    require_bayer(cfa, "lmmse")
    return inner(_complete_green(mirror_mosaic(mosaic, HALO), cfa), HALO)


def _complete_green(extended: Floats, cfa: Cfa) -> Floats:
    """Green everywhere in a mosaic, by the differences along rows and columns."""
    sign = make_green_sign(cfa, extended.shape)
    across, across_variance = _directional(extended, sign)
    down, down_variance = (plane.T.copy() for plane in _directional(extended.T.copy(), sign.T.copy()))
    weighted = across * down_variance + down * across_variance
    difference = weighted / (across_variance + down_variance + TINY)
    return np.where(cfa.masks(extended.shape)[..., 1], extended, extended + difference)


def _directional(mosaic: Floats, sign: Floats) -> tuple[Floats, Floats]:
    """Return green minus colour estimated along the rows, and the variance of its error."""
    return shrink_rows(row_difference(mosaic, sign))
