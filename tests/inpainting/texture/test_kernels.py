"""Patches searched, voted and labelled, against plain NumPy."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.inpainting.texture.kernels import NEVER, PATCH, REACH, search_all, search_candidates, vote
from demosaic_ntc.inpainting.texture.label_kernels import best_labels, relabel

SIDE = 26
PRICE = np.array([1e-3, 2e-4])


@pytest.fixture
def values() -> NDArray[np.float32]:
    return np.random.default_rng(1).random((SIDE, SIDE, 4), dtype=np.float32)


@pytest.fixture
def weight() -> NDArray[np.float32]:
    made = np.random.default_rng(2).random((SIDE, SIDE), dtype=np.float32)
    made[:REACH] = made[-REACH:] = 0
    made[:, :REACH] = made[:, -REACH:] = 0
    return made


def patch(array: NDArray[np.float32], place: NDArray[np.int32]) -> NDArray[np.float64]:
    row, column = place
    part = array[row - REACH : row + REACH + 1, column - REACH : column + REACH + 1]
    return np.asarray(part, np.float64)


def cost_of(
    values: NDArray[np.float32],
    weight: NDArray[np.float32],
    target: NDArray[np.int32],
    source: NDArray[np.int32],
) -> float:
    """The cost of a source, as its formula says."""
    trust = patch(weight, target)
    gaps = ((patch(values, target) - patch(values, source)) ** 2).sum(axis=2)
    return float((trust * gaps).sum() / trust.sum() + (PRICE * (source - target) ** 2).sum())


def places(*pairs: tuple[int, int]) -> NDArray[np.int32]:
    return np.array(pairs, np.int32)


def test_of_all_sources_the_best_is_found(values: NDArray[np.float32], weight: NDArray[np.float32]) -> None:
    targets, sources = places((5, 6), (12, 12), (20, 9)), places((4, 4), (8, 15), (16, 16), (21, 21), (10, 5))
    best, cost = np.empty_like(targets), np.empty(len(targets))
    search_all(values, weight, targets, sources, PRICE, best, cost)
    costs = np.array([[cost_of(values, weight, target, source) for source in sources] for target in targets])
    np.testing.assert_array_equal(best, sources[costs.argmin(axis=1)])
    np.testing.assert_allclose(cost, costs.min(axis=1), rtol=1e-4)


def test_of_candidates_the_best_is_found_and_none_that_is_no_source(
    values: NDArray[np.float32], weight: NDArray[np.float32]
) -> None:
    targets = places((10, 10), (10, 11))
    field = np.full((SIDE, SIDE, 2), -1, np.int32)
    field[10, 10], field[10, 11] = (15, 15), (8, 20)
    further = places((5, 5), (18, 7), (20, 20), (-1, -1)).reshape(2, 2, 2)
    is_source = np.zeros((SIDE, SIDE), np.bool_)
    is_source[REACH:-REACH, REACH:-REACH] = np.random.default_rng(3).random((20, 20)) < 0.7
    best, cost = np.empty_like(targets), np.empty(len(targets))
    search_candidates(values, weight, is_source, targets, field, further, PRICE, best, cost)
    for number, target in enumerate(targets):
        own = field[tuple(target)]
        steps = [np.array([i, j]) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        tried = [own + step for step in steps]
        near = [(target + step, step) for step in steps]
        tried += [field[tuple(place)] - step for place, step in near if field[tuple(place)][0] >= 0]
        tried += [place for place in further[number] if place[0] >= 0]
        costs = {
            tuple(place): cost_of(values, weight, target, place) for place in tried if is_source[tuple(place)]
        }
        assert tuple(best[number]) == min(costs, key=costs.__getitem__)
        np.testing.assert_allclose(cost[number], min(costs.values()), rtol=1e-4)


def test_a_target_without_candidates_has_no_source(
    values: NDArray[np.float32], weight: NDArray[np.float32]
) -> None:
    targets, field = places((10, 10)), np.full((SIDE, SIDE, 2), -1, np.int32)
    best, cost = np.zeros((1, 2), np.int32), np.zeros(1)
    none = np.zeros((1, 0, 2), np.int32)
    search_candidates(
        values, weight, np.ones((SIDE, SIDE), np.bool_), targets, field, none, PRICE, best, cost
    )
    assert best[0, 0] < 0
    assert cost[0] == NEVER


def test_patches_vote_by_their_cost(values: NDArray[np.float32]) -> None:
    field, cost = np.full((SIDE, SIDE, 2), -1, np.int32), np.full((SIDE, SIDE), NEVER)
    field[10, 10], field[12, 11], cost[10, 10], cost[12, 11] = (16, 17), (6, 9), 0.2, 0.5
    pixels, voted = places((11, 11), (20, 20)), np.empty((2, 4), np.float32)
    vote(values, field, cost, 0.3, pixels, voted)
    share = np.exp(-(0.5 - 0.2) / 0.3)
    expected = (values[17, 18] + share * values[5, 9]) / (1 + share)
    np.testing.assert_allclose(voted[0], expected, rtol=1e-5)
    np.testing.assert_array_equal(voted[1], values[20, 20])  # no patch covers it


def test_the_first_label_is_that_of_the_best_patch() -> None:
    field, cost = np.full((SIDE, SIDE, 2), -1, np.int32), np.full((SIDE, SIDE), NEVER)
    field[10, 10], field[12, 11], cost[10, 10], cost[12, 11] = (16, 17), (6, 9), 0.2, 0.1
    labels = np.zeros((1, 2), np.int32)
    best_labels(field, cost, places((11, 11)), labels)
    np.testing.assert_array_equal(labels, [(-6, -2)])


def label_cost(
    values: NDArray[np.float32],
    estimate: NDArray[np.float32],
    hole: NDArray[np.bool_],
    labels: NDArray[np.int32],
    place: tuple[int, int],
    label: NDArray[np.int32],
    data: float,
) -> float:
    """What a label costs, as its formula says; everything outside the hole is shown."""

    def say(pixel: NDArray[Any], by: NDArray[np.int32]) -> NDArray[np.float32] | None:
        y, x = pixel + by
        return None if hole[y, x] else values[y, x]

    def differ(pixel: NDArray[Any], one: NDArray[np.int32], other: NDArray[np.int32]) -> float:
        if (one == other).all():
            return 0.0
        a, b = say(pixel, one), say(pixel, other)
        return 0.02 if a is None or b is None else float(((a - b) ** 2).sum())

    here = np.array(place, np.int64)
    told = values[tuple(here + label)]
    total = data * float(((estimate[place] - told) ** 2).sum())
    for step in ((-1, 0), (0, -1), (0, 1), (1, 0)):
        near = here + np.array(step, np.int64)
        other = labels[tuple(near)]
        if hole[tuple(near)]:
            total += differ(here, label, other) + differ(near, label, other)
        else:
            total += 2 * differ(near, label, other)
    return total


def test_a_pixel_takes_the_label_whose_seams_cost_least(values: NDArray[np.float32]) -> None:
    hole = np.zeros((SIDE, SIDE), np.bool_)
    hole[10:15, 10:15] = True
    shown, generator = ~hole, np.random.default_rng(4)
    labels = np.zeros((SIDE, SIDE, 2), np.int32)
    labels[hole] = generator.choice([(-7, 0), (0, 6), (6, -6), (-6, 7)], hole.sum())
    estimate = generator.random(values.shape, dtype=np.float32)
    pixels = np.argwhere(hole).astype(np.int32)
    chosen = np.empty_like(pixels)
    relabel(values, estimate, hole, shown, shown, labels, 0.5, pixels, chosen)
    for place, found in zip(map(tuple, pixels), chosen, strict=True):
        row, column = place
        near = labels[row - 1 : row + 2, column - 1 : column + 2][
            hole[row - 1 : row + 2, column - 1 : column + 2]
        ]
        allowed = [label for label in near if shown[tuple(np.array(place) + label)]]
        costs = [label_cost(values, estimate, hole, labels, place, label, 0.5) for label in allowed]
        own = label_cost(values, estimate, hole, labels, place, found, 0.5)
        np.testing.assert_allclose(own, min(costs), rtol=1e-4)
    assert (chosen != labels[hole]).any()


def test_patches_are_seven_pixels_wide() -> None:
    assert PATCH == 7
