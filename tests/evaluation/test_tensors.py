import numpy as np
import pytest

from demosaic_ntc.errors import TooLarge
from evaluation.methods.tensors import RankOneSum, TensorSamples, average_cells


def test_entries_agree_with_the_dense_tensor() -> None:
    tensor = RankOneSum(
        np.array([2.0, 1.0]),
        (np.array([[1.0, 0.0], [1.0, 3.0]]), np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])),
    )
    np.testing.assert_array_equal(tensor.dense(), [[2.0, 3.0, 1.0], [0.0, 3.0, 3.0]])
    np.testing.assert_array_equal(tensor.at(np.array([[0, 1], [1, 0], [1, 2]])), [3.0, 0.0, 3.0])


def test_cells_observed_twice_hold_their_mean() -> None:
    samples = TensorSamples((2, 2), np.array([[0, 1], [0, 1], [1, 0]]), np.array([1.0, 3.0, 5.0]))
    known, is_known = average_cells(samples)
    np.testing.assert_array_equal(known, [[0.0, 2.0], [5.0, 0.0]])
    np.testing.assert_array_equal(is_known, [[False, True], [True, False]])


def test_a_dense_tensor_beyond_memory_is_refused_with_the_numbers() -> None:
    tensor = RankOneSum(np.ones(1), tuple(np.ones((1, 1000)) for _ in range(3)))
    with pytest.raises(TooLarge, match=r"1000 × 1000 × 1000 entries needs 7\.5 GiB of the 2\.0 GiB"):
        tensor.dense()
