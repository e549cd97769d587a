"""General tensor completion on a mosaic: the height × width × 3 tensor of which each pixel shows one entry.

The picture is cut into tiles, each completed by itself: the singular value decompositions of SiLRTC grow with
the cube of a side, and a low rank fits a small tile better than a whole picture.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.imaging.cfa import Cfa

from .pictures import Mosaic
from .tensors import Floats, Samples

#: The largest side of a tile.
TILE = 128

Completion = Callable[[Samples], Floats]


def complete_tiles(mosaic: Mosaic, cfa: Cfa, complete: Completion) -> NDArray[np.float32]:
    """Complete the tensor of a mosaic tile by tile; values are handed over as shares of full scale."""
    masks = cfa.masks(mosaic.shape)
    picture = np.empty(masks.shape, np.float32)
    white = np.iinfo(mosaic.dtype).max
    for rows in _tiles(mosaic.shape[0]):
        for columns in _tiles(mosaic.shape[1]):
            tile = (rows, columns)
            picture[tile] = white * complete(_samples(mosaic[tile] / white, masks[tile]))
    return picture


def _samples(shares: Floats, masks: NDArray[np.bool_]) -> Samples:
    """The entries that a tile shows."""
    index = np.argwhere(masks)
    return Samples(masks.shape, index, shares[index[:, 0], index[:, 1]])


def _tiles(size: int) -> Iterator[slice]:
    """An axis in parts of nearly equal length, none above a tile."""
    bounds = np.linspace(0, size, -(-size // TILE) + 1).astype(int)
    for start, stop in pairwise(bounds):
        yield slice(int(start), int(stop))
