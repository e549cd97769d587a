"""How a hole begins at its coarsest scale: by the engine."""

import numpy as np

from demosaic_ntc.arrays import Float32
from demosaic_ntc.engine.pass_tables import PLANS
from demosaic_ntc.inpainting.region_inpainting import repair
from demosaic_ntc.inpainting.texture.kernels import NEVER, REACH
from demosaic_ntc.inpainting.texture.level import Level
from demosaic_ntc.inpainting.texture.synthesis import Filled
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


def _without_sources(level: Level, values: Float32) -> Filled:
    """Return values of which nothing says where they came from."""
    none = np.full((*level.hole.shape, 2), -1, np.int32)
    return Filled(level, np.ascontiguousarray(values, np.float32), none, np.full(level.hole.shape, NEVER))
