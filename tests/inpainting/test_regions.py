"""Regions around holes: all missing pixels once, and little else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from demosaic_ntc.inpainting import regions
from demosaic_ntc.inpainting.regions import MARGIN, find_damaged_regions

Flags = NDArray[np.bool_]


def check_cover(missing: Flags) -> None:
    """Every missing pixel lies in one core; every core holds one, and lies where its inner part says."""
    times = np.zeros(missing.shape, int)
    for region in find_damaged_regions(missing):
        assert missing[region.core].any()
        times[region.core] += 1
        for core, seen, inner, length in zip(
            region.core, region.seen, region.inner, missing.shape, strict=True
        ):
            assert (seen.start + inner.start, seen.start + inner.stop) == (core.start, core.stop)
            assert 0 <= seen.start <= core.start < core.stop <= seen.stop <= length
    assert (times[missing] == 1).all()
    assert times.max(initial=0) <= 1


@settings(max_examples=50, deadline=None)
@given(arrays(np.bool_, st.tuples(st.integers(1, 12), st.integers(1, 12))))
def test_every_missing_pixel_is_in_one_core_of_a_small_picture(missing: Flags) -> None:
    check_cover(missing)


@pytest.mark.parametrize("small", [4, 9])
@settings(max_examples=40, deadline=None)
@given(arrays(np.bool_, st.tuples(st.integers(1, 20), st.integers(1, 20))))
def test_every_missing_pixel_is_in_one_core_however_often_boxes_are_cut(small: int, missing: Flags) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regions, "_SMALL", small)
        patch.setattr(regions, "_LARGE", 2 * small)
        check_cover(missing)


def test_nothing_missing_gives_no_region() -> None:
    assert not list(find_damaged_regions(np.zeros((300, 400), np.bool_)))


def test_a_lone_pixel_sees_its_margin_within_the_picture() -> None:
    missing = np.zeros((300, 400), np.bool_)
    missing[10, 200] = True
    (region,) = find_damaged_regions(missing)
    assert region.core == (slice(10, 11), slice(200, 201))
    assert region.seen == (slice(0, 11 + MARGIN), slice(200 - MARGIN, 201 + MARGIN))


def test_a_diagonal_scratch_covers_little_of_a_large_picture() -> None:
    missing = np.eye(4000, dtype=np.bool_)
    found = list(find_damaged_regions(missing))
    assert sum(region.work for region in found) < 0.2 * missing.size
    assert sum(missing[region.core].sum() for region in found) == 4000


def test_dense_damage_stays_in_one_region() -> None:
    missing = np.random.default_rng(0).random((800, 1000)) < 0.3
    (region,) = find_damaged_regions(missing)
    assert region.seen == (slice(0, 800), slice(0, 1000))


def test_dense_damage_of_a_very_large_picture_is_cut() -> None:
    missing = np.ones((5000, 300), np.bool_)
    found = list(find_damaged_regions(missing))
    assert len(found) > 1
    assert sum(int(missing[region.core].sum()) for region in found) == missing.size
    assert max(region.work for region in found) < missing.size


@pytest.mark.parametrize("axis", [0, 1])
def test_boxes_are_cut_where_nothing_is_missing(axis: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regions, "_LARGE", 500)
    missing = np.zeros((600, 100), np.bool_)
    missing[:, [0, -1]] = True
    missing[200:204] = False
    found = find_damaged_regions(np.ascontiguousarray(np.moveaxis(missing, 0, axis)))
    spans = [region.core[axis] for region in found]
    assert len(spans) > 1
    assert all(core.stop <= 200 or core.start >= 204 for core in spans)


def test_damage_here_and_there_stays_in_one_region() -> None:
    missing = np.random.default_rng(0).random((700, 500)) < 0.01
    (region,) = find_damaged_regions(missing)
    assert missing[region.core].sum() == missing.sum()


def test_a_few_lost_pixels_of_a_large_picture_are_looked_at_one_by_one() -> None:
    missing = np.zeros((2000, 3000), np.bool_)
    random = np.random.default_rng(0)
    missing[random.integers(2000, size=30), random.integers(3000, size=30)] = True
    assert sum(region.work for region in find_damaged_regions(missing)) < 0.1 * missing.size
