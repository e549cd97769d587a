"""Inpainting: regions around the holes, each filled at first and then restored kind by kind."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from demosaic_ntc.arrays import Flags, Float32, Planes
from demosaic_ntc.engine.groups import count_references, unproven
from demosaic_ntc.engine.pass_tables import Plan
from demosaic_ntc.engine.passes import DEEPEST, ObservedPixels
from demosaic_ntc.engine.restore import Estimate, MaskedPass, restore
from demosaic_ntc.engine.tiles import Tile, row_bands
from demosaic_ntc.inpainting.classification import depths, kinds_of
from demosaic_ntc.inpainting.grain_fill import Grain, add_grain
from demosaic_ntc.inpainting.regions import find_damaged_regions
from demosaic_ntc.inpainting.smooth_fill import fill_smoothly, plainly_filled
from demosaic_ntc.run import Progress, Run

_RIM = 16  # pixels around a region that are restored with it, and again with their own
_MOST_CHANNELS = 4  # completed together: the exact oracle tries all subsets of them


def repair(
    planes: Planes,
    known: Flags,
    plan: Plan,
    run: Run,
    noise: Float32 | None = None,
    regions: list[Tile] | None = None,
    grain: Grain | None = None,
) -> tuple[Estimate[Planes], Float32]:
    """Restore, in place, the entries of a picture with full scale 1 that are not known; keep those that are.

    ``planes``, zero where nothing is known, and ``known`` are (channels, height, width), ``noise`` is the
    variance of what is known, by channel and at equal steps of the level, (channels, steps); without it that
    is exact. Returns the estimate, with expected squared errors where they are wanted, and what is
    proven of all groups. A plan without steps leaves the first fill. Of given regions, nothing but
    their cores is restored. What is restored gets the grain that it lacks, where one is given.
    """
    missing = ~np.logical_and.reduce(known, axis=0)
    variance = np.zeros(planes.shape if run.want_error else (0, 0, 0), np.float32)
    _fill_with_means(planes, known, run)
    whole = Estimate(planes, variance)
    bounds, sets = [unproven(0)], list(_channel_sets(len(planes)))
    late: list[Tile] = []
    cut = list(find_damaged_regions(missing)) if regions is None else regions
    for region, own in _iterate_regions(cut, missing, run):
        if run.deadline.is_over():
            late.append(region)
            continue
        for number, channels in enumerate(sets):
            seen, core = (channels, *region.seen), (channels, *region.core)
            start = _first(whole.planes[seen], known[seen], run)
            works = _works(known[seen], _around(region), plan)
            what = _crop_observed(start.planes, known[seen], None if noise is None else noise[channels])
            part, proven, _ = restore(
                start, what, works, own.part(number / len(sets), (number + 1) / len(sets))
            )
            if grain is not None:
                part = add_grain(grain, part, known[seen], region)
            whole.planes[core] = part.planes[:, *region.inner]
            if run.want_error:
                whole.variance[core] = part.variance[:, *region.inner]
            bounds.append(proven)
    bounds += run.map(lambda region: _fill_plainly(whole, known, region, plan), late)
    return whole, np.concatenate(bounds)


def _fill_plainly(whole: Estimate[Planes], known: Flags, region: Tile, plan: Plan) -> Float32:
    """Write into a region for which there is no time the means of what is known close by.

    Return what is proven of its groups. Nothing that is looked at is written: all may be filled at once.
    """
    seen, core = (slice(None), *region.seen), (slice(None), *region.core)
    part = plainly_filled(whole.planes[seen], known[seen])[:, *region.inner]
    whole.planes[core] = part
    if whole.variance.size:
        spread = part.var(axis=(1, 2), keepdims=True)
        for channel in np.flatnonzero(~known[seen].any(axis=(1, 2))):  # filled with the mean of all
            spread[channel] = whole.planes[channel][known[channel]].var()
        whole.variance[core] = np.where(known[core], np.float32(0), spread)
    return count_unproven(np.logical_or.reduce(~known[core], axis=0), plan)


def count_unproven(missing: Flags, plan: Plan) -> Float32:
    """Return what is proven of the groups that a region would have had: nothing."""
    steps = (step for steps in plan.values() for step in steps if step.norm)
    step = next(steps, None)
    return unproven(count_references(missing, step.patches.fit_to(missing.shape)) if step else 0)


def _first(planes: Planes, known: Flags, run: Run) -> Estimate[Planes]:
    """Return the first estimate of a region, expected to be as wrong as values vary there."""
    estimate = fill_smoothly(np.ascontiguousarray(planes), known, run.deadline)
    variance = np.zeros((0, 0, 0), np.float32)
    if run.want_error:
        variance = np.where(known, np.float32(0), estimate.var(axis=(1, 2), keepdims=True))
    return Estimate(estimate, variance)


def _crop_observed(planes: Planes, known: Flags, noise: Float32 | None) -> ObservedPixels:
    """Return what is known of a region, with the depth of its holes."""
    depth = depths(np.logical_or.reduce(~known, axis=0))
    return ObservedPixels.of(planes, known, np.minimum(depth, DEEPEST).astype(np.uint8), noise)


def _works(known: Flags, around: Flags, plan: Plan) -> list[MaskedPass]:
    """Return the steps of a region, kind by kind, the surest first."""
    kinds = kinds_of(np.logical_or.reduce(~known, axis=0))
    wanted = {kind: around & (kinds == kind) for kind in plan}
    return [MaskedPass(step, here) for kind, here in wanted.items() if here.any() for step in plan[kind]]


def _fill_with_means(planes: Planes, known: Flags, run: Run) -> None:
    """Write their channel's mean to missing entries, which are zero.

    Regions that know nothing keep it.
    """
    rows = row_bands(planes.shape[1])
    sums = run.map(lambda part: planes[:, part].sum(axis=(1, 2), dtype=np.float64), rows)
    counts = np.array([np.count_nonzero(shown) for shown in known])
    means = (sum(sums) / counts).astype(np.float32)[:, None, None]

    def fill(part: slice) -> None:
        planes[:, part] += ~known[:, part] * means  # far quicker than a choice

    run.do(fill, rows)


def _around(region: Tile) -> Flags:
    """Return which pixels that a region sees are restored with it."""
    flags = np.zeros([axis.stop - axis.start for axis in region.seen], np.bool_)
    flags[tuple(slice(max(axis.start - _RIM, 0), axis.stop + _RIM) for axis in region.inner)] = True
    return flags


def _channel_sets(channels: int) -> Iterator[slice]:
    """Cut many channels into sets of about the same size."""
    sets = -(-channels // _MOST_CHANNELS)
    bounds = np.linspace(0, channels, sets + 1).round().astype(int)
    return (slice(int(first), int(last)) for first, last in pairwise(bounds))


def _iterate_regions(regions: list[Tile], missing: Flags, run: Run) -> Iterator[tuple[Tile, Run]]:
    """Yield the regions, each with its run, which reports missing pixels that are restored."""
    sizes = [int(missing[region.core].sum()) for region in regions]
    for number, region in enumerate(regions):
        before = sum(sizes[:number])

        def report(share: float, before: int = before, size: int = sizes[number]) -> None:
            run.progress(Progress("groups", before + round(share * size), sum(sizes)))

        yield region, replace(run, report=report)
        report(1.0)
