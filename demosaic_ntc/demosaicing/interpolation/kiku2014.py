"""Minimised-Laplacian residual interpolation with weighted windows (method ``mlri``).

D. Kiku, Y. Monno, M. Tanaka, M. Okutomi, "Minimized-Laplacian residual interpolation for color image
demosaicking", Proc. SPIE 9023, 2014, doi:10.1117/12.2038425, and "Beyond color difference: residual
interpolation for color image demosaicking", IEEE Trans. Image Processing 25(3), 2016,
doi:10.1109/TIP.2016.2518082, whose weighted averaging of the regression windows is used here. A tentative
estimate of each colour comes from a guided regression on another colour; what it leaves over at the samples
is small and smooth, so that interpolating this residual errs less than interpolating colour differences.
"""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.interpolation.bayer import inner, make_green_sign, mirror_mosaic, require_bayer
from demosaic_ntc.demosaicing.interpolation.kernels import filter_separably, steer_difference
from demosaic_ntc.demosaicing.interpolation.regression_kernels import regress_plane, row_estimates

Floats = NDArray[np.float32]

HALO = 28

BILINEAR_TAPS = np.array([0.5, 1, 0.5], np.float32)
MIDDLE = np.float32(0.5)


def kiku2014(mosaic: Floats, cfa: Cfa) -> Floats:
    """Interpolate the residuals of guided regressions: green along rows and columns, then red and blue."""
    require_bayer(cfa, "mlri")
    extended = mirror_mosaic(mosaic, HALO) - MIDDLE
    masks = cfa.masks(extended.shape)
    green = np.where(
        masks[..., 1], extended, _interpolate_green(extended, make_green_sign(cfa, extended.shape))
    )
    picture = np.empty((*mosaic.shape, 3), np.float32)
    picture[..., 1] = inner(green, HALO)
    for channel in (0, 2):
        row, column = np.argwhere(cfa.pattern == channel)[0]
        tentative, residual = regress_plane(extended, green, row, column)
        picture[..., channel] = inner(tentative + _bilinear(residual), HALO)
    picture += MIDDLE
    return np.where(masks[HALO:-HALO, HALO:-HALO], mosaic[..., None], picture)


def _interpolate_green(mosaic: Floats, sign: Floats) -> Floats:
    """Estimate green at red and blue sites from the colour differences along rows and along columns."""
    across = sign * (mosaic - row_estimates(mosaic))
    down = sign * (mosaic - row_estimates(mosaic.T.copy()).T.copy())
    return mosaic + steer_difference(across, down)


def _bilinear(residual: Floats) -> Floats:
    """Spread residuals on every second row and column over all pixels."""
    return filter_separably(residual, BILINEAR_TAPS, BILINEAR_TAPS)
