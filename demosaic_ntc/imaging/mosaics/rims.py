"""Flags of pixels, grown by a rim."""

import numpy as np

from demosaic_ntc.arrays import Flags
from demosaic_ntc.imaging.first_guess.kernels import filter_separably

_BAND = 256  # rows that are worked on together


def close_to(flags: Flags, pixels: int) -> Flags:
    """Return which pixels are flagged or have a flag no more than so many rows and columns away."""
    taps, close = np.ones(2 * pixels + 1, np.float32), np.empty_like(flags)
    for top in range(0, len(flags), _BAND):
        first, bottom = max(top - pixels, 0), min(top + _BAND, len(flags))
        seen = flags[first : bottom + pixels]
        if seen.any():
            grown = filter_separably(seen.astype(np.float32), taps, taps) > 0
            close[top:bottom] = grown[top - first : bottom - first]
        else:
            close[top:bottom] = False
    return close
