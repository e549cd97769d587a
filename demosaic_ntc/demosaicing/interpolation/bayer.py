"""Published interpolations of Bayer arrays: LMMSE (2005), MLRI (2014) and Malvar's (2004)."""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.interpolation.kernels import (
    complete_difference,
    filter_image,
    filter_separably,
    row_difference,
    shrink_rows,
    steer_difference,
)
from demosaic_ntc.demosaicing.interpolation.regression_kernels import regress_plane, row_estimates
from demosaic_ntc.errors import Unsupported

Floats = NDArray[np.float32]

# How far the samples reach on which a pixel depends: mosaics are mirrored at the centres of border pixels, by
# an even number, which keeps the parity of rows and columns and so the colour array.
LMMSE_HALO, MLRI_HALO, MALVAR_HALO = 12, 28, 2

ONE, TINY = np.float32(1), np.float32(1e-30)
BILINEAR_TAPS = np.array([0.5, 1, 0.5], np.float32)
MIDDLE = np.float32(0.5)

GREEN_AT_COLOUR = np.float32(1 / 8) * np.array(
    [[0, 0, -1, 0, 0], [0, 0, 2, 0, 0], [-1, 2, 4, 2, -1], [0, 0, 2, 0, 0], [0, 0, -1, 0, 0]], np.float32
)
COLOUR_IN_ITS_ROW = np.float32(1 / 8) * np.array(
    [[0, 0, 0.5, 0, 0], [0, -1, 0, -1, 0], [-1, 4, 5, 4, -1], [0, -1, 0, -1, 0], [0, 0, 0.5, 0, 0]],
    np.float32,
)
COLOUR_IN_ITS_COLUMN = np.ascontiguousarray(COLOUR_IN_ITS_ROW.T)
COLOUR_AT_OTHER_COLOUR = np.float32(1 / 8) * np.array(
    [[0, 0, -1.5, 0, 0], [0, 2, 0, 2, 0], [-1.5, 0, 6, 0, -1.5], [0, 2, 0, 2, 0], [0, 0, -1.5, 0, 0]],
    np.float32,
)


def zhang_wu2005(mosaic: Floats, cfa: Cfa) -> Floats:
    """Interpolate by directional linear minimum mean square error estimation (method ``lmmse``).

    L. Zhang, X. Wu, "Color demosaicking via directional linear minimum mean square-error estimation", IEEE
    Trans. Image Processing 14(12), 2005, doi:10.1109/TIP.2005.857260. Along rows and along columns the
    difference green minus colour is estimated at every pixel, seen as a smooth signal plus interpolation
    noise, and shrunk by the local variances of both; the two directions are fused by their error variances.
    Red and blue follow from bilinear colour differences.
    """
    require_bayer(cfa, "lmmse")
    extended = np.pad(mosaic, LMMSE_HALO, mode="reflect")
    green = _complete_green(extended, cfa)
    difference, core = extended - green, (slice(LMMSE_HALO, -LMMSE_HALO),) * 2
    picture = np.empty((*mosaic.shape, 3), np.float32)
    picture[..., 1] = green[core]
    for channel in (0, 2):
        row, column = np.argwhere(cfa.pattern == channel)[0]
        samples = np.zeros_like(difference)
        samples[row::2, column::2] = difference[row::2, column::2]
        np.add(green[core], complete_difference(samples)[core], out=picture[..., channel])
    cfa.replace_measured(picture, mosaic)
    return picture


def estimate_green(mosaic: Floats, cfa: Cfa) -> Floats:
    """Green of that interpolation alone."""
    require_bayer(cfa, "lmmse")
    return inner(_complete_green(np.pad(mosaic, LMMSE_HALO, mode="reflect"), cfa), LMMSE_HALO)


def _complete_green(extended: Floats, cfa: Cfa) -> Floats:
    """Green everywhere in a mosaic, by the differences along rows and columns."""
    sign = np.where(cfa.channel_map(extended.shape) == 1, ONE, -ONE)
    across, across_variance = shrink_rows(row_difference(extended, sign))
    turned = shrink_rows(row_difference(extended.T.copy(), sign.T.copy()))
    down, down_variance = (plane.T.copy() for plane in turned)
    across *= down_variance
    down *= across_variance
    across += down
    across_variance += down_variance
    across_variance += TINY
    across /= across_variance
    across += extended
    return np.where(sign > 0, extended, across)


