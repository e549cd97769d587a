"""Groups around holes: where they lie, what they cover, and that nothing but the input decides."""

from collections.abc import Callable
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from demosaic_ntc.imaging import hole_groups
from demosaic_ntc.imaging.groups import Patches
from demosaic_ntc.imaging.hole_groups import Trusts, restore_around, search_offsets
from demosaic_ntc.imaging.kernels.hole_pass import HolePass
from demosaic_ntc.imaging.kernels.steps import VALUE_UNIT
from demosaic_ntc.ntc.deadline import Deadline
from tests.imaging.waves import waves

Planes = NDArray[np.float32]
Flags = NDArray[np.bool_]
Places = NDArray[np.int64]

PATCHES = Patches(size=4, stride=3, count=5, reach=6)
FELLOWS = HolePass(restored=4, ridge=0.1, radius=1.0, tolerance=1e-4, vertices=0, floor=1e-4)
COMPLETED = FELLOWS._replace(vertices=3)
NEVER = Deadline()
TEXTURE = waves(2, 40, 50)


def restored(
    planes: Planes,
    missing: Flags,
    *,
    patches: Patches = PATCHES,
    settings: HolePass = COMPLETED,
    threads: int = 1,
    deadline: Deadline = NEVER,
    report: Callable[[float], None] = lambda share: None,
) -> tuple[Planes, NDArray[np.float32]]:
    """Restore what is missing, trusted little, in all channels."""
    trust = np.where(missing, np.float32(0.01), np.float32(1))
    trusts = Trusts(trust, np.broadcast_to(trust, planes.shape).copy())
    return restore_around(planes, trusts, missing, patches, settings, threads, report, deadline)


@pytest.fixture
def scattered() -> Flags:
    return np.random.default_rng(0).random((40, 50)) < 0.2


def test_fellows_are_looked_for_everywhere_nearby_and_at_some_places_further_out() -> None:
    places = [(int(dy), int(dx)) for dy, dx in search_offsets(Patches(reach=5, dense=1))]
    offsets = set(places)
    assert len(offsets) == len(places) < 11 * 11 - 1
    assert (0, 0) not in offsets
    assert {(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)} - offsets == {(0, 0)}
    assert {(dy, dx) for dy in (-4, -2, 2, 4) for dx in (-4, -2, 2, 4)} <= offsets
    assert {(-dy, -dx) for dy, dx in offsets} == offsets
    assert max(max(abs(dy), abs(dx)) for dy, dx in offsets) <= 5


@pytest.mark.parametrize(
    ("size", "stride", "groups"),
    [(4, 4, 1), (4, 2, 4), (4, 3, 1), (4, 1, 16)],
)
def test_only_reference_patches_that_hold_a_wanted_pixel_are_restored(
    size: int, stride: int, groups: int
) -> None:
    missing = np.zeros((40, 50), np.bool_)
    missing[10, 20] = True
    patches = Patches(size=size, stride=stride, count=5, reach=6)
    _, gaps = restored(TEXTURE, missing, patches=patches)
    assert gaps.size == groups


def say_one(
    planes: Planes,
    trust: Planes,
    rows: Places,
    columns: Places,
    found: NDArray[np.int8],
    size: int,
    settings: HolePass,
    values: Places,
    weights: Places,
    gaps: NDArray[np.float32],
) -> None:
    """Stand in for the groups: say one for every pixel of a reference patch, and its place as the gap."""
    for row, column in zip(rows, columns, strict=True):
        values[:, row : row + size, column : column + size] += int(VALUE_UNIT)
        weights[row : row + size, column : column + size] += 1
    gaps[:] = rows * planes.shape[2] + columns


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.bool_, st.tuples(st.integers(1, 30), st.integers(1, 30))),
    st.builds(Patches, size=st.integers(3, 8), stride=st.integers(1, 3), reach=st.integers(1, 9)),
    st.sampled_from([1, 4, 48]),
)
def test_reference_patches_cover_every_wanted_pixel_once_each(
    missing: Flags, patches: Patches, tile: int
) -> None:
    missing[-1, 0] = True
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hole_groups, "_TILE", (tile, tile))
        patch.setattr(hole_groups, "fill_groups", say_one)
        groups, places = restored(np.zeros((2, *missing.shape), np.float32), missing, patches=patches)
    assert (groups[:, missing] == 1).all()
    assert np.unique(places).size == places.size


