"""The compiled pass over holes against plain numpy, and its gaps against the library's solver."""

from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc import Status, complete
from demosaic_ntc.imaging.groups import Patches
from demosaic_ntc.imaging.hole_groups import search_offsets
from demosaic_ntc.imaging.kernels.hole_pass import HolePass, fill_groups
from demosaic_ntc.imaging.kernels.matching import match_patches, match_trusted
from demosaic_ntc.imaging.kernels.steps import WEIGHT_UNIT, add_mean, complete_rest, empty_group, write_means

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Places = NDArray[np.int64]

SIZE = 4
FELLOWS = HolePass(restored=99, ridge=0.1, radius=1.0, tolerance=1e-5, vertices=0, floor=1e-4)


def random_planes(seed: int, shape: tuple[int, int, int]) -> Floats:
    return np.random.default_rng(seed).random(shape).astype(np.float32)


def patch(planes: Floats, row: int, column: int, size: int = SIZE) -> Doubles:
    return planes[..., row : row + size, column : column + size].astype(np.float64)


def all_places(height: int, width: int, size: int) -> tuple[Places, Places]:
    down, across = np.mgrid[: height - size + 1, : width - size + 1]
    return down.ravel().astype(np.int64), across.ravel().astype(np.int64)


def distances(
    planes: Floats, confidence: Floats, row: int, column: int, size: int, offsets: Places
) -> dict[tuple[int, int], float]:
    """Return Σ c c′ (x − x′)² / Σ c c′ for every offset that stays in the picture."""
    found = {}
    for dy, dx in offsets.tolist():
        if 0 <= row + dy <= planes.shape[1] - size and 0 <= column + dx <= planes.shape[2] - size:
            mass = patch(confidence, row, column, size) * patch(confidence, row + dy, column + dx, size)
            difference = patch(planes, row, column, size) - patch(planes, row + dy, column + dx, size)
            found[dy, dx] = float((mass * difference**2).sum() / mass.sum())
    return found


@pytest.mark.parametrize("shape", [(1, 5, 4), (1, 4, 9), (3, 5, 5), (2, 11, 13)])
@pytest.mark.parametrize("seed", range(3))
def test_trusted_matches_are_the_nearest_patches(seed: int, shape: tuple[int, int, int]) -> None:
    planes = random_planes(seed, shape)
    confidence = np.random.default_rng(seed + 9).uniform(0.01, 1.0, shape[1:]).astype(np.float32)
    offsets = search_offsets(Patches(reach=5, dense=2))
    rows, columns = all_places(*shape[1:], SIZE)
    found = np.empty((len(rows), 4, 2), np.int8)
    match_trusted(planes, confidence, rows, columns, SIZE, offsets, found)
    for row, column, group in zip(rows, columns, found, strict=True):
        candidates = distances(planes, confidence, int(row), int(column), SIZE, offsets)
        expected = sorted(candidates.values())[:3]
        chosen = {(int(dy), int(dx)) for dy, dx in group[1 : len(expected) + 1]}
        assert len(chosen) == len(expected)
        assert sorted(candidates[offset] for offset in chosen) == pytest.approx(expected, rel=1e-4)
        assert not group[0].any()
        assert not group[len(expected) + 1 :].any()  # fewer patches than asked for: itself again


def test_references_may_lie_apart_and_share_rows_in_part() -> None:
    planes, confidence = random_planes(4, (2, 20, 30)), np.ones((20, 30), np.float32)
    rows, columns = np.array([1, 1, 9, 16]), np.array([26, 3, 11, 0])
    offsets = search_offsets(Patches(reach=6, dense=6))
    together, apart = np.empty((4, 5, 2), np.int8), np.empty((4, 5, 2), np.int8)
    match_trusted(planes, confidence, rows, columns, SIZE, offsets, together)
    for i in range(4):
        one = slice(i, i + 1)
        match_trusted(planes, confidence, rows[one], columns[one], SIZE, offsets, apart[one])
    assert np.array_equal(together, apart)


