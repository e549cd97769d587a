"""The search for similar patches against plain comparison with every candidate."""

import itertools

import numpy as np
import pytest

from demosaic_ntc.arrays import Float32, Places, Planes
from demosaic_ntc.engine.kernels.matching import (
    _add_squares,
    _add_weighted,
    _bound,
    _compare_row,
    _count_below,
    _list_nearest,
    _sum_neighbours,
    _take_nearest,
    match_patches,
)
from demosaic_ntc.engine.passes import PatchGrid
from tests.engine.kernels.drawn import patch_of, random_planes

Groups = list[list[list[int]]]  # the offsets of the patches of every group

SIZE = 3
ALIKE: Float32 = np.zeros((0, 0), np.float32)  # no map of confidences


def all_places(height: int, width: int) -> Places:
    return np.array(list(itertools.product(range(height - SIZE + 1), range(width - SIZE + 1))), np.int64)


def offsets_of(reach: int, dense: int = 127) -> Places:
    return PatchGrid(size=SIZE, stride=1, count=1, reach=reach, dense=dense).offsets


def difference(planes: Planes, confidence: Float32, here: tuple[int, int], there: tuple[int, int]) -> float:
    """Return Σ c c′ (x − x′)² / Σ c c′ of two patches; without confidences Σ (x − x′)²."""
    squares = (patch_of(planes, *here, SIZE) - patch_of(planes, *there, SIZE)) ** 2
    if confidence.size == 0:
        return float(squares.sum())
    mass = patch_of(confidence[None], *here, SIZE) * patch_of(confidence[None], *there, SIZE)
    return float((np.tile(mass, len(planes)) * squares).sum() / mass.sum())


def candidates(
    planes: Planes, confidence: Float32, row: int, column: int, offsets: Places
) -> dict[tuple[int, int], float]:
    """Return the difference at every offset that stays in the picture, in their order."""
    _, height, width = planes.shape
    return {
        (dy, dx): difference(planes, confidence, (row, column), (row + dy, column + dx))
        for dy, dx in offsets.tolist()
        if 0 <= row + dy <= height - SIZE and 0 <= column + dx <= width - SIZE
    }


def matched(
    planes: Planes, confidence: Float32, references: Places, offsets: Places, count: int
) -> list[list[list[int]]]:
    found = np.full((len(references), count, 2), 99, np.int8)
    match_patches(planes, confidence, references, SIZE, offsets, found)
    groups: Groups = found.tolist()
    return groups


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(1, 4, 3), (1, 3, 8), (3, 4, 4), (3, 9, 11), (4, 8, 7), (2, 7, 9)])
def test_matches_are_the_nearest_patches_in_their_order(shape: tuple[int, int, int], weighted: bool) -> None:
    planes, offsets = random_planes(1, shape), offsets_of(4, dense=2)
    drawn = np.random.default_rng(2).uniform(0.05, 1, shape[1:]).astype(np.float32)
    confidence, references = drawn if weighted else ALIKE, all_places(*shape[1:])
    for (row, column), group in zip(
        references.tolist(), matched(planes, confidence, references, offsets, 6), strict=True
    ):
        differences = candidates(planes, confidence, row, column, offsets)
        expected = sorted(differences, key=lambda offset: differences[offset])[:5]
        assert group[0] == [0, 0]
        assert [tuple(offset) for offset in group[1 : len(expected) + 1]] == expected
        assert group[len(expected) + 1 :] == [[0, 0]] * (5 - len(expected))  # too few: itself again


def test_of_equals_the_nearest_places_are_taken() -> None:
    planes, offsets = np.full((3, 12, 12), 0.5, np.float32), offsets_of(4)
    (group,) = matched(planes, ALIKE, np.array([[5, 5]]), offsets, 8)
    assert group[1:] == offsets[:7].tolist()


def test_a_closer_match_far_off_goes_before_equals_nearby() -> None:
    planes, offsets = np.zeros((1, 12, 12), np.float32), offsets_of(4)
    planes[0, 4, 4], planes[0, 8, 8] = 1.0, 0.75
    (group,) = matched(planes, ALIKE, np.array([[4, 4]]), offsets, 3)
    assert group == [[0, 0], [4, 4], [0, 1]]


def test_references_may_lie_apart_and_share_rows_in_part() -> None:
    planes, offsets = random_planes(4, (2, 20, 30)), offsets_of(6)
    confidence = np.ones((20, 30), np.float32)
    references = np.array([[1, 3], [1, 26], [9, 11], [16, 0], [16, 1], [16, 27]])
    together = matched(planes, confidence, references, offsets, 5)
    apart = [
        matched(planes, confidence, references[i : i + 1], offsets, 5)[0] for i in range(len(references))
    ]
    assert together == apart


def test_equal_confidences_match_as_none_do() -> None:
    planes, references, offsets = random_planes(5, (3, 12, 13)), all_places(12, 13), offsets_of(4)
    half = np.full((12, 13), 0.5, np.float32)
    assert matched(planes, half, references, offsets, 6) == matched(planes, ALIKE, references, offsets, 6)


def test_what_is_not_trusted_does_not_decide() -> None:
    planes = np.tile(random_planes(6, (1, 4, 4)), (1, 1, 3))
    planes[0, 1, 9] = 50.0
    confidence = np.ones((4, 12), np.float32)
    confidence[1, 9] = 1e-6
    offsets = offsets_of(8)
    (group,) = matched(planes, confidence, np.array([[0, 0]]), offsets[offsets[:, 1] > 4], 2)
    assert group[1] == [0, 8]


