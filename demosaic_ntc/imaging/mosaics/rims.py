"""Flags of pixels, grown by a rim."""

import numpy as np

from demosaic_ntc.arrays import Flags
from demosaic_ntc.imaging.first_guess.kernels import filter_separably


def close_to(flags: Flags, pixels: int) -> Flags:
    """Return which pixels are flagged or have a flag no more than so many rows and columns away."""
    taps = np.ones(2 * pixels + 1, np.float32)
    return np.asarray(filter_separably(flags.astype(np.float32), taps, taps) > 0)
