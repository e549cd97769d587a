"""How a hole begins at its coarsest scale: by the engine, or from its rim inwards."""

import numpy as np
from scipy.ndimage import binary_dilation

from demosaic_ntc.arrays import Float32
from demosaic_ntc.engine.pass_tables import PLANS
from demosaic_ntc.inpainting.region_inpainting import repair
from demosaic_ntc.inpainting.texture.kernels import NEVER, REACH
from demosaic_ntc.inpainting.texture.level import Level, places_of
from demosaic_ntc.inpainting.texture.synthesis import Filled, search_everywhere, spread_out, vote_on
from demosaic_ntc.run import Run


def start_smoothly(level: Level, run: Run) -> Filled:
    """Return a level whose hole is filled by the engine."""
    inner = (slice(REACH, -REACH), slice(REACH, -REACH))
    known = (level.weight[inner] > 0) & ~level.hole[inner]
    planes = np.ascontiguousarray(np.moveaxis(level.values[inner], 2, 0))
    planes[:, ~known] = 0
    shown = np.ascontiguousarray(np.broadcast_to(known, planes.shape))
    made, _ = repair(planes, shown, PLANS["fast"], Run(threads=run.threads, deadline=run.deadline))
    values = level.values.copy()
    values[inner] = np.moveaxis(made.planes, 0, 2)
    return _without_sources(level, np.where(level.hole[..., None], values, level.values))


def start_inwards(level: Level, run: Run) -> Filled:
    """Return a level whose hole is filled layer by layer, each by the patches most like what is there."""
    left, values, weight = level.hole.copy(), level.values.copy(), level.weight.copy()
    inside = np.zeros_like(left)
    inside[REACH:-REACH, REACH:-REACH] = True
    weight[left] = 0
    while left.any():
        layer = left & binary_dilation(~left & (weight > 0), np.ones((3, 3)))
        if not layer.any():
            break
        targets = places_of(layer & inside)
        best, cost = search_everywhere(level, values, targets, level.sources, run, weight)
        told = vote_on(level, values, *spread_out(level, targets, best, cost), run)
        values[layer], weight[layer] = told.values[layer], level.weight[layer]
        left &= ~layer
    return _without_sources(level, values)


def _without_sources(level: Level, values: Float32) -> Filled:
    """Return values of which nothing says where they came from."""
    none = np.full((*level.hole.shape, 2), -1, np.int32)
    return Filled(level, np.ascontiguousarray(values, np.float32), none, np.full(level.hole.shape, NEVER))
