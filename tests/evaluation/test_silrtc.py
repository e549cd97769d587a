import numpy as np
import pytest

from demosaic_ntc.errors import TooLarge
from evaluation.data.synthetic import draw_samples, random_truth
from evaluation.methods.low_rank import PUBLISHED, TUNED, shrink_singular_values, silrtc
from evaluation.methods.tensors import TensorSamples, average_cells, nmse


def test_the_singular_values_of_a_diagonal_are_shrunk() -> None:
    shrunk = shrink_singular_values(np.diag([5.0, 2.0, 0.5]), 1.0)
    np.testing.assert_allclose(shrunk, np.diag([4.0, 1.0, 0.0]), atol=1e-12)


@pytest.mark.parametrize("shape", [(3, 7), (7, 3)])
def test_shrinking_agrees_with_the_singular_value_decomposition(shape: tuple[int, int]) -> None:
    matrix = np.random.default_rng(0).normal(size=shape)
    left, singular, right = np.linalg.svd(matrix, full_matrices=False)
    expected = (left * np.maximum(singular - 0.7, 0.0)) @ right
    np.testing.assert_allclose(shrink_singular_values(matrix, 0.7), expected, atol=1e-12)


def test_observed_entries_are_kept() -> None:
    generator = np.random.default_rng(0)
    samples = draw_samples(random_truth((5, 6, 7), generator), 80, 0.0, generator)
    known, is_known = average_cells(samples)
    np.testing.assert_array_equal(silrtc(samples)[is_known], known[is_known])


def test_published_shrinkage_loses_the_tensor_and_the_tuned_one_does_not() -> None:
    generator = np.random.default_rng(0)
    truth = random_truth((10, 10, 10), generator)
    samples = draw_samples(truth, 500, 0.0, generator)
    assert nmse(silrtc(samples, PUBLISHED), truth) > 0.5
    assert nmse(silrtc(samples, TUNED), truth) < 0.25


def test_what_does_not_fit_is_refused_with_the_numbers() -> None:
    samples = TensorSamples((10,) * 8, np.zeros((1, 8), dtype=np.int64), np.ones(1))
    with pytest.raises(TooLarge, match=r"SiLRTC .* needs 4\.5 GiB"):
        silrtc(samples)
