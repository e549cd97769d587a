"""Flags of pixels, grown by a rim."""

import numpy as np

from demosaic_ntc.arrays import Flags

_BAND = 256  # rows that are worked on together


def close_to(flags: Flags, pixels: int) -> Flags:
    """Return which pixels are flagged or have a flag no more than so many rows and columns away."""
    close = np.zeros_like(flags)
    for top in range(0, len(flags), _BAND):
        first, bottom = max(top - pixels, 0), min(top + _BAND, len(flags))
        seen = flags[first : bottom + pixels]
        if seen.any():
            tall = _any_along_rows(seen, pixels)[top - first : bottom - first]
            close[top:bottom] = _any_along_rows(tall.T, pixels).T
    return close


def _any_along_rows(flags: Flags, pixels: int) -> Flags:
    """Return which flags have one no more than so many rows away, or are set.

    What stretches of some rows hold tells what those of twice as many do, and two that overlap, any between.
    """
    length, stretch = 2 * pixels + 1, 1
    held = np.pad(flags, ((pixels, pixels), (0, 0)))
    while 2 * stretch <= length:
        held = held[:-stretch] | held[stretch:]
        stretch *= 2
    return held if stretch == length else held[: stretch - length] | held[length - stretch :]