def test_nothing_changes_where_no_group_reaches() -> None:
    missing = np.zeros((40, 50), np.bool_)
    missing[5, 5] = True
    groups, _ = restored(TEXTURE, missing)
    reach = 5 + PATCHES.reach + PATCHES.size
    assert np.array_equal(groups[:, reach:], TEXTURE[:, reach:])
    assert np.array_equal(groups[:, :, reach:], TEXTURE[:, :, reach:])
    assert not np.array_equal(groups, TEXTURE)


def test_groups_speak_of_known_pixels_around_a_hole_too() -> None:
    missing = np.zeros((40, 50), np.bool_)
    missing[20, 20] = True
    groups, _ = restored(TEXTURE, missing, settings=FELLOWS._replace(ridge=0.0))
    said = (groups != TEXTURE).all(axis=0)
    assert said[18:21, 18:21].all()


def test_groups_bring_a_wrong_estimate_back_to_the_texture(scattered: Flags) -> None:
    truth = TEXTURE
    estimate = np.where(scattered, np.float32(0.5), truth)
    groups, _ = restored(estimate, scattered)
    before, after = (np.abs(one - truth)[:, scattered].mean() for one in (estimate, groups))
    assert after < 0.3 * before


@pytest.mark.parametrize("settings", [FELLOWS, COMPLETED])
def test_threads_do_not_change_a_bit(
    settings: HolePass, scattered: Flags, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hole_groups, "_TILE", (12, 16))
    one, two, three = (restored(TEXTURE, scattered, settings=settings, threads=n) for n in (1, 2, 3))
    for other in (two, three):
        assert np.array_equal(one[0], other[0])
        assert np.array_equal(one[1], other[1])


def test_tiles_do_not_change_the_groups(scattered: Flags, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, gaps = restored(TEXTURE, scattered)
    monkeypatch.setattr(hole_groups, "_TILE", (9, 7))
    tiled, more = restored(TEXTURE, scattered)
    np.testing.assert_allclose(tiled, whole, atol=1e-5)
    assert gaps.size == more.size


def test_completed_groups_are_certified_and_others_are_not(scattered: Flags) -> None:
    assert np.isinf(restored(TEXTURE, scattered, settings=FELLOWS)[1]).all()
    gaps = restored(TEXTURE, scattered, settings=COMPLETED)[1]
    assert np.isfinite(gaps).all()
    assert gaps.min() >= -1e-6


def test_tiles_begun_after_the_deadline_are_not_completed(
    scattered: Flags, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hole_groups, "_TILE", (12, 50))
    ticks = count().__next__
    _, whole = restored(TEXTURE, scattered)
    groups, gaps = restored(TEXTURE, scattered, deadline=Deadline(2, ticks))
    assert np.isfinite(groups).all()
    done = np.isfinite(gaps)
    assert 0 < done.sum() < gaps.size
    assert np.array_equal(gaps[done], whole[done])
    assert np.array_equal(np.sort(done)[::-1], done)  # the first tiles, none after


def test_shares_rise_to_one(scattered: Flags, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hole_groups, "_TILE", (20, 25))
    shares: list[float] = []
    restored(TEXTURE, scattered, threads=2, report=shares.append)
    assert shares == sorted(shares)
    assert len(shares) > 1
    assert shares[-1] == 1


@pytest.mark.parametrize("shape", [(1, 1), (1, 30), (30, 1), (2, 3), (5, 5), (2, 30)])
def test_pictures_smaller_than_a_patch_are_covered(shape: tuple[int, int]) -> None:
    planes = np.full((1, *shape), 0.25, np.float32)
    for place in np.ndindex(*shape):
        missing = np.zeros(shape, np.bool_)
        missing[place] = True
        groups, gaps = restored(planes, missing)
        assert groups == pytest.approx(planes, abs=1e-6)
        assert np.isfinite(gaps).all()
        assert gaps.size > 0
