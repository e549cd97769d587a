"""The levels at which the colours of a sensor saturate, found by the piles of their saturated samples.

A sensor may saturate below the white level that its file states, and each colour at a level of its own.
Bright surfaces pile up too: so a pile counts only where nearly nothing lies above it, where it is made of
areas and not of hot pixels, and where the other colours show that the light goes on rising: they vary more
than the pile is wide, or are bright as well.
"""

from collections.abc import Iterator
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.raw.photo import GREEN, SECOND_GREEN, RawPhoto

Levels = tuple[float, float, float]
Counts = NDArray[np.int64]
Cells = NDArray[np.float32]

# Rows per step: whole blocks of the grey-world rule (8) and whole periods of any array we read (2, 4, 6).
_BAND = 240

# Saturated samples lie above this share of white. They pile up within twice this width, a share of white, to
# both sides of their most frequent value.
_LEAST_SHARE, _WIDTH = 0.75, 0.01

# A pile has at least this many samples, lying this many times as densely as those below it, and at most this
# many times as many lie above it.
_FEWEST, _DENSITY, _ABOVE = 20, 2.0, 0.1

# A colour saturates where this share of its pile lies below.
_EDGE = 0.05

# This share of the cells of a pile has a neighbour to the right that belongs to it as well.
_CLUSTERED = 0.25

# Where a colour is saturated, others vary by this many times as much as it does, and at least by this share.
_WIDER, _VARIATION = 3.0, 0.02

# Rows of a strip of cells, whole periods of any array; about this many samples are looked at.
_STRIP, _SAMPLES = 12, 1 << 20


_FOUND: WeakKeyDictionary[RawPhoto, Levels] = WeakKeyDictionary()


def saturation(photo: RawPhoto) -> Levels:
    """The levels at which red, green and blue saturate; the nominal white where no pile shows one.

    They are looked for once: what follows asks for those of the same photo again.
    """
    if photo not in _FOUND:
        _FOUND[photo] = _find_levels(photo)
    return _FOUND[photo]


def lowest_saturation(photo: RawPhoto) -> float:
    """The level from which some colour is saturated; nominal white for a mosaic without a camera."""
    return photo.white if photo.is_plain else min(saturation(photo))


def _find_levels(photo: RawPhoto) -> Levels:
    """The levels that the samples show.

    Colours of a linear raw were clipped by whoever made them, at levels of their own below white, and a
    monochrome one has no other colours that would tell.
    """
    cfa = photo.cfa
    if cfa is None or cfa.is_mono:
        return photo.white, photo.white, photo.white
    edges = [_find_edge(histogram, photo.white) for histogram in _histograms(photo)]
    if min(edges) >= photo.white:
        return photo.white, photo.white, photo.white
    cells = sample_cells(photo)
    red, green, blue = (
        edge if edge < photo.white and _is_clipped(cells, colour, edge, photo.white) else photo.white
        for colour, edge in enumerate(edges)
    )
    return red, green, blue


def bands(mosaic: NDArray[np.uint16]) -> Iterator[NDArray[np.uint16]]:
    """The rows of a mosaic, a few at a time."""
    return (mosaic[top : top + _BAND] for top in range(0, mosaic.shape[0], _BAND))


def _histograms(photo: RawPhoto) -> Counts:
    """How often each sample value occurs, by colour."""
    counts = np.zeros((4, 65536), dtype=np.int64)
    height, width = photo.channels.shape
    for band in bands(photo.mosaic):
        for y, x in np.ndindex(height, width):
            samples = band[y::height, x::width].ravel()
            counts[photo.channels[y, x]] += np.bincount(samples, minlength=65536)
    counts[GREEN] += counts[SECOND_GREEN]
    return counts[:SECOND_GREEN]


def _find_edge(histogram: Counts, white: float) -> float:
    """The lower edge of a colour's topmost pile near white that nearly nothing lies above; else white."""
    width = max(1, round(_WIDTH * white))
    sums = np.cumsum(np.pad(histogram, (width // 2 + 1, (width - 1) // 2)))
    smooth = sums[width:] - sums[:-width]  # over as many values as a pile is wide, around each
    start = int(_LEAST_SHARE * white)
    while histogram[start:].any():
        middle = start + int(np.argmax(smooth[start:]))
        low, high = max(middle - 2 * width, 0), middle + 2 * width
        if histogram[high:].sum() > _ABOVE * histogram[low:high].sum():
            start = high
            continue
        below = float(histogram[max(low - 3 * width, 0) : low].sum()) / (3 * width)  # samples per value
        if smooth[middle] < max(_FEWEST, _DENSITY * below * width):
            break
        excess = np.cumsum(histogram[low:high] - below)
        return float(min(low + int(np.argmax(excess >= _EDGE * excess[-1])), white))
    return white


def sample_cells(photo: RawPhoto) -> Cells:
    """The mean of each colour in each period of the array, of strips of rows all over the photo.

    Of a linear raw they are its pixels.
    """
    every = max(1, photo.mosaic.size // _SAMPLES)
    tops = range(0, photo.mosaic.shape[0], _STRIP * every)
    strips = np.concatenate([photo.mosaic[top : top + _STRIP] for top in tops]).astype(np.float32)
    if photo.cfa is None:
        return strips
    pattern = photo.cfa.pattern
    (down, across), (height, width) = pattern.shape, strips.shape
    cells = strips[: height // down * down, : width // across * across]
    sites = cells.reshape(height // down, down, width // across, across).swapaxes(1, 2)
    return np.stack([sites[..., pattern == colour].mean(axis=-1) for colour in range(3)], axis=-1)


def _is_clipped(cells: Cells, colour: int, edge: float, white: float) -> bool:
    """Whether the light goes on rising where a colour has reached its pile, in areas and not in dots."""
    inside = cells[..., colour] >= edge
    neighbours = np.count_nonzero(inside[:, 1:] & inside[:, :-1])
    if neighbours <= _CLUSTERED * np.count_nonzero(inside):
        return False
    pile = cells[inside]
    own, others = _variation(pile[:, colour]), np.delete(pile, colour, axis=1)
    if (np.median(others, axis=0) > _LEAST_SHARE * white).all():
        return True
    return max(_variation(other) for other in others.T) >= max(_WIDER * own, _VARIATION)


def _variation(samples: Cells) -> float:
    """How far most samples lie apart, as a share of their median."""
    low, middle, high = np.quantile(samples, (0.1, 0.5, 0.9))
    return float((high - low) / max(middle, 1e-6))
