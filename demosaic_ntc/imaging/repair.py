"""Inpainting by group completion: a first fill of the holes, then passes over groups of similar patches.

Each pass finds, for every patch that touches a hole, the patches most like it in what is known, predicts
each from its fellows, completes what that leaves by nonnegative tensor completion, and takes the mean of all
that says about a pixel. What the groups leave at the known pixels is continued into the holes and added.
Patches are large in the first pass, to span the holes, and small in the last, for detail.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.imaging.first_guess.fill import Flags, Planes
from demosaic_ntc.imaging.groups import Patches
from demosaic_ntc.imaging.hole_groups import Trusts, restore_around
from demosaic_ntc.imaging.holes import Holes
from demosaic_ntc.imaging.kernels.hole_pass import HolePass
from demosaic_ntc.imaging.kinds import Kind
from demosaic_ntc.imaging.regions import damaged_regions
from demosaic_ntc.imaging.restored import GroupCertificate, Progress, ReportProgress
from demosaic_ntc.imaging.tiles import Tile
from demosaic_ntc.ntc.deadline import Deadline

METHODS = ("ntc", "group-mean", "biharmonic")

Spread = Callable[[Holes, Planes], Planes]
Fraction = Callable[[float], None]

_RIM = 16  # pixels around a region that are restored with it, and again with their own
_LEAST_CONFIDENCE = np.float32(2e-3)  # its square is still felt where sums of ones are subtracted
_MOST_CHANNELS = 4  # completed together: the exact oracle tries all subsets of them


@dataclass(frozen=True, slots=True)
class Step:
    """One pass over the groups of one kind of hole."""

    patches: Patches
    doubt: tuple[float, float]  # trust in missing entries: when patches are compared, when groups are fitted
    settings: HolePass
    spread: Spread = Holes.spread_smoothly


Plan = dict[Kind, tuple[Step, ...]]

_MEAN = HolePass(restored=8, ridge=0.0, radius=1.0, tolerance=1e-4, vertices=0, floor=3e-5)
_FELLOWS = _MEAN._replace(restored=6, ridge=0.1)
_LAST = _FELLOWS._replace(vertices=3)
_QUICK = _LAST._replace(restored=4)


def _wide(patches: Patches, settings: HolePass) -> Step:
    """Return a step for holes too wide to continue a residual across."""
    return Step(patches, (0.1, 0.01), settings, Holes.spread_nearby)


def _deep(patches: Patches, settings: HolePass) -> Step:
    """Return a step for holes in which hardly anything is to be trusted."""
    return Step(patches, (0.05, 0.01), settings, Holes.spread_nearby)


FAST: Plan = {
    Kind.SPARSE: (Step(Patches(7, 5, count=10, reach=8), (0.3, 0.05), _QUICK),),
    Kind.LINES: (
        Step(Patches(7, 3, count=16, reach=10), (0.3, 0.02), _QUICK._replace(vertices=0)),
        Step(Patches(5, 3, count=16, reach=10), (0.3, 0.2), _QUICK),
    ),
    Kind.SCATTERED: (Step(Patches(6, 3, count=10, reach=8), (0.3, 0.03), _QUICK),),
    Kind.WIDE: (
        _wide(Patches(12, 8, count=10, reach=10, dense=2), _MEAN),
        _wide(Patches(8, 5, count=10, reach=10, dense=2), _QUICK._replace(ridge=0.05)),
    ),
    Kind.DEEP: (
        _deep(Patches(16, 8, count=10, reach=12, dense=2), _MEAN),
        _deep(Patches(8, 5, count=10, reach=12, dense=2), _QUICK._replace(ridge=0.3)),
    ),
}
NORMAL: Plan = {
    Kind.SPARSE: (
        Step(Patches(7, 4, count=16, reach=10), (0.3, 0.02), _FELLOWS),
        Step(Patches(5, 3, count=16, reach=10), (0.3, 0.2), _LAST),
    ),
    Kind.LINES: (
        Step(Patches(7, 3, count=32, reach=10, dense=10), (0.3, 0.05), _FELLOWS),
        Step(Patches(6, 3, count=32, reach=10, dense=10), (0.3, 0.1), _FELLOWS),
        Step(Patches(5, 3, count=32, reach=10, dense=10), (0.3, 0.2), _LAST),
    ),
    Kind.SCATTERED: (
        Step(Patches(8, 4, count=12, reach=10), (0.05, 0.01), _FELLOWS),
        Step(Patches(6, 3, count=12, reach=10), (0.3, 0.05), _LAST),
    ),
    Kind.WIDE: (
        _wide(Patches(12, 6, count=16, reach=10), _MEAN),
        _wide(Patches(8, 4, count=12, reach=10), _FELLOWS._replace(ridge=0.05)),
        _wide(Patches(6, 3, count=12, reach=10), _LAST._replace(ridge=0.05)),
    ),
    Kind.DEEP: (
        _deep(Patches(16, 4, count=16, reach=16), _FELLOWS._replace(ridge=0.3)),
        _deep(Patches(12, 4, count=16, reach=16), _FELLOWS._replace(ridge=0.3)),
        _deep(Patches(8, 4, count=16, reach=16), _LAST._replace(ridge=0.3)),
    ),
}
BEST: Plan = {
    Kind.SPARSE: (
        Step(Patches(7, 2, count=20, reach=10), (0.3, 0.02), _FELLOWS._replace(restored=10)),
        Step(Patches(5, 2, count=20, reach=10), (0.3, 0.2), _LAST._replace(restored=8)),
    ),
    Kind.LINES: (
        Step(Patches(7, 2, count=40, reach=12, dense=12), (0.3, 0.02), _FELLOWS),
        Step(Patches(6, 2, count=40, reach=12, dense=12), (0.3, 0.1), _FELLOWS),
        Step(Patches(5, 2, count=40, reach=12, dense=12), (0.3, 0.2), _LAST),
    ),
    Kind.SCATTERED: (
        Step(Patches(8, 3, count=16, reach=14), (0.05, 0.01), _FELLOWS),
        Step(Patches(6, 2, count=16, reach=14), (0.3, 0.03), _FELLOWS),
        Step(Patches(6, 2, count=16, reach=14), (0.3, 0.05), _LAST._replace(restored=8)),
    ),
    Kind.WIDE: (
        _wide(Patches(12, 3, count=16, reach=20), _MEAN._replace(restored=16)),
        _wide(Patches(10, 3, count=16, reach=20), _FELLOWS._replace(restored=10)),
        _wide(Patches(8, 3, count=16, reach=20), _FELLOWS._replace(restored=10, ridge=0.05)),
        _wide(Patches(6, 2, count=16, reach=20), _LAST._replace(restored=8, ridge=0.05)),
    ),
    Kind.DEEP: (
        _deep(Patches(16, 4, count=16, reach=24), _FELLOWS._replace(restored=10, ridge=0.3)),
        _deep(Patches(16, 4, count=16, reach=24), _FELLOWS._replace(restored=10, ridge=0.3)),
        _deep(Patches(12, 4, count=16, reach=24), _FELLOWS._replace(restored=10, ridge=0.3)),
        _deep(Patches(12, 4, count=16, reach=24), _FELLOWS._replace(restored=10, ridge=0.3)),
        _deep(Patches(8, 3, count=16, reach=24), _LAST._replace(restored=8, ridge=0.3)),
    ),
}
PLANS = {"fast": FAST, "normal": NORMAL, "best": BEST}


def repair(
    planes: Planes,
    known: Flags,
    method: str,
    quality: str,
    threads: int,
    progress: ReportProgress,
    deadline: Deadline,
) -> tuple[Planes, GroupCertificate | None]:
    """Restore the entries of a picture with full scale 1 that are not known; keep those that are.

    After the deadline no more groups are restored, which leaves them uncertified.
    """
    plan = {} if method == "biharmonic" else PLANS[quality]
    if method == "group-mean":
        plan = {kind: tuple(_uncompleted(step) for step in steps) for kind, steps in plan.items()}
    missing = np.logical_or.reduce(~known, axis=0)
    repaired, gaps = _at_means(planes, known), [np.zeros(0, np.float32)]
    sets = list(_channel_sets(len(planes)))
    for region, report in _reported(list(damaged_regions(missing)), missing, progress):
        for number, channels in enumerate(sets):
            seen, core = (channels, *region.seen), (channels, *region.core)
            share = _part_of(report, number, len(sets))
            part, proven = _repair_region(
                repaired[seen], known[seen], _around(region), plan, threads, share, deadline
            )
            repaired[core] = part[:, *region.inner]
            gaps.append(proven)
    if method != "ntc":
        return repaired, None
    tolerance = max(step.settings.tolerance for steps in plan.values() for step in steps)
    return repaired, GroupCertificate.of(np.concatenate(gaps), tolerance)


def _at_means(planes: Planes, known: Flags) -> Planes:
    """Return the planes with missing entries at their channel's mean; regions that know nothing keep it."""
    means = planes.mean(axis=(1, 2), keepdims=True, dtype=np.float64, where=known)
    return np.where(known, planes, means.astype(np.float32))


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


