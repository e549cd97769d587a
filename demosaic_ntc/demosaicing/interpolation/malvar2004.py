"""Gradient-corrected linear interpolation.

H. S. Malvar, L. He, R. Cutler, "High-quality linear interpolation for demosaicing of Bayer-patterned color
images", ICASSP 2004, doi:10.1109/ICASSP.2004.1326587. Each missing value is bilinear plus a multiple of the
Laplacian of the colour measured there (gains 1/2, 5/8, 3/4), five 5×5 kernels in all.
"""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.interpolation.bayer import inner, mirror_mosaic, require_bayer
from demosaic_ntc.demosaicing.interpolation.kernels import filter_image

Floats = NDArray[np.float32]

HALO = 2

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


def malvar2004(mosaic: Floats, cfa: Cfa) -> Floats:
    """Interpolate linearly, corrected by the gradient of the measured colour."""
    require_bayer(cfa, "malvar")
    extended = mirror_mosaic(mosaic, HALO)
    masks = cfa.masks(mosaic.shape)
    green = inner(filter_image(extended, GREEN_AT_COLOUR), HALO)
    across = inner(filter_image(extended, COLOUR_IN_ITS_ROW), HALO)
    down = inner(filter_image(extended, COLOUR_IN_ITS_COLUMN), HALO)
    diagonal = inner(filter_image(extended, COLOUR_AT_OTHER_COLOUR), HALO)
    picture = np.empty((*mosaic.shape, 3), np.float32)
    picture[..., 1] = np.where(masks[..., 1], mosaic, green)
    for channel in (0, 2):
        mask = masks[..., channel]
        in_its_row = mask.any(axis=1, keepdims=True)
        at_green = np.where(in_its_row, across, down)
        elsewhere = np.where(masks[..., 1], at_green, diagonal)
        picture[..., channel] = np.where(mask, mosaic, elsewhere)
    return picture