def test_faint_confidences_decide_among_themselves_beside_full_ones() -> None:
    planes = np.tile(random_planes(7, (1, 5, 5)), (1, 9, 6))
    confidence = np.ones((45, 30), np.float32)
    confidence[20:] = 2e-3
    groups = matched(planes, confidence, np.array([[0, 12], [33, 12]]), offsets_of(7), 5)
    assert (np.array(groups) % 5 == 0).all()  # the pattern repeats every five pixels


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_squares_of_a_stretch_are_added_over_the_channels(channels: int) -> None:
    planes, total = random_planes(8, (channels, 6, 9)), np.ones(4, np.float32)
    _add_squares(planes, 3, 2, -2, 3, total)
    expected = 1 + ((planes[:, 3, 2:6].astype(float) - planes[:, 1, 5:9]) ** 2).sum(axis=0)
    assert total == pytest.approx(expected, rel=1e-5)


def test_weighted_squares_count_by_both_confidences() -> None:
    planes, confidence = random_planes(9, (2, 6, 9)), random_planes(10, (1, 6, 9))[0]
    scratch, total, mass = np.full(4, 9, np.float32), np.ones(4, np.float32), np.ones(4, np.float32)
    _add_weighted(planes, confidence, 3, 2, 2, -1, scratch, total, mass)
    both = confidence[3, 2:6].astype(float) * confidence[5, 1:5]
    squares = ((planes[:, 3, 2:6].astype(float) - planes[:, 5, 1:5]) ** 2).sum(axis=0)
    assert mass == pytest.approx(1 + both, rel=1e-5)
    assert total == pytest.approx(1 + both * squares, rel=1e-5)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_neighbours_are_summed_with_their_followers(size: int) -> None:
    values = np.array([1, 2, 4, 8, 16, 32, 64], np.float32)
    sums = np.empty(len(values) - size + 1, np.float32)
    _sum_neighbours(values, size, sums)
    assert sums.tolist() == [values[x : x + size].sum() for x in range(len(sums))]


@pytest.mark.parametrize("weighted", [False, True])
def test_a_row_of_references_is_compared_with_all_candidates_and_borders_are_far(weighted: bool) -> None:
    planes, offsets = random_planes(11, (3, 7, 10)), offsets_of(4)
    confidence = random_planes(12, (1, 7, 10))[0] if weighted else ALIKE
    references = np.array([[2, 1], [2, 3], [2, 7]])
    room, differences = np.empty((3, 9), np.float32), np.empty((3, len(offsets)), np.float32)
    _compare_row(planes, confidence, references, SIZE, offsets, room, differences)
    for (row, column), found in zip(references.tolist(), differences, strict=True):
        inside = candidates(planes, confidence, row, column, offsets)
        expected = [inside.get((dy, dx), 1e30) for dy, dx in offsets.tolist()]
        assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("count", [1, 2, 5, 6, 9])
def test_so_many_keys_are_bounded_and_fewer_lie_below_the_bound(count: int) -> None:
    keys = np.array([7, 0, 3, 2**30 + 5, 3, 9, 2**31 - 1, 3, 12], np.int32)
    bound = _bound(keys, count)
    least = np.sort(keys)
    assert (keys <= bound).sum() == (keys <= least[count - 1]).sum()
    assert (keys < bound).sum() <= count
    assert (keys < bound).sum() < count or bound != least[count - 1]


def test_any_keys_are_bounded_as_sorting_says() -> None:
    random = np.random.default_rng(13)
    for spread in (1, 3, 100, 2**20, 2**31 - 1):
        keys = random.integers(0, spread, 50).astype(np.int32)
        for count in (1, 7, 49, 50):
            bound, least = _bound(keys, count), np.sort(keys)
            assert (keys <= bound).sum() == (keys <= least[count - 1]).sum()
            assert _count_below(keys, int(least[count - 1])) == (keys < least[count - 1]).sum()


@pytest.mark.parametrize("wanted", [1, 2, 3, 4, 6])
def test_the_nearest_are_listed_without_those_beyond_the_border_and_last_equals_at_the_end(
    wanted: int,
) -> None:
    keys = np.array([0.5, 0.25, 0.5, 1e30, 0.125, 0.5], np.float32).view(np.int32)
    chosen = np.full(9, -1, np.int32)
    count = _list_nearest(keys, wanted, chosen)
    assert count == min(wanted, 5)
    expected = [[4], [1, 4], [1, 4, 0], [1, 4, 0, 2], [], [0, 1, 2, 4, 5]][wanted - 1]
    assert chosen[:count].tolist() == expected


def test_the_nearest_are_taken_in_order_and_the_first_of_equals() -> None:
    differences = np.array([0.5, 0.25, 0.5, 1e30, 0.125, 0.5, 0.25], np.float32)
    offsets = np.array([[1, 0], [2, 0], [3, 0], [4, 0], [5, 0], [6, 0], [7, 0]])
    found, more = np.full((5, 2), 9, np.int8), np.full((9, 2), 9, np.int8)
    room = np.full((3, 64), 7, np.int32)
    _take_nearest(differences.view(np.int32), offsets, room, found)
    assert found[:, 0].tolist() == [0, 5, 2, 7, 1]
    assert not found[:, 1].any()
    _take_nearest(differences.view(np.int32), offsets, room, more)
    assert more[:, 0].tolist() == [0, 5, 2, 7, 1, 3, 6, 0, 0]