def test_full_trust_and_a_dense_search_match_as_demosaicing_does() -> None:
    planes, reach = random_planes(5, (3, 15, 17)), 4
    rows, columns = all_places(15, 17, SIZE)
    plain = np.empty((12, 14, 6, 2), np.int8)
    match_patches(planes, np.arange(12), np.arange(14), SIZE, reach, plain)
    trusted = np.empty((len(rows), 6, 2), np.int8)
    offsets = search_offsets(Patches(reach=reach, dense=reach))
    match_trusted(planes, np.ones((15, 17), np.float32), rows, columns, SIZE, offsets, trusted)
    assert np.array_equal(trusted, plain.reshape(trusted.shape))


def test_what_is_not_trusted_does_not_decide() -> None:
    planes = np.tile(random_planes(6, (1, 4, 4)), (1, 1, 3))
    spoiled = planes.copy()
    spoiled[0, 1, 9] = 50.0
    confidence = np.ones((4, 12), np.float32)
    confidence[1, 9] = 1e-6
    found = np.empty((1, 2, 2), np.int8)
    zero, offsets = np.array([0]), search_offsets(Patches(reach=8, dense=8))
    match_trusted(spoiled, confidence, zero, zero, SIZE, offsets[offsets[:, 1] > 4], found)
    assert found[0, 1].tolist() == [0, 8]


def test_faint_confidences_decide_among_themselves_beside_full_ones() -> None:
    planes = np.tile(random_planes(7, (1, 5, 5)), (1, 9, 6))
    confidence = np.ones((45, 30), np.float32)
    confidence[20:] = 2e-3
    rows, columns = np.array([0, 33]), np.array([12, 12])
    found = np.empty((2, 5, 2), np.int8)
    match_trusted(planes, confidence, rows, columns, SIZE, search_offsets(Patches(reach=7, dense=7)), found)
    assert (found % 5 == 0).all()  # the pattern repeats every five pixels
    assert not found[:, 0].any()


class Filled(NamedTuple):
    values: Floats
    weights: NDArray[np.int64]
    gap: float


def fill_one_group(planes: Floats, trust: Floats, offsets: list[list[int]], settings: HolePass) -> Filled:
    """Restore the group of the patch at the top left and return what it says about every pixel."""
    sums = np.zeros(planes.shape, np.int64), np.zeros(planes.shape[1:], np.int64)
    zero, gaps = np.zeros(1, np.int64), np.full(1, np.inf, np.float32)
    found = np.array([offsets], np.int8)
    fill_groups(planes, trust, zero, zero, found, SIZE, settings, *sums, gaps)
    said = np.zeros_like(planes)
    write_means(*sums, said)
    return Filled(said, sums[1], float(gaps[0]))


OFFSETS = [[0, 0], [4, 0], [0, 5], [5, 4], [9, 3], [9, 9]]  # patches that do not overlap


def scene(seed: int, doubtful: int) -> tuple[Floats, Floats]:
    """Return planes of 13×13 and the trust in them; the first patches of OFFSETS miss half their entries."""
    planes, trust = random_planes(seed, (2, 13, 13)), np.ones((2, 13, 13), np.float32)
    random = np.random.default_rng(seed + 1)
    for row, column in OFFSETS[:doubtful]:
        part = trust[:, row : row + SIZE, column : column + SIZE]
        part[...] = np.where(random.random(part.shape) < 0.5, 1.0, 0.05)
        part[0, 0, 0] = 0.02
    return planes, trust


def group_of(planes: Floats, places: list[list[int]] = OFFSETS) -> Doubles:
    """Return the patches as (patch, entry)."""
    return np.stack([patch(planes, row, column).ravel() for row, column in places])


def predicted(planes: Floats, trust: Floats, ridge: float) -> tuple[Doubles, Doubles]:
    """Return each patch's mean plus its ridge regression on the others, and its mean squared misfit."""
    data, weight = group_of(planes), group_of(trust)
    mean = (weight * data).sum(axis=0) / weight.sum(axis=0)
    centred, fit = data - mean, np.empty_like(data)
    for k, known in enumerate(weight):
        others = np.delete(centred, k, axis=0)
        matrix = (others * known) @ others.T + ridge * np.eye(len(others))
        fit[k] = mean + np.linalg.solve(matrix, (others * known) @ centred[k]) @ others
    return fit, (weight * (data - fit) ** 2).sum(axis=1) / weight.sum(axis=1)


