"""The loop over steps: what is trusted, what is kept, what is spread and how wrong it is expected to be."""

from dataclasses import replace

import numpy as np
import pytest

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.engine.groups import GroupAggregate, GroupInput, GroupPass
from demosaic_ntc.engine.kernels.completion import LeastNorm
from demosaic_ntc.engine.passes import DEEPEST, ObservedPixels, PatchGrid, Step, completion, gaussian, mean
from demosaic_ntc.engine.restore import (
    Estimate,
    MaskedPass,
    _confidence,
    _note_variance,
    _spread_nearby,
    restore,
)
from demosaic_ntc.run import Deadline, Run
from tests.waves import waves

SHAPE = (30, 34)
PATCHES = PatchGrid(size=4, stride=3, count=8, reach=5)
STEP = Step(PATCHES, gaussian(6), relaxed=1.5, trust=(0.3, 0.3))
NORM = LeastNorm(1e-2, 1e-6, 1.1, 0.0, 80)
NOTHING: Float32 = np.zeros((0, 0, 0), np.float32)
EVERYWHERE = np.ones(SHAPE, np.bool_)


def flags() -> Flags:
    """Return what is known of three channels: each lacks other entries."""
    return np.random.default_rng(0).random((3, *SHAPE)) > 0.25


def start(known: Flags, errors: bool = False) -> tuple[Estimate[Float32], ObservedPixels]:
    """Return waves whose unknown entries were guessed badly."""
    guessed = waves(3, *SHAPE) + np.random.default_rng(1).normal(0, 0.1, (3, *SHAPE)).astype(np.float32)
    planes = np.where(known, waves(3, *SHAPE), np.clip(guessed, 0.25, 0.75))
    variance = np.where(known, np.float32(0), np.float32(0.01)) if errors else NOTHING
    return Estimate(planes, variance), ObservedPixels.of(planes, known, np.ones(SHAPE, np.uint8))


def restored(
    estimate: Estimate[Float32], known: ObservedPixels, *works: MaskedPass, threads: int = 1
) -> tuple[Estimate[Float32], Float32]:
    after, gaps, _ = restore(estimate, known, works, Run(threads, want_error=estimate.variance.size > 0))
    return after, gaps


def all_said(before: Float32, planes: Float32) -> GroupAggregate:
    """Return what groups say of a whole picture, errors left out."""
    return GroupAggregate(
        slice(0, planes.shape[1]), before, planes, NOTHING, NOTHING, np.ones(planes.shape[1:], np.bool_)
    )


def test_known_entries_are_kept_and_the_others_come_closer() -> None:
    known = flags()
    estimate, what = start(known)
    after, gaps = restored(estimate, what, MaskedPass(STEP, EVERYWHERE))
    assert np.array_equal(after.planes[known], estimate.planes[known])
    truth = waves(3, *SHAPE)
    before, now = (np.abs(one.planes - truth)[~known].mean() for one in (estimate, after))
    assert now < 0.5 * before
    assert gaps.size == 0
    assert after.variance.size == 0


def test_only_wanted_pixels_change() -> None:
    wanted = np.zeros(SHAPE, np.bool_)
    wanted[5:20, 7:22] = True
    known = flags()
    estimate, what = start(known)
    after, _ = restored(estimate, what, MaskedPass(STEP, wanted))
    changed = (after.planes != estimate.planes).any(axis=0)
    assert not changed[~wanted].any()
    assert changed[wanted].mean() > 0.5


def test_a_step_goes_beyond_what_the_groups_say_by_its_relaxation() -> None:
    known = flags()
    estimate, what = start(known)
    scene = GroupInput(estimate.planes, what, _confidence(what, STEP))
    (said,) = GroupPass(scene, STEP, Run()).restore(EVERYWHERE)
    beyond = estimate.planes + 1.5 * (said.planes - estimate.planes)
    bounds = what.low[:, None, None], what.high[:, None, None]
    expected = np.where(known, estimate.planes, np.clip(beyond, *bounds))
    after, _ = restored(estimate, what, MaskedPass(STEP, EVERYWHERE))
    assert after.planes == pytest.approx(expected, abs=1e-5)


