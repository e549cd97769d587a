"""The engine of inpainting as a whole: the known is kept, the far does not matter, bounds are counted."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from demosaic_ntc import inpaint
from demosaic_ntc.arrays import Flags, Float32, Planes
from demosaic_ntc.engine.pass_tables import COMPLETIONS, PLANS, Plan
from demosaic_ntc.engine.passes import HoleKind, PatchGrid, Step, mean
from demosaic_ntc.engine.tiles import Tile
from demosaic_ntc.inpainting import regions
from demosaic_ntc.inpainting.inpaint import METHODS
from demosaic_ntc.inpainting.region_inpainting import _around, _channel_sets, repair
from demosaic_ntc.inpainting.smooth_fill import plainly_filled
from demosaic_ntc.run import Deadline, Progress, Run
from tests.waves import waves

PLANS_OF_METHODS: dict[str, Plan] = {
    "gaussian": PLANS["normal"],
    "ntc": COMPLETIONS["normal"],
    "biharmonic": {},
}


def texture(channels: int) -> Planes:
    return waves(channels, 36, 40)


def repaired(
    planes: Planes,
    known: Flags,
    *,
    method: str = "gaussian",
    plan: Plan | None = None,
    threads: int = 1,
    progress: Callable[[Progress], None] = lambda event: None,
    deadline: Deadline | None = None,
) -> tuple[Planes, Float32]:
    """Repair what is left of the planes; return them and what is proven."""
    shown, steps = np.where(known, planes, np.float32(0)), PLANS_OF_METHODS[method] if plan is None else plan
    estimate, gaps = repair(shown, known, steps, Run(threads, progress, deadline or Deadline()))
    assert estimate.variance.size == 0
    return estimate.planes, gaps


def damage(channels: int, height: int = 36, width: int = 40) -> Flags:
    """Return what a block, a stroke and random loss leave known."""
    known = np.random.default_rng(0).random((height, width)) > 0.1
    known[5:17, 5:17] = False
    known[25:28, :] = False
    return np.broadcast_to(known, (channels, height, width)).copy()


@pytest.mark.parametrize("method", METHODS)
def test_entries_of_single_channels_come_back_and_the_others_stay(method: str) -> None:
    truth, known = texture(3), np.random.default_rng(1).random((3, 36, 40)) > 0.3
    image, _ = repaired(truth, known, method=method)
    assert np.array_equal(image[known], truth[known])
    assert np.abs(image - truth)[~known].mean() < 0.02


@settings(max_examples=15, deadline=None)
@given(
    arrays(np.bool_, st.tuples(st.integers(1, 3), st.integers(1, 9), st.integers(1, 9))), st.integers(0, 9)
)
def test_any_mask_gives_finite_values_and_keeps_what_is_known(missing: Flags, seed: int) -> None:
    missing[:, 0, 0] = False
    planes = np.random.default_rng(seed).random(missing.shape).astype(np.float32)
    image, proof = repaired(planes, ~missing)
    assert np.array_equal(image[~missing], planes[~missing])
    assert np.isfinite(image).all()
    assert not np.isnan(proof).any()


@pytest.mark.parametrize("shape", [(1, 2), (1, 13), (2, 3), (2, 11), (5, 5), (7, 2)])
def test_one_hole_anywhere_in_a_tiny_picture_is_repaired(shape: tuple[int, int]) -> None:
    planes = np.full((1, *shape), 0.25, np.float32)
    for place in np.ndindex(*shape):
        known = np.ones((1, *shape), np.bool_)
        known[0][place] = False
        assert repaired(planes, known)[0] == pytest.approx(planes, abs=1e-5)


def test_many_channels_are_repaired_in_sets() -> None:
    planes, known = texture(8), damage(8)
    together, gaps = repaired(planes, known, method="ntc")
    first, last = (repaired(planes[half], known[half], method="ntc") for half in (np.s_[:4], np.s_[4:]))
    assert np.array_equal(together, np.concatenate([first[0], last[0]]))
    assert np.array_equal(gaps, np.concatenate([first[1], last[1]]))


@pytest.mark.parametrize(
    ("channels", "sets"), [(1, [1]), (4, [4]), (5, [2, 3]), (9, [3, 3, 3]), (10, [3, 4, 3])]
)
def test_sets_of_channels_are_about_equal_and_cover_all(channels: int, sets: list[int]) -> None:
    parts = list(_channel_sets(channels))
    assert [part.stop - part.start for part in parts] == sets
    assert [part.start for part in parts] + [channels] == [0, *(part.stop for part in parts)]


def test_threads_do_not_change_a_bit() -> None:
    one, two = (repaired(waves(3, 80, 140), damage(3, 80, 140), threads=threads) for threads in (1, 3))
    assert np.array_equal(one[0], two[0])
    assert np.array_equal(one[1], two[1])


@pytest.mark.parametrize(
    "laid_out",
    [np.asfortranarray, lambda image: image[::-1].copy()[::-1], lambda image: np.repeat(image, 2, 1)[:, ::2]],
)
def test_the_order_in_memory_does_not_matter(laid_out: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
    image, missing = np.moveaxis(texture(3), 0, 2).copy(), ~damage(3)[0]
    plain = inpaint(image, missing, threads=1).image
    assert np.array_equal(inpaint(laid_out(image), laid_out(missing), threads=1).image, plain)


def wide_picture_with_two_holes() -> tuple[Planes, Flags]:
    known = np.ones((1, 40, 2000), np.bool_)
    known[:, 10:20, 10:20] = known[:, 15, 1900:1980] = False
    return waves(1, 40, 2000), known


def test_holes_far_apart_are_repaired_as_if_alone() -> None:
    planes, known = wide_picture_with_two_holes()
    both, gaps = repaired(planes, known, method="ntc")
    left, right = (
        repaired(planes[..., part], known[..., part], method="ntc")
        for part in (slice(200), slice(1700, None))
    )
    assert np.array_equal(both[..., :200], left[0])
    assert np.array_equal(both[..., 1700:], right[0])
    assert gaps.size == left[1].size + right[1].size


def test_what_lies_far_from_all_holes_is_not_looked_at() -> None:
    planes, known = wide_picture_with_two_holes()
    changed = planes.copy()
    changed[..., 200:1700] = 0.0
    assert np.array_equal(repaired(changed, known)[0][~known], repaired(planes, known)[0][~known])


@pytest.mark.parametrize("method", METHODS)
def test_regions_within_a_hole_that_know_nothing_are_filled(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("MARGIN", 4), ("_SMALL", 8), ("_LARGE", 8)):
        monkeypatch.setattr(regions, name, value)
    known = np.ones((2, 50, 50), np.bool_)
    known[:, 2:-2, 2:-2] = False
    planes = np.stack([np.full((50, 50), 0.25), np.full((50, 50), 0.75)]).astype(np.float32)
    assert repaired(planes, known, method=method)[0] == pytest.approx(planes, abs=1e-4)


def test_a_rim_is_restored_with_a_region_as_far_as_it_is_seen() -> None:
    tile = Tile((slice(60, 70), slice(5, 9)), (slice(12, 118), slice(0, 57)), (slice(48, 58), slice(5, 9)))
    wanted = _around(tile)
    assert wanted.shape == (106, 57)
    assert np.flatnonzero(wanted.any(axis=1)).tolist() == list(range(48 - 16, 58 + 16))
    assert np.flatnonzero(wanted.any(axis=0)).tolist() == list(range(9 + 16))


def test_a_pass_over_one_kind_of_hole_leaves_the_others() -> None:
    known = np.ones((1, 60, 60), np.bool_)
    known[:, 20:32, 20:32] = known[:, 16, 26] = False  # a block, and a dead pixel whose patches touch it
    step = Step(PatchGrid(size=6, stride=1, count=6, reach=6), mean(6), trust=(0.3, 0.05))
    planes = waves(1, 60, 60)
    smooth = repaired(planes, known, method="biharmonic")[0]
    passed = repaired(planes, known, plan={HoleKind.SPARSE: (step,)})[0]
    assert np.array_equal(passed[:, 20:32, 20:32], smooth[:, 20:32, 20:32])
    assert passed[0, 16, 26] != smooth[0, 16, 26]


def test_after_the_deadline_a_plain_fill_stands_and_nothing_is_certified() -> None:
    truth, known = texture(3), damage(3)
    _, whole = repaired(truth, known, method="ntc")
    image, gaps = repaired(truth, known, method="ntc", deadline=Deadline(1.0, clock=lambda: 2.0))
    assert np.array_equal(image, plainly_filled(np.where(known, truth, 0).astype(np.float32), known))
    assert np.isinf(gaps[:, 1]).all()
    assert 0 < gaps.size <= whole.size


def test_regions_that_know_nothing_are_as_uncertain_as_all_that_is_known_varies() -> None:
    planes = np.random.default_rng(0).random((1, 2400, 64), np.float32)
    known = np.ones(planes.shape, np.bool_)
    known[:, :2300] = False
    shown = np.where(known, planes, np.float32(0))
    late = Deadline(1.0, clock=lambda: 2.0)
    estimate, _ = repair(shown, known, PLANS["fast"], Run(deadline=late, want_error=True))
    np.testing.assert_allclose(estimate.planes[0, 0], planes[known].mean(), rtol=1e-5)
    np.testing.assert_allclose(estimate.variance[0, 0], planes[known].var(), rtol=1e-3)


def test_every_completed_group_has_bounds() -> None:
    _, bounds = repaired(texture(2), damage(2), method="ntc")
    lower, upper, vertices = bounds.T
    assert lower.size > 0
    assert (lower <= upper).all()
    assert (upper[np.isfinite(upper)] <= 1.1 * lower[np.isfinite(upper)]).mean() > 0.8
    assert vertices.max() > 1
    assert repaired(texture(2), damage(2), method="biharmonic")[1].size == 0
    assert repaired(texture(2), damage(2))[1].size == 0


def test_errors_are_those_of_what_is_missing_and_spread_over_all_channels_and_regions() -> None:
    planes, known = wide_picture_with_two_holes()
    planes, known = np.repeat(planes, 5, axis=0), np.repeat(known, 5, axis=0)
    shown = np.where(known, planes, np.float32(0))
    estimate, _ = repair(shown, known, PLANS["fast"], Run(want_error=True))
    assert (estimate.variance[~known] > 0).all()
    assert not estimate.variance[known].any()


def test_without_steps_an_error_is_as_large_as_values_vary() -> None:
    known = np.ones((2, 20, 20), np.bool_)
    known[:, 8:10, 8:10] = False
    planes = waves(2, 20, 20)
    planes[1] *= 0.5
    estimate, _ = repair(planes, known, {}, Run(want_error=True))
    for channel in range(2):
        expected = estimate.planes[channel].var()
        assert estimate.variance[channel, 8:10, 8:10] == pytest.approx(expected, rel=1e-4)
    assert not estimate.variance[known].any()


@pytest.mark.parametrize("threads", [1, 3])
def test_after_the_deadline_every_region_takes_the_means_close_by(threads: int) -> None:
    planes, known = wide_picture_with_two_holes()
    known[:, :12] = False  # deeper than the widest of the smaller blocks
    over = Deadline(0.0, lambda: 1.0)
    estimate, gaps = repaired(planes, known, method="ntc", threads=threads, deadline=over)
    assert (estimate[known] == planes[known]).all()
    assert np.isinf(gaps[:, 1]).all()
    assert gaps.size > 0
    assert estimate[~known].min() >= planes[known].min()
    assert estimate[~known].max() <= planes[known].max()


def test_regions_that_see_nothing_known_keep_the_mean_after_the_deadline() -> None:
    planes = np.full((1, 1400, 40), 0.75, np.float32)
    known = np.zeros(planes.shape, np.bool_)
    known[:, -8:] = True
    estimate, _ = repaired(planes, known, deadline=Deadline(0.0, lambda: 1.0))
    assert np.allclose(estimate, 0.75)


@pytest.mark.parametrize("channels", [1, 3, 5])
@pytest.mark.parametrize("method", METHODS)
def test_progress_rises_to_the_number_of_missing_pixels(method: str, channels: int) -> None:
    planes, known = wide_picture_with_two_holes()
    events: list[Progress] = []
    repaired(
        np.repeat(planes, channels, axis=0),
        np.repeat(known, channels, axis=0),
        method=method,
        progress=events.append,
    )
    done = [event.done for event in events]
    assert done == sorted(done)
    assert done[0] > 0
    assert events[-1] == Progress("groups", 180, 180)
    assert {(event.stage, event.total) for event in events} == {("groups", 180)}
