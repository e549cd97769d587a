"""General tensor completion on a picture: the height × width × 3 tensor of which some entries are known.

The picture is cut into tiles, each completed by itself: the singular value decompositions of SiLRTC grow with
the cube of a side, and a low rank fits a small tile better than a whole picture.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.imaging.cfa import Cfa

from .pictures import Mosaic
from .tensors import Floats, Samples

#: The largest side of a tile.
TILE = 128

Completion = Callable[[Samples], Floats]


def complete_tiles(mosaic: Mosaic, cfa: Cfa, complete: Completion) -> NDArray[np.float32]:
    """Complete the tensor of a mosaic, of which each pixel shows one entry."""
    masks = cfa.masks(mosaic.shape)
    return complete_known(np.broadcast_to(mosaic[..., None], masks.shape), masks, complete)


def complete_known(
    picture: NDArray[Any], known: NDArray[np.bool_], complete: Completion, side: int = TILE
) -> NDArray[np.float32]:
    """Complete the tensor of a picture tile by tile; values are handed over as shares of full scale."""
    completed = np.empty(known.shape, np.float32)
    white = np.iinfo(picture.dtype).max
    for rows in _tiles(known.shape[0], side):
        for columns in _tiles(known.shape[1], side):
            tile = (rows, columns)
            index = np.argwhere(known[tile])
            shares = picture[tile][known[tile]] / white
            completed[tile] = white * complete(Samples(known[tile].shape, index, shares))
    return completed


def _tiles(size: int, side: int) -> Iterator[slice]:
    """An axis in parts of nearly equal length, none above a side."""
    bounds = np.linspace(0, size, -(-size // side) + 1).astype(int)
    for start, stop in pairwise(bounds):
        yield slice(int(start), int(stop))