def _uncompleted(step: Step) -> Step:
    """Return the control: the same step without the completion."""
    return replace(step, settings=step.settings._replace(vertices=0))


def _repair_region(
    planes: Planes,
    known: Flags,
    around: Flags,
    plan: Plan,
    threads: int,
    report: Fraction,
    deadline: Deadline,
) -> tuple[Planes, NDArray[np.float32]]:
    """Fill the holes of a region, then repair them kind by kind; return the gaps of what was completed."""
    holes = Holes(known)
    estimate = holes.first_estimate(np.ascontiguousarray(planes))
    wanted = {kind: around & (holes.kinds == kind) for kind in plan}
    steps = [(kind, step) for kind, here in wanted.items() if here.any() for step in plan[kind]]
    gaps = [np.zeros(0, np.float32)]
    for number, (kind, step) in enumerate(steps):
        share = _part_of(report, number, len(steps))
        estimate, proven = _pass(estimate, holes, wanted[kind], step, threads, share, deadline)
        if step is plan[kind][-1]:
            gaps.append(proven)
    return estimate, np.concatenate(gaps)


def _part_of(report: Fraction, number: int, parts: int) -> Fraction:
    """Return how to report the share of one part as a share of the whole."""
    return lambda share: report((number + share) / parts)


def _pass(
    estimate: Planes,
    holes: Holes,
    wanted: Flags,
    step: Step,
    threads: int,
    report: Fraction,
    deadline: Deadline,
) -> tuple[Planes, NDArray[np.float32]]:
    """Restore wanted pixels from groups; return the new estimate and the gaps of the groups."""
    matching, fitting = (holes.trust(share) for share in step.doubt)
    trusts = Trusts(np.maximum(matching.mean(axis=0), _LEAST_CONFIDENCE), fitting)
    groups, gaps = restore_around(
        estimate, trusts, wanted, step.patches, step.settings, threads, report, deadline
    )
    groups += step.spread(holes, estimate - groups)
    return np.where(holes.missing & wanted, groups, estimate), gaps


def _reported(
    regions: list[Tile], missing: Flags, progress: ReportProgress
) -> Iterator[tuple[Tile, Fraction]]:
    """Yield the regions, each with how to report the share of it that is done."""
    sizes = [int(missing[region.core].sum()) for region in regions]
    for number, region in enumerate(regions):
        before = sum(sizes[:number])

        def report(share: float, before: int = before, size: int = sizes[number]) -> None:
            progress(Progress("groups", before + round(share * size), sum(sizes)))

        yield region, report
        report(1.0)
