"""The holes of a picture: how deep they are, of what kind, and how smooth values spread across them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from demosaic_ntc.imaging.first_guess.fill import Biharmonic, Flags, Planes, blurred
from demosaic_ntc.imaging.kinds import Depths, depths, kinds_of

_STEPS_PER_DEPTH, _MOST_STEPS = 12, 100  # of the first estimate
_ACCURACY = 1e-3
_SPREAD_STEPS, _SPREAD_ACCURACY = 30, 1e-2
_NEARBY = 0.7  # standard deviation, in pixels, of how far a residual is felt across a wide hole
_DEEPEST = 48  # pixels into a hole; trust falls no further, or it would vanish in single precision
_TINY = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class _Shared:
    """Channels with the same holes."""

    channels: list[int]
    missing: Flags
    depth: Depths
    equation: Biharmonic
    nearby: NDArray[np.float32]  # how much of what is known nearby is felt at each missing pixel


class Holes:
    """The missing entries of a picture, per channel."""

    def __init__(self, known: Flags) -> None:
        self.missing = ~known
        self._shared = [_share(channels, self.missing) for channels in _alike(known)]
        anywhere = np.logical_or.reduce(self.missing, axis=0)
        self.kinds = kinds_of(anywhere)

    def first_estimate(self, planes: Planes) -> Planes:
        """Fill the holes smoothly: blurred, then towards the biharmonic solution, further in deep holes.

        A channel without known entries becomes the mean of the others, or stays when there are none.
        """
        filled = planes.copy()
        shown = [part for part in self._shared if not part.missing.all()]
        for part in shown:
            steps = min(_STEPS_PER_DEPTH * int(part.depth.max()), _MOST_STEPS)
            start = blurred(planes[part.channels], part.missing)
            filled[part.channels] = part.equation.fill(start, steps, _ACCURACY)
        unseen = [channel for part in self._shared if part not in shown for channel in part.channels]
        if shown and unseen:
            filled[unseen] = np.delete(filled, unseen, axis=0).mean(axis=0)
        return filled

    def spread_smoothly(self, residual: Planes) -> Planes:
        """Continue what the known entries leave into the holes, biharmonically."""
        spread = np.where(self.missing, np.float32(0), residual)
        for part in self._shared:
            if part.missing.all():
                continue
            spread[part.channels] = part.equation.fill(spread[part.channels], _SPREAD_STEPS, _SPREAD_ACCURACY)
        return spread

    def spread_nearby(self, residual: Planes) -> Planes:
        """Continue what the known entries leave into the rims of the holes only."""
        spread = np.where(self.missing, np.float32(0), residual)
        for part in self._shared:
            for channel in part.channels:
                total = gaussian_filter(spread[channel], _NEARBY, mode="constant")
                spread[channel][part.missing] = total[part.missing] / part.nearby
        return spread

    def trust(self, missing: float, decay: float) -> Planes:
        """Return a weight for every entry: 1 where known, less where missing, ever less further in."""
        weights = np.ones(self.missing.shape, np.float32)
        for part in self._shared:
            inside = missing * decay ** (np.clip(part.depth[part.missing], 1, _DEEPEST) - 1.0)
            for channel in part.channels:
                weights[channel][part.missing] = inside
        return weights


def _alike(known: Flags) -> list[list[int]]:
    """Return the channels in sets that show the same pixels."""
    sets: list[list[int]] = []
    for channel, shown in enumerate(known):
        fellows = next((one for one in sets if (known[one[0]] == shown).all()), None)
        if fellows is None:
            sets.append([channel])
        else:
            fellows.append(channel)
    return sets


def _share(channels: list[int], missing: Flags) -> _Shared:
    """Return what channels with the same holes share."""
    flags = missing[channels[0]]
    felt = gaussian_filter((~flags).astype(np.float32), _NEARBY, mode="constant")[flags]
    return _Shared(channels, flags, depths(flags), Biharmonic(flags), np.maximum(felt, _TINY))
