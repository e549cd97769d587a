"""First estimates of what a picture does not show: smooth fills of its holes.

The biharmonic fill solves Δ²u = 0 in the holes (Damelin and Hoang 2018, doi:10.1155/2018/3950312); it is
scikit-image's.
"""

import numpy as np
from numpy.typing import NDArray
from skimage.restoration import inpaint_biharmonic

Planes = NDArray[np.float32]  # (channels, height, width)
Flags = NDArray[np.bool_]  # of the same shape


def biharmonic(planes: Planes, known: Flags) -> Planes:
    """Fill the unknown entries of every channel biharmonically."""
    filled = np.where(known, planes, np.float32(0))
    if (known == known[:1]).all():
        picture = inpaint_biharmonic(np.moveaxis(filled, 0, 2), ~known[0], channel_axis=2)
        return np.ascontiguousarray(np.moveaxis(picture, 2, 0), np.float32)
    for plane, shown in zip(filled, known, strict=True):
        if shown.any():
            plane[:] = inpaint_biharmonic(plane, ~shown)
    return filled
