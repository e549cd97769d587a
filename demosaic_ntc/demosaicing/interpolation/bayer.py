"""What the Bayer interpolations share: mirrored borders, the sites of each colour."""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.errors import Unsupported

Floats = NDArray[np.float32]


def require_bayer(cfa: Cfa, method: str) -> None:
    """Raise when a method that is defined on Bayer arrays only is asked for another one."""
    if not cfa.is_bayer:
        raise Unsupported(f"{method} is defined on Bayer arrays, not on {cfa.name}; use method blend")


def mirror_mosaic(mosaic: Floats, halo: int) -> Floats:
    """Extend a mosaic by an even number of pixels on each side, mirrored at the border pixels' centres.

    Such a reflection keeps the parity of rows and columns, so the extended mosaic has the same colour array.
    """
    return np.pad(mosaic, halo, mode="reflect")


def inner(extended: Floats, halo: int) -> Floats:
    """Return what lies within the halo."""
    return np.ascontiguousarray(extended[halo:-halo, halo:-halo])


def make_green_sign(cfa: Cfa, shape: tuple[int, ...]) -> Floats:
    """Return +1 where green is measured and -1 elsewhere."""
    return np.where(cfa.channel_map(shape) == 1, np.float32(1), np.float32(-1))