def test_steps_follow_each_other() -> None:
    estimate, what = start(flags())
    one, _ = restored(estimate, what, MaskedPass(STEP, EVERYWHERE))
    two, _ = restored(one, what, MaskedPass(STEP, EVERYWHERE))
    both, _ = restored(estimate, what, MaskedPass(STEP, EVERYWHERE), MaskedPass(STEP, EVERYWHERE))
    assert np.array_equal(both.planes, two.planes)
    assert not np.array_equal(both.planes, one.planes)


def test_a_step_with_a_least_move_leaves_what_the_one_before_hardly_moved() -> None:
    estimate, what = start(flags())
    one, _ = restored(estimate, what, MaskedPass(STEP, EVERYWHERE))
    change = np.abs(one.planes - estimate.planes).max(axis=0)
    limit = float(np.quantile(change, 0.98))
    around = np.zeros(SHAPE, np.bool_)
    for row, column in zip(*np.nonzero(change > limit), strict=True):
        around[max(row - 2, 0) : row + 3, max(column - 2, 0) : column + 3] = True
    assert 0.1 < around.mean() < 0.9
    rest, left = replace(STEP, least_move=limit), EVERYWHERE.copy()
    left[:, SHAPE[1] // 2 :] = False
    for wanted in (EVERYWHERE, left):
        two, _ = restored(estimate, what, MaskedPass(STEP, EVERYWHERE), MaskedPass(rest, wanted))
        alone, _ = restored(one, what, MaskedPass(STEP, around & wanted))
        assert np.array_equal(two.planes, alone.planes)
    first, _ = restored(estimate, what, MaskedPass(rest, EVERYWHERE))
    assert np.array_equal(first.planes, one.planes)  # nothing was before it


def test_noisy_pixels_never_settle() -> None:
    estimate, what = start(flags())
    noisy = replace(what, measured=estimate.planes, noise=np.full((3, 1), 1e-4, np.float32))
    rest = MaskedPass(replace(STEP, least_move=1.0), EVERYWHERE)
    one, _ = restored(estimate, noisy, MaskedPass(STEP, EVERYWHERE), rest)
    two, _ = restored(estimate, noisy, MaskedPass(STEP, EVERYWHERE), MaskedPass(STEP, EVERYWHERE))
    assert np.array_equal(one.planes, two.planes)


def test_what_falls_into_gaps_between_references_is_restored_by_itself() -> None:
    known = flags()
    estimate, what = start(known)
    sparse = replace(STEP, patches=replace(PATCHES, stride=9))
    scene = GroupInput(estimate.planes, what, _confidence(what, sparse))
    said = list(GroupPass(scene, sparse, Run()).restore(EVERYWHERE))
    unsaid = ~np.concatenate([piece.anything for piece in said])
    assert 0 < unsaid.sum() < unsaid.size
    after, _ = restored(estimate, what, MaskedPass(sparse, EVERYWHERE))
    first = np.concatenate([piece.planes for piece in said], axis=1)
    assert np.array_equal(first[:, unsaid], estimate.planes[:, unsaid])
    assert (after.planes != estimate.planes)[unsaid & ~known].mean() > 0.9
    again, _ = restored(estimate, what, MaskedPass(sparse, EVERYWHERE), threads=3)
    assert np.array_equal(again.planes, after.planes)


def test_restored_values_stay_within_the_known_ones_of_their_channel() -> None:
    known = flags()
    estimate, what = start(known)
    after, _ = restored(estimate, what, MaskedPass(STEP, EVERYWHERE), MaskedPass(STEP, EVERYWHERE))
    for channel in range(3):
        assert after.planes[channel].min() >= estimate.planes[channel][known[channel]].min()
        assert after.planes[channel].max() <= estimate.planes[channel][known[channel]].max()


def test_bounds_are_those_of_the_completed_steps() -> None:
    estimate, what = start(flags())
    completed = Step(PATCHES, completion(PATCHES.count), trust=(0.3, 0.3), norm=NORM)
    half = np.zeros(SHAPE, np.bool_)
    half[:15] = True
    _, none = restored(estimate, what, MaskedPass(STEP, EVERYWHERE))
    _, some = restored(estimate, what, MaskedPass(STEP, EVERYWHERE), MaskedPass(completed, half))
    _, more = restored(estimate, what, MaskedPass(completed, half), MaskedPass(completed, EVERYWHERE))
    assert none.size == 0 < some.size < more.size
    assert np.isfinite(more).all()
    assert (more[:, 0] <= more[:, 1]).all()


def test_after_the_deadline_the_estimate_stands() -> None:
    estimate, what = start(flags(), errors=True)
    completed = Step(PATCHES, completion(PATCHES.count), 1.4, trust=(0.3, 0.3), spread=0.7, norm=NORM)
    over = Deadline(1.0, clock=lambda: 2.0)
    after, gaps, _ = restore(estimate, what, [MaskedPass(completed, EVERYWHERE)], Run(deadline=over))
    assert np.array_equal(after.planes, estimate.planes)
    assert np.array_equal(after.variance, estimate.variance)
    assert gaps.size > 0
    assert np.isinf(gaps[:, 1]).all()


def test_steps_are_reported_as_parts_of_one_whole() -> None:
    estimate, what = start(flags())
    shares: list[float] = []
    restore(estimate, what, [MaskedPass(STEP, EVERYWHERE)] * 2, Run(report=shares.append))
    assert shares == sorted(shares)
    assert 0.5 in shares
    assert shares[-1] == 1


def test_a_part_is_reported_after_those_before_it() -> None:
    shares: list[float] = []
    Run(report=shares.append).part(0.25, 0.5).report(0.5)
    assert shares == [0.375]


def test_confidence_grows_with_what_is_known_of_a_pixel_and_falls_with_depth() -> None:
    known = np.array([[[1, 1, 0, 0]], [[1, 0, 0, 0]]], np.bool_)
    depth = np.array([[0, 1, 2, 200]], np.uint8)
    what = ObservedPixels.of(np.zeros((2, 1, 4), np.float32), known, depth)
    falling = 0.5 * 0.65**1, 0.5 * 0.65 ** (DEEPEST - 1)
    confidence = _confidence(what, Step(PATCHES, gaussian(6), trust=(0.5, 0.9)))
    assert confidence[0] == pytest.approx([1, 0.5 + 0.5 * 0.5, falling[0], max(falling[1], 1e-6)])
    assert (confidence >= 1e-6).all()


def test_where_unknown_entries_are_fully_trusted_there_is_no_map_of_confidences() -> None:
    _, what = start(flags())
    assert _confidence(what, Step(PATCHES, gaussian(6))).size == 0


def test_what_groups_leave_at_known_entries_is_felt_in_the_rims_of_holes() -> None:
    known = np.ones((1, 3, 9), np.bool_)
    known[:, :, 2:8] = False
    estimate, said = np.full((1, 3, 9), 0.5, np.float32), np.full((1, 3, 9), 0.25, np.float32)
    said[known] = 0.375
    what = ObservedPixels.of(estimate, known, np.ones((3, 9), np.uint8))
    _spread_nearby(all_said(estimate, said), what, 0.7)
    assert said[known] == pytest.approx(0.5)
    assert said[0, :, 2:4] == pytest.approx(0.375, abs=1e-4)  # 0.25 and the 0.125 that are left nearby
    assert said[0, :, 4:6] == pytest.approx(0.25)


def test_nearer_entries_are_felt_more() -> None:
    known, estimate = np.array([[[True, False, False, True]]]), np.array([[[1.0, 0, 0, 0]]], np.float32)
    said = np.zeros((1, 1, 4), np.float32)
    what = ObservedPixels.of(estimate, known, np.ones((1, 4), np.uint8))
    _spread_nearby(all_said(estimate, said), what, 0.7)
    near, far = (float(np.exp(-0.5 * (steps / 0.7) ** 2)) for steps in (1, 2))
    assert said[0, 0, 1:3] == pytest.approx([near / (near + far), far / (near + far)], rel=1e-4)


def test_every_channel_spreads_from_its_own_known_entries() -> None:
    known = np.array([[[True, False, False]], [[False, False, True]]])
    estimate, said = np.ones((2, 1, 3), np.float32), np.zeros((2, 1, 3), np.float32)
    estimate[1, 0, 2] = 0.5
    what = ObservedPixels.of(estimate, known, np.ones((1, 3), np.uint8))
    _spread_nearby(all_said(estimate, said), what, 0.7)
    assert said[0, 0] == pytest.approx([1, 1, 1], abs=1e-3)
    assert said[1, 0] == pytest.approx([0.5, 0.5, 0.5], abs=1e-3)


def test_means_spread_what_they_leave() -> None:
    known = np.repeat(flags()[:1], 3, axis=0)
    estimate, what = start(known)
    plain, spread = (
        restored(
            estimate, what, MaskedPass(Step(PATCHES, mean(6), trust=(0.1, 0.1), spread=width), EVERYWHERE)
        )[0]
        for width in (0.0, 0.7)
    )
    assert not np.array_equal(plain.planes, spread.planes)
    assert np.array_equal(spread.planes[known], estimate.planes[known])


def test_squared_errors_are_of_what_is_expected_of_its_spread_and_of_the_move() -> None:
    known = np.zeros((1, 2, 3), np.bool_)
    known[0, 0, 0] = True
    before, variance = np.full((1, 2, 3), 0.5, np.float32), np.full((1, 2, 3), 9.0, np.float32)
    said = GroupAggregate(
        rows=slice(0, 2),
        before=before,
        planes=np.full((1, 2, 3), 0.7, np.float32),
        expected=np.array([[[0.1, 0.2, 0.0], [0.1, 0.1, 0.1]]], np.float32),
        spread=np.array([[[0.0, 0.01, 0.5], [0.02, 0.0, 0.0]]], np.float32),
        anything=np.ones((2, 3), np.bool_),
    )
    wanted = np.array([[True, True, True], [True, True, False]])
    what = ObservedPixels.of(before, known, np.ones((2, 3), np.uint8))
    _note_variance(variance, said, what, wanted)
    moved = 3.0 * 0.04
    expected = [[0, 1.25 * 0.2 + 4.5 * 0.01 + moved, 9], [1.25 * 0.1 + 4.5 * 0.02 + moved, 0.125 + moved, 9]]
    assert variance[0] == pytest.approx(np.array(expected), rel=1e-4)


@pytest.mark.parametrize("threads", [2, 4])
def test_threads_do_not_change_a_bit(threads: int) -> None:
    estimate, what = start(flags(), errors=True)
    completed = Step(PATCHES, completion(PATCHES.count), trust=(0.3, 0.3), norm=NORM)
    works = [MaskedPass(STEP, EVERYWHERE), MaskedPass(completed, EVERYWHERE)]
    one, other = (restored(estimate, what, *works, threads=number) for number in (1, threads))
    assert np.array_equal(one[0].planes, other[0].planes)
    assert np.array_equal(one[0].variance, other[0].variance)
    assert np.array_equal(one[1], other[1])


def test_noise_in_what_is_known_smooths_what_is_restored() -> None:
    known = flags()
    estimate, exact = start(known)
    noisy = replace(exact, noise=np.full((3, 1), 10, np.float32))
    sharp, smooth = (
        restored(estimate, what, MaskedPass(STEP, EVERYWHERE))[0].planes for what in (exact, noisy)
    )
    assert sharp[~known].std() > smooth[~known].std()


def test_noisy_entries_are_estimated_and_exact_ones_come_back() -> None:
    known = flags()
    estimate, exact = start(known)
    measured = np.where(known, estimate.planes, np.float32(7))
    for noise, moved in ((0.0, False), (10.0, True)):
        levels = np.full((3, 1), noise, np.float32)
        what = replace(exact, noise=levels, measured=measured)
        after = restored(estimate, what, MaskedPass(STEP, EVERYWHERE))[0].planes
        assert (after[known] != measured[known]).any() == moved
        assert after.max() < 7


def test_a_step_goes_from_that_of_exact_samples_to_that_of_noise() -> None:
    step = replace(STEP, relaxed=1.6, noisy=1.2, noisy_strength=1.0)
    assert step.adapt_to_noise(0.0) == step
    half, whole = step.adapt_to_noise(step.does.noise), step.adapt_to_noise(1.0)
    assert half.relaxed == pytest.approx(1.4)
    assert half.does.floor == pytest.approx(step.does.floor / 2)
    assert half.does.strength == pytest.approx((step.does.strength + 1) / 2)
    assert replace(step, noisy_strength=None).adapt_to_noise(1.0).does.strength == step.does.strength
    assert whole.relaxed == pytest.approx(1.2, abs=1e-3)
    assert whole.does.floor < 1e-2 * step.does.floor
