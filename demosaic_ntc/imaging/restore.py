"""The loop that restores a picture, mosaic or holes: steps over groups, each from what the last one left.

where → match → predict → complete → add up → spread, relax → keep what is known
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from demosaic_ntc.arrays import Flags, Float32, Planes
from demosaic_ntc.imaging.groups import GroupPass, Said
from demosaic_ntc.imaging.kernels.adding import draw_to_measured, take_over
from demosaic_ntc.imaging.kernels.nearby import fill_from_nearby
from demosaic_ntc.imaging.kernels.passes import Picture
from demosaic_ntc.imaging.known import DEEPEST, Known
from demosaic_ntc.imaging.plan import Step
from demosaic_ntc.ntc.deadline import Deadline

Report = Callable[[float], None]

_NEARLY_EXACT = (0.1 / 255) ** 2  # a variance of samples below which they are rather kept than estimated
_LEAST_CONFIDENCE = np.float32(1e-6)  # in a pixel deep in a hole: a patch must weigh something
# The squared error of an entry, fitted on pictures whose truth is known: so much of what the models of its
# patches expect, of how far these lie apart, and of how far they have moved the estimate, squared.
_OF_EXPECTED, _OF_SPREAD, _OF_MOVED = np.float32(1.25), np.float32(4.5), np.float32(3.0)


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A picture as far as it has come, (channels, height, width), with full scale 1."""

    planes: Planes  # with what is known in its place
    variance: Planes  # the expected squared error; empty where it is not wanted


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """A step, and the pixels whose groups it restores."""

    step: Step
    wanted: Flags  # (height, width)


def restore(
    estimate: Estimate,
    known: Known,
    works: Sequence[Work],
    threads: int,
    report: Report,
    deadline: Deadline,
) -> tuple[Estimate, Float32]:
    """Improve an estimate step by step, within the range of what is known; after the deadline, no more.

    Returns the estimate, and the certified gaps of all groups that were to be completed; infinite where
    nothing is proven.
    """
    gaps = [np.zeros(0, np.float32)]
    for number, work in enumerate(works):
        errors = estimate.variance.size > 0
        step = work.step.in_noise(float(known.noise.mean()))
        picture = Picture(estimate.planes, known.entries, known.depth, known.measured, known.noise)
        groups = GroupPass(picture, _confidence(known, step), step, threads, errors)
        said = groups.restored(work.wanted, part_of(report, number, len(works)), deadline)
        if step.spread:
            _spread_nearby(said.planes, estimate.planes, known, step.spread)
        variance = _variance(estimate, said, known, work.wanted) if errors else estimate.variance
        kept = np.zeros_like(known.entries) if known.measured.size else known.entries
        take_over(estimate.planes, said.planes, kept, work.wanted, known.low, known.high, step.relaxed)
        if known.measured.size:
            draw_to_measured(
                said.planes, known.entries, work.wanted, known.measured, known.noise, _NEARLY_EXACT
            )
        estimate = Estimate(said.planes, variance)
        if step.does.vertices:
            gaps.append(said.gaps)
    return estimate, np.concatenate(gaps)


def part_of(report: Report, number: int, parts: int) -> Report:
    """Return how to report the share of one part as a share of the whole."""
    return lambda share: report((number + share) / parts)


def _confidence(known: Known, step: Step) -> Float32:
    """Return the trust in pixels when patches are compared, (height, width); empty where all are alike."""
    if step.trust[0] == 1.0:
        return np.zeros((0, 0), np.float32)
    channels = len(known.low)
    shown = np.zeros(known.entries.shape, np.float32)
    for channel in range(channels):
        shown += known.flags(channel) / np.float32(channels)
    trust = step.fading(0)[np.minimum(known.depth, DEEPEST)]
    return np.maximum(shown + (1 - shown) * trust, _LEAST_CONFIDENCE)


def _spread_nearby(said: Planes, estimate: Planes, known: Known, width: float) -> None:
    """Add to what groups say what they leave at known entries, continued into the rims of the holes.

    It is felt as under a Gaussian whose standard deviation is ``width`` pixels.
    """
    falling = np.exp(-0.5 * (np.arange(3) / width) ** 2).astype(np.float32)
    for channel, plane in enumerate(said):
        left = estimate[channel] - plane
        fill_from_nearby(left, ~known.flags(channel), falling)
        plane += left


def _variance(estimate: Estimate, said: Said, known: Known, wanted: Flags) -> Planes:
    """Return the expected squared error of every entry after a step; none where it is known exactly."""
    variance = estimate.variance.copy()
    for channel, plane in enumerate(variance):
        moved = np.square(said.planes[channel] - estimate.planes[channel])
        error = _OF_EXPECTED * said.expected[channel] + _OF_SPREAD * said.spread[channel] + _OF_MOVED * moved
        np.copyto(plane, error, where=wanted & (said.expected[channel] > 0))
        if not known.measured.size:
            plane[known.flags(channel)] = 0.0
    return variance
