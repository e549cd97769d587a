"""Steps and plans: what every quality does with every kind of mosaic and hole."""

import numpy as np
import pytest

from demosaic_ntc.engine.checks import QUALITIES
from demosaic_ntc.engine.kernels.group_pass import COMPLETION, GAUSSIAN, MEAN
from demosaic_ntc.engine.kernels.products import WEIGHT_BITS
from demosaic_ntc.engine.pass_tables import AGREED, COMPLETIONS, PLANS
from demosaic_ntc.engine.passes import DEEPEST, HoleKind, PatchGrid, Step, completion, gaussian, mean


def test_every_quality_has_steps_for_every_kind() -> None:
    assert tuple(PLANS) == tuple(COMPLETIONS) == QUALITIES
    for plan in (*PLANS.values(), *COMPLETIONS.values()):
        assert set(plan) == set(HoleKind) - {HoleKind.KNOWN}
        assert all(plan.values())


@pytest.mark.parametrize("quality", QUALITIES)
def test_holes_are_repaired_in_the_order_of_their_kinds(quality: str) -> None:
    holes = [kind for kind in PLANS[quality] if kind < HoleKind.BAYER]
    assert holes == sorted(holes)


def test_gaps_between_references_are_covered_by_other_patches() -> None:
    first = PLANS["normal"][HoleKind.ARRAY][0]
    for step in (*AGREED.values(), first):
        assert step.patches.stride > step.patches.size
        covered = step.does.restored * step.patches.size**2
        assert covered > 8 * step.patches.stride**2
        assert step.dense.patches.stride <= step.patches.size
        assert step.dense.does == step.does


def test_patches_fit_into_small_pictures() -> None:
    assert PatchGrid(4, 6, 40, 8).fit_to((9, 9)) == PatchGrid(4, 6, 40, 8)
    assert PatchGrid(4, 6, 40, 8).fit_to((3, 9)) == PatchGrid(3, 3, 40, 8)


@pytest.mark.parametrize("quality", QUALITIES)
def test_patches_of_last_steps_overlap_or_touch_and_offsets_fit_a_byte(quality: str) -> None:
    assert all(steps[-1].patches.stride <= steps[-1].patches.size for steps in PLANS[quality].values())
    for step in [step for steps in PLANS[quality].values() for step in steps]:
        assert step.patches.stride >= 1
        assert step.patches.reach <= 127
        assert step.does.restored <= step.patches.count
        assert 1 <= step.relaxed < 2


def test_no_pixel_is_covered_by_more_patches_than_sums_have_room_for() -> None:
    plans = (*PLANS.values(), *COMPLETIONS.values())
    steps = [step for plan in plans for steps in plan.values() for step in steps]
    for step in [*steps, *(step.dense for step in (*AGREED.values(), *steps))]:
        patches = step.patches
        near = (
            2 * patches.reach + patches.size - 1
        ) // patches.stride + 2  # one more at the rim of a picture
        covering = near**2 * min(patches.size**2, step.does.restored)
        assert covering / step.does.least < 2**WEIGHT_BITS


@pytest.mark.parametrize("quality", QUALITIES)
def test_the_last_step_of_a_completion_completes_what_the_oracle_can_try(quality: str) -> None:
    for kind, steps in COMPLETIONS[quality].items():
        assert [step.norm is not None for step in steps][-1]
        assert not any(step.norm for step in PLANS[quality][kind])
        for step in [step for step in steps if step.norm]:
            pixels = step.patches.size**2
            assert step.does.restored == step.patches.count
            assert max(pixels, step.patches.count) <= 64, "bits of a word"
            assert min(pixels, step.patches.count) <= 10, "all subsets are tried"


def test_patches_are_looked_for_everywhere_nearby_and_at_some_places_further_out() -> None:
    places = [(int(dy), int(dx)) for dy, dx in PatchGrid(4, 4, 8, 5, dense=1).offsets]
    offsets = set(places)
    assert len(offsets) == len(places) < 11 * 11 - 1
    assert (0, 0) not in offsets
    assert {(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)} - offsets == {(0, 0)}
    assert {(dy, dx) for dy in (-4, -2, 2, 4) for dx in (-4, -2, 2, 4)} <= offsets
    assert not {(3, 2), (2, 3), (5, 5), (3, 3)} & offsets
    assert {(-dy, -dx) for dy, dx in offsets} == offsets
    assert max(max(abs(dy), abs(dx)) for dy, dx in offsets) <= 5


def test_the_nearest_places_are_looked_at_first() -> None:
    squares = np.square(PatchGrid(4, 4, 8, 6).offsets).sum(axis=1)
    assert (np.diff(squares) >= 0).all()
    assert len(squares) == 13 * 13 - 1


@pytest.mark.parametrize(
    ("shape", "size", "stride"), [((40, 50), 6, 5), ((4, 50), 4, 4), ((50, 3), 3, 3), ((1, 1), 1, 1)]
)
def test_patches_fit_into_any_picture(shape: tuple[int, int], size: int, stride: int) -> None:
    patches = PatchGrid(6, 5, 8, 9).fit_to(shape)
    assert (patches.size, patches.stride, patches.count, patches.reach) == (size, stride, 8, 9)


def test_trust_falls_with_every_pixel_into_a_hole_and_never_vanishes() -> None:
    step = Step(PatchGrid(4, 4, 8, 9), mean(4), trust=(0.4, 0.01))
    assert step.compute_trust(0)[1:4] == pytest.approx([0.4, 0.26, 0.169])
    assert step.compute_trust(1)[1] == pytest.approx(0.01)
    assert len(step.compute_trust(0)) == DEEPEST + 1
    assert (np.diff(step.compute_trust(1)) < 0).all()
    assert np.square(step.compute_trust(1), dtype=np.float32).min() > np.finfo(np.float32).tiny


def test_full_trust_is_never_exceeded() -> None:
    assert Step(PatchGrid(4, 4, 8, 9), mean(4)).compute_trust(0)[0] == 1


def test_floor_and_noise_are_given_in_levels_of_eight_bits() -> None:
    does = gaussian(5, floor=0.51, noise=2.55)
    assert (does.predictor, does.restored) == (GAUSSIAN, 5)
    assert (does.floor, does.noise) == pytest.approx((4e-6, 1e-4))
    assert mean(7).predictor == MEAN
    assert (mean(7).restored, completion(3).predictor) == (7, COMPLETION)
