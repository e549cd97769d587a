import numpy as np
import pytest

from evaluation.methods.tensors import RankOneSum, difference, inner, nmse


def random_sum(seed: int, terms: int, shape: tuple[int, ...]) -> RankOneSum:
    generator = np.random.default_rng(seed)
    return RankOneSum(generator.random(terms), tuple(generator.random((terms, size)) for size in shape))


def test_inner_product_from_factors_equals_the_sum_over_all_entries() -> None:
    a, b = random_sum(0, 3, (2, 3, 4)), random_sum(1, 5, (2, 3, 4))
    assert inner(a, b) == pytest.approx(np.sum(a.dense() * b.dense()))


def test_inner_product_is_the_same_in_blocks() -> None:
    a, b = random_sum(0, 1100, (2, 3)), random_sum(1, 2, (2, 3))
    assert inner(a, b) == pytest.approx(np.sum(a.dense() * b.dense()))


def test_nmse_from_factors_equals_the_dense_one() -> None:
    estimate, truth = random_sum(0, 3, (2, 3, 4)), random_sum(1, 5, (2, 3, 4))
    by_hand = np.sum((estimate.dense() - truth.dense()) ** 2) / np.sum(truth.dense() ** 2)
    assert nmse(estimate, truth) == pytest.approx(by_hand)
    assert nmse(estimate.dense(), truth) == pytest.approx(by_hand)


def test_nmse_of_the_truth_is_zero_and_of_zero_is_one() -> None:
    truth = random_sum(0, 4, (3, 3, 3))
    assert nmse(truth, truth) < 1e-15
    assert nmse(np.zeros((3, 3, 3)), truth) == pytest.approx(1.0)


def test_difference_has_the_entries_of_the_difference() -> None:
    a, b = random_sum(0, 2, (2, 3)), random_sum(1, 3, (2, 3))
    np.testing.assert_allclose(difference(a, b).dense(), a.dense() - b.dense())


def test_nmse_of_a_tensor_that_no_memory_could_hold() -> None:
    ones = tuple(np.ones((1, 1000)) for _ in range(8))
    assert nmse(RankOneSum(np.array([1.5]), ones), RankOneSum(np.array([1.0]), ones)) == pytest.approx(0.25)
