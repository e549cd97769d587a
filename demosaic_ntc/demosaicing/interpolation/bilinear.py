"""Bilinear interpolation, for any colour array.

Each missing value is the tent-weighted mean of the samples of its channel nearby (normalised
convolution, Knutsson and Westin 1993, doi:10.1109/CVPR.1993.341081). On a Bayer array the tent is 3×3
and this is plain bilinear interpolation. Beyond the border there are no samples.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.interpolation.kernels import filter_separably

Floats = NDArray[np.float32]


def bilinear(mosaic: Floats, cfa: Cfa) -> Floats:
    """Interpolate every channel from its own samples alone."""
    taps = tent(reach(cfa))
    planes = [convolve_normalised(mosaic, mask, taps) for mask in np.moveaxis(cfa.masks(mosaic.shape), 2, 0)]
    return np.stack(planes, axis=2)


def convolve_normalised(samples: Floats, mask: NDArray[np.bool_], taps: Floats) -> Floats:
    """Return the weighted mean of the nearby samples where there is none, the sample where there is one."""
    known = mask.astype(np.float32)
    total = filter_separably(samples * known, taps, taps)
    weight = filter_separably(known, taps, taps)
    return np.where(mask, samples, total / weight)


def tent(radius: int) -> Floats:
    """Return the taps that fall linearly from the centre to zero just beyond the radius."""
    return (1 - np.abs(np.arange(-radius, radius + 1)) / (radius + 1)).astype(np.float32)


@cache
def reach(cfa: Cfa) -> int:
    """Return the least radius at which every pixel, a corner too, sees all three channels.

    A window cut off by the border still holds radius + 1 rows and columns, so this is the least radius
    for which each block of (radius + 1)² pixels, wherever it lies, shows all channels.
    """
    return next(radius for radius in range(max(cfa.period)) if _every_block_is_complete(cfa, radius + 1))


def _every_block_is_complete(cfa: Cfa, side: int) -> bool:
    """Tell whether all three channels show in each block of side × side pixels."""
    down, across = cfa.period
    pixels = cfa.masks((down + side, across + side))
    blocks = np.lib.stride_tricks.sliding_window_view(pixels, (side, side), axis=(0, 1))
    return bool(blocks.any(axis=(3, 4)).all())
