import numpy as np

from evaluation.methods.tensors import TensorSamples, constant_mean, mean_elsewhere

SAMPLES = TensorSamples((2, 2), np.array([[0, 0], [0, 0], [1, 1]]), np.array([1.0, 1.0, 4.0]))


def test_constant_mean_counts_every_sample() -> None:
    np.testing.assert_array_equal(constant_mean(SAMPLES).dense(), [[2.0, 2.0], [2.0, 2.0]])


def test_mean_elsewhere_counts_every_observed_cell_once() -> None:
    np.testing.assert_array_equal(mean_elsewhere(SAMPLES), [[1.0, 2.5], [2.5, 4.0]])