@pytest.mark.parametrize("ridge", [0.01, 0.3, 1e6])
@pytest.mark.parametrize("doubtful", [1, 4, len(OFFSETS)])
def test_patches_are_their_ridge_regression_on_their_fellows(doubtful: int, ridge: float) -> None:
    planes, trust = scene(doubtful, doubtful)
    filled = fill_one_group(planes, trust, OFFSETS, FELLOWS._replace(ridge=ridge))
    expected, misfit = predicted(planes, trust, ridge)
    places = OFFSETS[:doubtful]
    np.testing.assert_allclose(group_of(filled.values, places), expected[:doubtful], atol=2e-5)
    shares = WEIGHT_UNIT / (misfit[:doubtful] + FELLOWS.floor)
    for (row, column), share in zip(places, shares, strict=True):
        assert patch(filled.weights[None].astype(np.float32), row, column) == pytest.approx(share, rel=2e-2)


def test_without_a_ridge_patches_are_the_weighted_mean() -> None:
    planes, trust = scene(3, 2)
    filled = fill_one_group(planes, trust, OFFSETS, FELLOWS._replace(ridge=0.0))
    data, weight = group_of(planes), group_of(trust)
    mean = (weight * data).sum(axis=0) / weight.sum(axis=0)
    np.testing.assert_allclose(group_of(filled.values, OFFSETS[:2]), [mean, mean], atol=1e-5)


def test_patches_known_in_all_entries_are_spared() -> None:
    planes, trust = scene(0, 2)
    filled = fill_one_group(planes, trust, OFFSETS, FELLOWS)
    expected = np.zeros((13, 13), np.bool_)
    expected[:8, :4] = True  # the two patches that miss entries
    assert np.array_equal(filled.weights > 0, expected)


def test_only_the_first_patches_are_restored() -> None:
    planes, trust = scene(1, len(OFFSETS))
    filled = fill_one_group(planes, trust, OFFSETS, FELLOWS._replace(restored=1))
    expected, _ = predicted(planes, trust, FELLOWS.ridge)
    np.testing.assert_allclose(group_of(filled.values, OFFSETS[:1]), expected[:1], atol=2e-5)
    assert not filled.weights[:, SIZE:].any()
    assert not filled.weights[SIZE:].any()


@pytest.mark.parametrize("vertices", [1, 3, 60])
def test_completed_groups_come_closer_and_are_certified(vertices: int) -> None:
    planes, trust = scene(2, len(OFFSETS))
    weight = group_of(trust)

    def misfit(filled: Filled) -> float:
        return float((weight * (group_of(planes) - group_of(filled.values)) ** 2).sum() / weight.sum())

    plain = fill_one_group(planes, trust, OFFSETS, FELLOWS)
    completed = fill_one_group(planes, trust, OFFSETS, FELLOWS._replace(vertices=vertices))
    assert plain.gap == np.inf
    assert misfit(completed) < misfit(plain)
    assert 0 <= completed.gap <= misfit(completed) + 1e-6


@pytest.mark.parametrize("vertices", [1, 4, 200])
@pytest.mark.parametrize("seed", range(3))
def test_a_gap_bounds_how_far_a_group_is_from_its_optimum(seed: int, vertices: int) -> None:
    random = np.random.default_rng(seed)
    group = empty_group(2, 4, 5)
    group.data[:], group.weight[:] = random.random((2, 4, 5)), random.uniform(0.05, 1, (2, 4, 5))
    group.fit[:] = 0
    add_mean(group)
    left = (group.data - group.fit).astype(np.float64)
    shifted = left - left.min(axis=(1, 2), keepdims=True)
    gap = complete_rest(group, 1.0, 1e-6, vertices)
    index = np.stack(np.unravel_index(np.arange(left.size), left.shape), axis=1)
    best = complete(
        left.shape, index, shifted.ravel(), radius=shifted.max(), weight=group.weight.ravel(), oracle="exact"
    )
    assert best.status is Status.OPTIMAL
    objective = float((group.weight * (group.data - group.fit) ** 2).sum())
    assert group.weight.sum() == pytest.approx(1.0, abs=1e-5)
    assert best.certificate.lower_bound - 1e-6 <= objective <= best.certificate.objective + gap + 1e-6
    assert objective <= float((group.weight * left**2).sum()) + 1e-6
