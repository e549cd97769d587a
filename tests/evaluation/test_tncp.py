import numpy as np
import pytest

from demosaic_ntc.errors import TooLarge
from evaluation.data.paper_tables import Row
from evaluation.data.synthetic import draw_samples, random_truth
from evaluation.measure.paper import instance
from evaluation.methods.tensors import TensorSamples, average_cells, nmse
from evaluation.methods.tncp import (
    CORRECTED,
    PUBLISHED,
    _against_others,
    _fit_mode,
    _fit_mode_stacked,
    raise_small,
    shrink,
    start_from_markers,
    tncp,
)


def test_the_two_rules_for_singular_values() -> None:
    singular = np.array([3.0, 1.0, 0.25])
    np.testing.assert_array_equal(raise_small(singular, 0.5), [3.0, 1.0, 0.5])
    np.testing.assert_array_equal(shrink(singular, 0.5), [2.5, 0.5, 0.0])


def test_missing_cells_start_at_their_marker_plus_the_mean_norm() -> None:
    known, is_known = np.array([[3.0, 0.0], [0.0, 0.0]]), np.array([[True, False], [False, False]])
    expected = np.sqrt(9.0 + 3.0) / 4 - 1.0
    np.testing.assert_allclose(start_from_markers(known, is_known), [[3.0, expected], [expected, expected]])


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
def test_a_mode_is_fitted_against_the_product_of_all_others(mode: int) -> None:
    generator = np.random.default_rng(0)
    tensor = generator.random((2, 3, 4, 5))
    factors = [generator.random((size, 2)) for size in tensor.shape]
    factors[mode] = np.eye(tensor.shape[mode], 2)
    letters = "abcd"
    others = [i for i in range(4) if i != mode]
    rule = ",".join(["abcd", *(f"{letters[i]}s" for i in others)]) + f"->{letters[mode]}s"
    expected = np.einsum(rule, tensor, *(factors[i] for i in others))
    np.testing.assert_allclose(_against_others(factors, tensor, mode), expected)


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_both_ways_to_fit_a_mode_agree(mode: int) -> None:
    generator = np.random.default_rng(0)
    tensor = generator.random((3, 4, 5))
    factors = [generator.random((size, 2)) for size in tensor.shape]
    pull = generator.random((tensor.shape[mode], 2))
    expected = _fit_mode(factors, tensor, mode, pull, 0.5 - 1e-5)
    np.testing.assert_allclose(_fit_mode_stacked(factors, tensor, mode, pull, 0.5), expected)


@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(4))
def test_a_tensor_smaller_than_the_rank_does_not_overflow(seed: int, noise: float) -> None:
    """The Gram matrices have no full rank, and the ridge is below their rounding."""
    truth, samples = instance(Row(3, 3, 20, noise), seed)
    assert nmse(tncp(samples, seed, PUBLISHED), truth) < 1e4


def test_corrected_beats_published() -> None:
    generator = np.random.default_rng(0)
    truth = random_truth((10, 10, 10), generator)
    samples = draw_samples(truth, 500, 0.0, generator)
    corrected, published = nmse(tncp(samples, 0, CORRECTED), truth), nmse(tncp(samples, 0, PUBLISHED), truth)
    assert corrected < 0.25 < published


def test_observed_entries_are_kept() -> None:
    generator = np.random.default_rng(0)
    samples = draw_samples(random_truth((4, 5, 6), generator), 60, 0.0, generator)
    known, is_known = average_cells(samples)
    np.testing.assert_array_equal(tncp(samples, 0, CORRECTED)[is_known], known[is_known])


def test_what_does_not_fit_is_refused_with_the_numbers() -> None:
    samples = TensorSamples((10,) * 8, np.zeros((1, 8), dtype=np.int64), np.ones(1))
    with pytest.raises(TooLarge, match=r"TNCP .* needs 4\.5 GiB"):
        tncp(samples, 0, CORRECTED)
