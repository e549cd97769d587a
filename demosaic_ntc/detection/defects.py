"""Hot, dead and stuck pixels of a mosaic, found by what surrounds them.

A defect is one sample that sticks out of all of its colour around it by more than noise could, while the
samples next to it, of other colours, know nothing of it: what a lens draws is never as small as that. Where
its colour varies around it, where others go along, and where such samples come in flocks, it is texture; and
the more samples of a picture nearly pass for defects, the less is believed of the rest.
"""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Float32, Float64
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.noise import NoiseModel
from demosaic_ntc.detection.defect_kernels import REACH, count_flocks, judge_samples
from demosaic_ntc.run import imap_threads

_BAND = 240  # rows at a time
_LEAST_NOISE = 1 / 2000  # of white: less is not told from the steps of the samples

# What counts against a defect, chosen on mosaics of Kodak and McMaster and on generated scenes.
_VARIED = 1.5  # times the share of the excess that its colour varies by
_FLOCK_REACH = 16  # pixels
_QUARTERS, _HALVES = 0.05, 0.1  # for each other near by that has a quarter, and half, of the excess
_FOLLOWED = 1.0  # what others follow as far as this is part of the picture, and no flock
_LIMIT, _LEAST_LIMIT = 0.6, 0.1  # on the sum
_NEARLY = (0.8, 1.6)  # sums that nearly are defects
_USUAL = 30.0  # of those, per megapixel: with more of them the limit falls


def find_defects(
    mosaic: Float32,
    cfa: Cfa,
    noise: NoiseModel,
    *,
    balance: tuple[float, float, float] = (1.0, 1.0, 1.0),
    white: float = 1.0,
    step: float = 0.0,
    most: float = _LIMIT,
    threads: int = 1,
) -> Flags:
    """Return flags of the defective samples of a mosaic (height, width).

    The mosaic is linear, black 0 and saturated from `white` on; `balance` makes greys equal in R, G and B,
    and samples are told apart in steps of `step`. What counts against a defect is `most` at most.
    """
    least = max(step, _LEAST_NOISE)
    told = np.stack([noise.slope, np.maximum(noise.floor, least**2), balance])
    places, sums = _find_candidates(mosaic, cfa, told, white, threads)
    nearly = np.count_nonzero((sums > _NEARLY[0]) & (sums < _NEARLY[1])) / (mosaic.size / 1e6)
    limit = max(most * min(1.0, _USUAL / max(nearly, 1.0)), _LEAST_LIMIT)
    defects = np.zeros(mosaic.shape, np.bool_)
    defects[tuple(places[sums <= limit].T)] = True
    return defects


def _find_candidates(
    mosaic: Float32, cfa: Cfa, told: Float64, white: float, threads: int
) -> tuple[NDArray[np.int64], Float64]:
    """Return samples that stick out and are no part of the picture, and what counts against each."""
    tops = range(0, mosaic.shape[0], _BAND)
    bands = imap_threads(lambda top: _find_in_band(mosaic, cfa, told, white, top), tops, threads)
    found = [np.concatenate(part) for part in zip(*bands, strict=True)]
    lone = np.flatnonzero(found[3] < _FOLLOWED)
    places, excess, varied, followed = (part[lone] for part in found)
    colour = cfa.pattern[tuple((places % np.array(cfa.period)).T)]
    sums = _VARIED * varied.astype(np.float64) + followed
    which = np.flatnonzero(sums <= _NEARLY[1])
    others = np.empty((len(which), 2), np.int64)
    count_flocks(places, colour, excess, which, _FLOCK_REACH, others)
    return places[which], sums[which] + others @ np.array([_QUARTERS, _HALVES])


def _find_in_band(
    mosaic: Float32, cfa: Cfa, told: Float64, white: float, top: int
) -> tuple[NDArray[np.int64], Float32, Float32, Float32]:
    """Return places, excess, variation and following of what sticks out in some rows."""
    first, bottom = max(top - REACH, 0), min(top + _BAND, mosaic.shape[0])
    seen = np.ascontiguousarray(mosaic[first : bottom + REACH], np.float32)
    excess, varied, followed = (np.zeros(seen.shape, np.float32) for _ in range(3))
    judge_samples(seen, cfa.shift(first, 0).pattern, told, white, excess, varied, followed)
    places = np.argwhere(excess[top - first : bottom - first]) + np.array([top - first, 0])
    here = tuple(places.T)
    return places + np.array([first, 0]), excess[here], varied[here], followed[here]
