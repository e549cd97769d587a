"""The loop that restores a picture, mosaic or holes: steps over groups, each from what the last one left.

where → match → predict or complete → add up → spread, relax → keep what is known
"""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np

from demosaic_ntc.arrays import Flags, Float32, Planes, Sums
from demosaic_ntc.engine.groups import (
    GroupAggregate,
    GroupInput,
    GroupPass,
    Shares,
    count_references,
    unproven,
    whole_shares,
)
from demosaic_ntc.engine.kernels.aggregation import enforce_data_consistency, relax_update
from demosaic_ntc.engine.kernels.rim_fill import fill_from_nearby
from demosaic_ntc.engine.kernels.weights import enforce_weighted_consistency
from demosaic_ntc.engine.passes import DEEPEST, ObservedPixels, Step
from demosaic_ntc.engine.result import SampleCheck
from demosaic_ntc.engine.tiles import WritableWindowed, close_to
from demosaic_ntc.run import Run

_NEARLY_EXACT = (0.1 / 255) ** 2  # a variance of samples below which they are kept rather than estimated
_MOVED_RIM = 2  # pixels around those that a step has moved, which the next one takes in
_NOWHERE = np.zeros((0, 0), np.bool_)
_LEAST_CONFIDENCE = np.float32(1e-6)  # in a pixel deep in a hole: a patch must weigh something
# The squared error of an entry is a weighted sum, fitted on pictures whose truth is known: of what the models
# of its patches expect, of the variance between patches, and of the square of how far they moved it.
_OF_EXPECTED, _OF_SPREAD, _OF_MOVED = np.float32(1.25), np.float32(4.5), np.float32(3.0)


Stored = TypeVar("Stored", bound=WritableWindowed)


@dataclass(frozen=True, slots=True, eq=False)
class Estimate(Generic[Stored]):
    """A picture as far as it has come, (channels, height, width), with full scale 1."""

    planes: Stored  # an array, or what is read and written like one; what is known in its place
    variance: Planes  # the expected squared error; empty where it is not wanted


@dataclass(frozen=True, slots=True, eq=False)
class MaskedPass:
    """A step, and the pixels whose groups it restores."""

    step: Step
    wanted: Flags  # (height, width)
    shares: Shares = whole_shares
    is_checked: bool = False  # whether it tells how well samples are predicted


def restore(
    estimate: Estimate[Stored], known: ObservedPixels, works: Sequence[MaskedPass], run: Run
) -> tuple[Estimate[Stored], Float32, SampleCheck | None]:
    """Improve an estimate step by step, within the range of what is known; after the deadline, no more.

    An estimate that is no plain array is overwritten, row by row as these are finished. Where references
    leave gaps between them, what no group spoke of is restored by itself. A step with a least move is done
    around pixels that the one before has moved by more, unless samples are noisy.

    Returns the estimate, what is proven of all groups that were to be completed (see `unproven`), and how
    well samples were predicted, where steps are checked.
    """
    bounds, left_out, is_exact = [unproven(0)], list[Sums](), known.noise.mean() < _NEARLY_EXACT
    moved = _NOWHERE
    if isinstance(estimate.planes, np.ndarray):  # what was given stays as it is
        estimate = Estimate(copy(estimate.planes), estimate.variance.copy())
    for number, work in enumerate(works):
        own = run.part(number / len(works), (number + 1) / len(works))
        if number > 0 and work.step.least_move > 0 and is_exact:
            moved = close_to(moved, _MOVED_RIM)
            moved &= work.wanted
            work = replace(work, wanted=moved)
        limit = works[number + 1].step.least_move if is_exact and number + 1 < len(works) else 0.0
        untouched, moved = _restore_step(estimate, known, work, own, bounds, left_out, limit)
        if untouched.any() and not run.deadline.is_over():
            rest = MaskedPass(work.step.dense, untouched, work.shares)
            _restore_step(estimate, known, rest, own.part(1.0, 1.0), bounds, left_out)
    return estimate, np.concatenate(bounds), SampleCheck.of(left_out)