def kiku2014(mosaic: Floats, cfa: Cfa) -> Floats:
    """Interpolate residuals with minimised Laplacians and weighted windows (method ``mlri``).

    D. Kiku, Y. Monno, M. Tanaka, M. Okutomi, "Minimized-Laplacian residual interpolation for color image
    demosaicking", Proc. SPIE 9023, 2014, doi:10.1117/12.2038425, and "Beyond color difference: residual
    interpolation for color image demosaicking", IEEE Trans. Image Processing 25(3), 2016,
    doi:10.1109/TIP.2016.2518082, whose weighted averaging of the regression windows is used here. A tentative
    estimate of each colour comes from a guided regression on another colour, green along rows and columns,
    then red and blue; what it leaves over at the samples is small and smooth, so that interpolating this
    residual errs less than interpolating colour differences.
    """
    require_bayer(cfa, "mlri")
    extended = np.pad(mosaic, MLRI_HALO, mode="reflect")
    extended -= MIDDLE
    sign = np.where(cfa.channel_map(extended.shape) == 1, ONE, -ONE)
    core = (slice(MLRI_HALO, -MLRI_HALO),) * 2
    green = np.where(sign > 0, extended, _interpolate_green(extended, sign))
    picture = np.empty((*mosaic.shape, 3), np.float32)
    picture[..., 1] = green[core]
    for channel in (0, 2):
        row, column = np.argwhere(cfa.pattern == channel)[0]
        tentative, residual = regress_plane(extended, green, row, column)
        spread = filter_separably(residual, BILINEAR_TAPS, BILINEAR_TAPS)
        np.add(tentative[core], spread[core], out=picture[..., channel])
    picture += MIDDLE
    cfa.replace_measured(picture, mosaic)
    return picture


def _interpolate_green(mosaic: Floats, sign: Floats) -> Floats:
    """Estimate green at red and blue sites from the colour differences along rows and along columns."""
    across = mosaic - row_estimates(mosaic)
    across *= sign
    down = mosaic - row_estimates(mosaic.T.copy()).T
    down *= sign
    difference = steer_difference(across, down)
    difference += mosaic
    return difference


def malvar2004(mosaic: Floats, cfa: Cfa) -> Floats:
    """Interpolate linearly, corrected by the gradient of the measured colour (method ``malvar``).

    H. S. Malvar, L. He, R. Cutler, "High-quality linear interpolation for demosaicing of Bayer-patterned
    color images", ICASSP 2004, doi:10.1109/ICASSP.2004.1326587. Each missing value is bilinear plus a
    multiple of the Laplacian of the colour measured there (gains 1/2, 5/8, 3/4), five 5×5 kernels in all.
    """
    require_bayer(cfa, "malvar")
    extended = np.pad(mosaic, MALVAR_HALO, mode="reflect")
    masks = cfa.masks(mosaic.shape)
    green = inner(filter_image(extended, GREEN_AT_COLOUR), MALVAR_HALO)
    across = inner(filter_image(extended, COLOUR_IN_ITS_ROW), MALVAR_HALO)
    down = inner(filter_image(extended, COLOUR_IN_ITS_COLUMN), MALVAR_HALO)
    diagonal = inner(filter_image(extended, COLOUR_AT_OTHER_COLOUR), MALVAR_HALO)
    picture = np.empty((*mosaic.shape, 3), np.float32)
    picture[..., 1] = np.where(masks[..., 1], mosaic, green)
    for channel in (0, 2):
        mask = masks[..., channel]
        in_its_row = mask.any(axis=1, keepdims=True)
        at_green = np.where(in_its_row, across, down)
        elsewhere = np.where(masks[..., 1], at_green, diagonal)
        picture[..., channel] = np.where(mask, mosaic, elsewhere)
    return picture


def require_bayer(cfa: Cfa, method: str) -> None:
    """Raise when a method that is defined on Bayer arrays only is asked for another one."""
    if not cfa.is_bayer:
        raise Unsupported(f"{method} is defined on Bayer arrays, not on {cfa.name}; use method blend")


def inner(extended: Floats, halo: int) -> Floats:
    """Return what lies within the halo."""
    return np.ascontiguousarray(extended[halo:-halo, halo:-halo])
