"""The holes of a picture: how deep they are, of what kind, and how smooth values spread across them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.imaging.first_guess.fill import Biharmonic, Flags, Planes, blurred
from demosaic_ntc.imaging.kernels.nearby import fill_from_nearby
from demosaic_ntc.imaging.kinds import Depths, depths, kinds_of

_STEPS_PER_DEPTH, _MOST_STEPS = 12, 100  # of the first estimate
_ACCURACY = 1e-3
_SPREAD_STEPS, _SPREAD_ACCURACY = 30, 1e-2
# How much a residual is felt so many pixels away in a wide hole: a Gaussian of deviation 0.7.
_NEARBY = np.exp(-0.5 * (np.arange(3) / 0.7) ** 2).astype(np.float32)
_DECAY = 0.65  # of trust, with every pixel further into a hole
_DEEPEST = 48  # pixels into a hole; trust falls no further, or it would vanish in single precision


@dataclass(frozen=True, slots=True, eq=False)
class _Shared:
    """Channels with the same holes."""

    channels: list[int]
    missing: Flags
    depth: Depths
    equation: Biharmonic


class Holes:
    """The missing entries of a picture, per channel."""

    def __init__(self, known: Flags) -> None:
        self.missing = ~known
        self._shared = [_share(channels, self.missing) for channels in _alike(known)]
        anywhere = np.logical_or.reduce(self.missing, axis=0)
        self.kinds = kinds_of(anywhere)
        self._fading = np.empty(known.shape, np.float32)
        for part in self._shared:
            self._fading[part.channels] = _fading(part.depth)

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
        spread = residual.copy()
        for plane, hidden in zip(spread, self.missing, strict=True):
            fill_from_nearby(plane, hidden, _NEARBY)
        return spread

    def trust(self, missing: float) -> Planes:
        """Return a weight for every entry: 1 where known, less where missing, ever less further in."""
        return np.where(self.missing, np.float32(missing) * self._fading, np.float32(1))


def _fading(depth: Depths) -> NDArray[np.float32]:
    """Return the share of trust that is left at a depth: all of it in the first missing pixel."""
    falling = _DECAY ** (np.arange(_DEEPEST + 1) - 1.0)
    return np.asarray(falling.astype(np.float32)[np.clip(depth, 1, _DEEPEST)])


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
    return _Shared(channels, flags, depths(flags), Biharmonic(flags))