def _restore_step(
    estimate: Estimate[Any],
    known: ObservedPixels,
    work: MaskedPass,
    run: Run,
    bounds: list[Float32],
    left_out: list[Sums],
    limit: float = 0.0,
) -> tuple[Flags, Flags]:
    """Do one step, in place, and note what is proven.

    Returns the wanted pixels that no group spoke of, if references leave gaps between them, and those that
    were moved by more than a limit, if there is one.
    """
    step = work.step.adapt_to_noise(float(known.noise.mean()))
    has_gaps = step.patches.stride > step.patches.size
    untouched = work.wanted.copy() if has_gaps else _NOWHERE
    moved = np.zeros(work.wanted.shape, np.bool_) if limit > 0 else _NOWHERE
    if run.deadline.is_over():
        count = count_references(work.wanted, step.patches.fit_to(work.wanted.shape))
        bounds += [unproven(count)] if step.norm else []
        return _NOWHERE, moved
    picture = GroupInput(estimate.planes, known, _confidence(known, step))
    groups = GroupPass(picture, step, run, work.shares, work.is_checked)
    pieces: Iterable[GroupAggregate] = groups.restore(work.wanted)
    if step.spread:
        pieces = [_spread_nearby(_join(pieces, estimate), known, step.spread)]
    for piece in pieces:
        _relax_update(estimate.variance, piece, known, work.wanted[piece.rows], step.relaxed)
        if has_gaps:
            untouched[piece.rows] &= ~piece.anything
        if limit > 0:
            moved[piece.rows] = (np.abs(piece.planes - piece.before) > np.float32(limit)).any(axis=0)
        estimate.planes[:, piece.rows, :] = piece.planes
    left_out += groups.left_out
    bounds += groups.bounds
    return untouched, moved


def _relax_update(
    variance: Planes, piece: GroupAggregate, known: ObservedPixels, wanted: Flags, relaxed: float
) -> None:
    """Turn what groups say of some rows into their next estimate, and write the error to be expected."""
    rows, entries = piece.rows, known.entries[piece.rows, :]
    if variance.size:
        _note_variance(variance[:, rows], piece, known, wanted)
    kept = np.zeros_like(entries) if known.measured.size else entries
    relax_update(piece.before, piece.planes, kept, wanted, known.low, known.high, relaxed)
    measured = piece.measured
    if known.measured.size and not measured.size:
        measured = np.ascontiguousarray(known.measured[:, rows, :])
    if known.measured.shape[0] == 2 * len(known.low):  # every entry has a weight of its own
        enforce_weighted_consistency(piece.before, piece.planes, wanted, measured, _NEARLY_EXACT)
    elif known.measured.size:
        enforce_data_consistency(piece.planes, entries, wanted, measured, known.noise, _NEARLY_EXACT)


def _join(pieces: Iterable[GroupAggregate], estimate: Estimate[Any]) -> GroupAggregate:
    """Return what groups say of all rows together."""
    before = np.array(estimate.planes[:, :, :])
    errors = np.zeros((2, *before.shape) if estimate.variance.size else (2, 0, 0, 0), np.float32)
    rows, anything = slice(0, before.shape[1]), np.zeros(before.shape[1:], np.bool_)
    whole = GroupAggregate(rows, before, before.copy(), errors[0], errors[1], anything)
    for piece in pieces:
        whole.planes[:, piece.rows], whole.anything[piece.rows] = piece.planes, piece.anything
        if piece.spread.size:
            whole.expected[:, piece.rows], whole.spread[:, piece.rows] = piece.expected, piece.spread
    return whole


def _confidence(known: ObservedPixels, step: Step) -> Float32:
    """Return the trust in pixels when patches are compared, (height, width); empty where all are alike."""
    if step.trust[0] == 1.0:
        return np.zeros((0, 0), np.float32)
    channels = len(known.low)
    shown = np.zeros(known.entries.shape, np.float32)
    for channel in range(channels):
        shown += known.flags(channel) / np.float32(channels)
    trust = step.compute_trust(0)[np.minimum(known.depth, DEEPEST)]
    return np.maximum(shown + (1 - shown) * trust, _LEAST_CONFIDENCE)


def _spread_nearby(piece: GroupAggregate, known: ObservedPixels, width: float) -> GroupAggregate:
    """Continue the residuals at known entries into the rims of the holes, added to what groups say.

    This is done in place. Residuals fade like a Gaussian with a standard deviation of ``width`` pixels.
    """
    falling = np.exp(-0.5 * (np.arange(3) / width) ** 2).astype(np.float32)
    for channel, plane in enumerate(piece.planes):
        left = piece.before[channel] - plane
        fill_from_nearby(left, ~known.flags(channel), falling)
        plane += left
    return piece


def _note_variance(variance: Planes, piece: GroupAggregate, known: ObservedPixels, wanted: Flags) -> None:
    """Write the expected squared error of entries after a step; none where they are known exactly."""
    for channel, plane in enumerate(variance):
        moved = np.square(piece.planes[channel] - piece.before[channel])
        error = (
            _OF_EXPECTED * piece.expected[channel] + _OF_SPREAD * piece.spread[channel] + _OF_MOVED * moved
        )
        np.copyto(plane, error, where=wanted & (piece.expected[channel] > 0))
        if not known.measured.size:
            plane[known.flags(channel)[piece.rows]] = 0.0
