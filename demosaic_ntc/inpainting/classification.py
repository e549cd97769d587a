"""What kind of hole a missing pixel belongs to: told by how deep holes are around it, and how dense."""

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import (
    binary_opening,
    distance_transform_cdt,
    distance_transform_edt,
    label,
    maximum_filter,
    uniform_filter,
)

from demosaic_ntc.arrays import Flags
from demosaic_ntc.engine.passes import HoleKind

_NEAR = 9  # pixels across, where the deepest missing pixel counts
_AROUND = 33  # pixels across, where the share of missing pixels counts


# A kind's limits: how far in, in pixels, the deepest nearby is, and the share of missing pixels around.
_LIMITS = {HoleKind.SPARSE: (2.3, 0.26), HoleKind.SCATTERED: (2.3, 0.65), HoleKind.WIDE: (4.5, 1.0)}
_LONG = 32  # pixels that hang together make a line
_WORTH_WHILE = 0.1  # share of the missing pixels from which lines are repaired by themselves


def depths(missing: Flags) -> NDArray[np.int32]:
    """Return how far each missing pixel is from the nearest known one, diagonal steps counted as one."""
    return np.asarray(distance_transform_cdt(missing, "chessboard"), np.int32)


def kinds_of(missing: Flags) -> NDArray[np.uint8]:
    """Return the kind of hole of every pixel."""
    deepest = maximum_filter(distance_transform_edt(missing), _NEAR)
    share = uniform_filter(missing.astype(np.float32), _AROUND, mode="reflect")
    kinds = np.full(missing.shape, HoleKind.DEEP, np.uint8)
    for kind, (limit, most) in reversed(_LIMITS.items()):
        kinds[(deepest <= limit) & (share <= most)] = kind
    lines = (kinds == HoleKind.SPARSE) & _find_lines(missing)
    if lines.sum() >= _WORTH_WHILE * missing.sum():
        kinds[lines] = HoleKind.LINES
    kinds[~missing] = HoleKind.KNOWN
    return kinds


def _find_lines(missing: Flags) -> Flags:
    """Return which missing pixels belong to long holes that are one pixel wide all around."""
    broad = maximum_filter(binary_opening(missing, np.ones((2, 2))), _NEAR)
    parts, _ = label(missing, np.ones((3, 3)))
    return np.asarray(~broad & (np.bincount(parts.ravel())[parts] >= _LONG))
