"""The first estimate of holes: filled smoothly from their rims."""

import numpy as np

from demosaic_ntc.arrays import Flags, Planes
from demosaic_ntc.inpainting.classification import depths
from demosaic_ntc.inpainting.smooth_fill import Biharmonic, fill_by_blur
from demosaic_ntc.run import Deadline

_STEPS_PER_DEPTH, _MOST_STEPS = 12, 100
_ACCURACY = 1e-3
_NEVER = Deadline()


def fill_smoothly(planes: Planes, known: Flags, deadline: Deadline = _NEVER) -> Planes:
    """Return planes, (channels, height, width), whose unknown entries are filled smoothly.

    Holes are blurred shut, then moved towards the biharmonic solution, further where they are deep. A channel
    without known entries becomes the mean of the others, or stays when there are none.
    """
    whole, unseen = planes.copy(), []
    for channels in _alike(known):
        missing = ~known[channels[0]]
        if missing.all():
            unseen += channels
        elif missing.any():
            start = fill_by_blur(planes[channels], missing, deadline)
            whole[channels] = start if deadline.is_over() else _smooth(start, missing, deadline)
    if unseen and len(unseen) < len(planes):
        whole[unseen] = np.delete(whole, unseen, axis=0).mean(axis=0)
    return whole


def _smooth(start: Planes, missing: Flags, deadline: Deadline) -> Planes:
    """Return planes whose missing pixels are moved towards the biharmonic solution."""
    steps = min(_STEPS_PER_DEPTH * int(depths(missing).max()), _MOST_STEPS)
    return Biharmonic(missing).fill(start, steps, _ACCURACY, deadline)


def _alike(known: Flags) -> list[list[int]]:
    """Return the channels in sets that show the same pixels."""
    sets: list[list[int]] = []
    for channel, shown in enumerate(known):
        same = next((one for one in sets if (known[one[0]] == shown).all()), None)
        if same is None:
            sets.append([channel])
        else:
            same.append(channel)
    return sets
