"""A picture of any depth as bytes to be looked at."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.engine.notebook_preview import find_white
from demosaic_ntc.run import imap_threads
from demosaic_ntc.studio.canvas.tile_images import Bytes

_BAND = 256  # rows at a time: a copy of all pixels in floats would not fit
_GLANCE = 8  # every n-th row and column tells the white of floats


def white_shown(colours: NDArray[Any]) -> float:
    """The value that is shown as white: the largest of unsigned integers, else what the picture needs."""
    if colours.dtype.kind == "u":
        return float(np.iinfo(colours.dtype).max)
    return find_white(np.abs(colours[::_GLANCE, ::_GLANCE]))


def view_of(colours: NDArray[Any], white: float, threads: int = 1) -> Bytes:
    """The picture (height, width) or (height, width, 3) in bytes, zero black and 255 at white."""
    if colours.dtype == np.uint8:
        return np.ascontiguousarray(colours)
    view = np.empty(colours.shape, np.uint8)

    def write(top: int) -> None:
        view[top : top + _BAND] = _convert_to_bytes(colours[top : top + _BAND], white)

    for _ in imap_threads(write, range(0, len(colours), _BAND), threads):
        pass
    return view


def _convert_to_bytes(colours: NDArray[Any], white: float) -> NDArray[Any]:
    """Some rows as numbers from 0 to 255."""
    if colours.dtype.kind == "u" and white == np.iinfo(colours.dtype).max:
        return np.asarray(colours >> (8 * colours.itemsize - 8))
    with np.errstate(invalid="ignore"):  # what is no number is shown as black
        return np.rint(255 * np.clip(np.nan_to_num(colours.astype(np.float64) / white), 0, 1))
