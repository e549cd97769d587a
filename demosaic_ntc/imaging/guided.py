"""Demosaicing by guided group completion: a first estimate, then passes over groups of similar patches.

A mosaic alone, as one tensor, says too little: entries that no colour filter shows at their place stay free.
Groups of similar patches say more, and a first estimate tells which patches are similar and how the channels
go together. Every pass ends by adding back, where colour differences are not smooth, what the groups leave
at the measured samples, interpolated; the measured samples themselves are kept.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.imaging.cfa import Cfa
from demosaic_ntc.imaging.first_guess.bilinear import bilinear, reach
from demosaic_ntc.imaging.first_guess.blend import (
    SMOOTHING_HALO,
    Trial,
    mean_error,
    total_error,
    trial_halo,
    try_both,
    try_quickly,
    weigh,
)
from demosaic_ntc.imaging.groups import NEVER, GroupRestoration, Patches
from demosaic_ntc.imaging.kernels.mosaic_pass import UNMEASURED, PassSettings, Scene
from demosaic_ntc.imaging.restored import GroupCertificate, Progress, ReportProgress
from demosaic_ntc.imaging.tiles import TILE_SIDE, Tile, tiles_of
from demosaic_ntc.ntc.deadline import Deadline

Floats = NDArray[np.float32]

ADD_BACK_SIDE = 512

MEAN_PASS = PassSettings(
    ridge=(0.01, 0.3),
    unseen=(0.3, 0.05),
    unseen_fit=(0.6, 0.1),
    radius=(1.0, 3.0),
    tolerance=0.0,
    vertices=0,
    shrinkage=3.0,
    floor=1e-4,
)
COMPLETION_PASS = MEAN_PASS._replace(
    ridge=(0.1, 0.1), unseen=(0.3, 0.3), tolerance=2e-5, vertices=9, shrinkage=0.0
)


@dataclass(frozen=True, slots=True)
class Plan:
    """How much effort to spend: the trials of the first estimate, the groups, the passes over them."""

    trial: Callable[[Floats, Cfa, int], Trial]
    patches: tuple[Patches, ...]  # each forms groups of its own; a pass takes the mean of what they give
    passes: tuple[PassSettings, ...]

    @property
    def without_completion(self) -> "Plan":
        """The control: every pass stops at the mean."""
        return Plan(self.trial, self.patches, tuple(one._replace(vertices=0) for one in self.passes))


PLANS = {
    "fast": Plan(
        try_quickly, (Patches(stride=4, reach=8),), (MEAN_PASS._replace(vertices=3, tolerance=1e-4),)
    ),
    "normal": Plan(try_both, (Patches(),), (MEAN_PASS, COMPLETION_PASS)),
    "best": Plan(
        try_both,
        (Patches(stride=2, reach=14), Patches(size=3, stride=2, reach=14)),
        (MEAN_PASS, COMPLETION_PASS._replace(vertices=18, tolerance=1e-6)),
    ),
}


def complete_mosaic(
    mosaic: Floats,
    cfa: Cfa,
    plan: Plan,
    threads: int,
    progress: ReportProgress,
    missing: NDArray[np.bool_] | None = None,
    deadline: Deadline = NEVER,
) -> tuple[Floats, GroupCertificate | None]:
    """Restore the picture of a mosaic with full scale 1; the certificate is that of the last pass.

    Samples that are missing take part in the first estimate only, as they stand. After the deadline the
    groups stop at their means, which is quick, and are not certified.
    """
    scene = first_scene(mosaic, cfa, plan, threads, progress)
    if missing is not None:
        scene.channels[missing] = UNMEASURED
    gaps = np.zeros(0, np.float32)
    if min(mosaic.shape) >= max(patches.size for patches in plan.patches):
        groups = [GroupRestoration(scene, patches, threads) for patches in plan.patches]
        for part, group in enumerate(groups):
            group.match(scene, _reporting(progress, "matching", part, len(groups)))
        for number, settings in enumerate(plan.passes, 1):
            planes, gaps = _mean_of_groups(scene, groups, settings, progress, f"pass {number}", deadline)
            add_back(planes, scene, cfa, threads)
            scene = scene._replace(planes=planes)
    picture, last = np.ascontiguousarray(np.moveaxis(scene.planes, 0, 2)), plan.passes[-1]
    return picture, GroupCertificate.of(gaps, last.tolerance) if last.vertices else None


def _mean_of_groups(
    scene: Scene,
    groups: list[GroupRestoration],
    settings: PassSettings,
    progress: ReportProgress,
    stage: str,
    deadline: Deadline,
) -> tuple[Floats, Floats]:
    """Run a pass over every set of groups; return the mean of their estimates, and all their gaps."""
    planes, gaps = np.zeros_like(scene.planes), []
    for part, group in enumerate(groups):
        report = _reporting(progress, stage, part, len(groups))
        estimate, proven = group.restored(scene, settings, report, deadline)
        planes += estimate / np.float32(len(groups))
        gaps.append(proven.ravel())
    return planes, np.concatenate(gaps)


def first_scene(
    mosaic: Floats, cfa: Cfa, plan: Plan, threads: int, progress: ReportProgress, side: int = TILE_SIDE
) -> Scene:
    """Compute the first estimate in tiles, with the confidence in it and its expected error."""
    shape = (mosaic.shape[0], mosaic.shape[1])
    trial = _trial_of_all(mosaic, cfa, plan, threads, progress, side)
    means = [
        mean_error(total_error(error), error.size) for error in (trial.smooth_error, trial.residual_error)
    ]
    planes = np.empty((3, *shape), np.float32)
    confidence, expected = np.empty(shape, np.float32), np.empty(shape, np.float32)
    for tile in tiles_of(shape, SMOOTHING_HALO, cfa.period, side):
        part = weigh(_part(trial, tile), *means)
        planes[:, *tile.core] = np.moveaxis(part.image[tile.inner], 2, 0)
        confidence[tile.core], expected[tile.core] = part.confidence[tile.inner], part.error[tile.inner]
    return Scene(planes, mosaic, cfa.channel_map(shape), confidence, expected)


def _trial_of_all(
    mosaic: Floats, cfa: Cfa, plan: Plan, threads: int, progress: ReportProgress, side: int
) -> Trial:
    """Run the trials tile by tile."""
    shape = (mosaic.shape[0], mosaic.shape[1])
    whole = Trial(
        np.empty((*shape, 3), np.float32),
        np.empty((*shape, 3), np.float32),
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
    )
    tiles = list(tiles_of(shape, trial_halo(cfa), cfa.period, side))
    done, total = 0, sum(tile.work for tile in tiles)
    for tile in tiles:
        trial = plan.trial(np.ascontiguousarray(mosaic[tile.seen]), cfa, threads)
        whole.smooth[tile.core], whole.residual[tile.core] = (
            trial.smooth[tile.inner],
            trial.residual[tile.inner],
        )
        whole.smooth_error[tile.core] = trial.smooth_error[tile.inner]
        whole.residual_error[tile.core] = trial.residual_error[tile.inner]
        done += tile.work
        progress(Progress("first estimate", done, total))
    return whole


def _part(trial: Trial, tile: Tile) -> Trial:
    """Return what a tile sees of a trial."""
    return Trial(
        trial.smooth[tile.seen],
        trial.residual[tile.seen],
        trial.smooth_error[tile.seen],
        trial.residual_error[tile.seen],
    )


def add_back(planes: Floats, scene: Scene, cfa: Cfa, threads: int) -> None:
    """Add the interpolated residual of the measured samples where colour differences are rough, in place.

    out = U + (1 − w) · bilinear(y − U), and the measured samples exactly.
    """
    shape = (planes.shape[1], planes.shape[2])
    tiles = list(tiles_of(shape, reach(cfa), cfa.period, ADD_BACK_SIDE))
    measured = np.minimum(scene.channels, 2)[None].astype(np.intp)
    misses = scene.mosaic - np.take_along_axis(planes, measured, axis=0)[0]
    misses[scene.channels == UNMEASURED] = 0.0

    def add(tile: Tile) -> None:
        spread = bilinear(np.ascontiguousarray(misses[tile.seen]), cfa)[tile.inner]
        rough = np.float32(1) - scene.confidence[tile.core]
        for channel in range(3):
            measured = scene.channels[tile.core] == channel
            filled = planes[channel][tile.core] + rough * spread[..., channel]
            planes[channel][tile.core] = np.where(measured, scene.mosaic[tile.core], filled)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(add, tiles))


def _reporting(progress: ReportProgress, stage: str, part: int, parts: int) -> Callable[[int, int], None]:
    """Report the steps of one part as steps of the whole stage."""
    return lambda done, total: progress(Progress(stage, part * total + done, parts * total))
