import numpy as np
import pytest

from evaluation.data.synthetic import draw_samples, random_truth
from evaluation.methods.tensors import constant_mean, nmse


def test_truth_is_a_convex_combination_of_zero_one_tensors() -> None:
    truth = random_truth((4, 5), np.random.default_rng(0))
    assert truth.weights.sum() == pytest.approx(1.0)
    assert (truth.weights >= 0).all()
    assert all(np.isin(factor, (0.0, 1.0)).all() for factor in truth.factors)


def test_samples_are_entries_of_the_truth() -> None:
    generator = np.random.default_rng(0)
    truth = random_truth((4, 5, 6), generator)
    samples = draw_samples(truth, 50, 0.0, generator)
    np.testing.assert_allclose(samples.value, truth.dense()[tuple(samples.index.T)])


def test_noise_never_makes_a_sample_negative() -> None:
    generator = np.random.default_rng(0)
    truth = random_truth((4, 5, 6), generator)
    clean, noisy = draw_samples(truth, 200, 0.0, generator), draw_samples(truth, 200, 0.5, generator)
    assert noisy.value.min() == 0.0
    assert not np.array_equal(noisy.value, clean.value)


def test_the_constant_mean_has_the_error_that_the_paper_states_for_it() -> None:
    errors = []
    for seed in range(60):
        generator = np.random.default_rng(seed)
        truth = random_truth((60, 60, 60), generator)
        errors.append(nmse(constant_mean(draw_samples(truth, 500, 0.0, generator)), truth))
    assert np.mean(errors) == pytest.approx(0.48, abs=0.02)
