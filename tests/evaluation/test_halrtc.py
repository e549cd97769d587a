import numpy as np
import pytest

from demosaic_ntc.errors import TooLarge
from evaluation.data.synthetic import draw_samples, random_truth
from evaluation.methods.low_rank import TUNED, halrtc, silrtc
from evaluation.methods.tensors import RankOneSum, TensorSamples, average_cells, nmse


def test_observed_entries_are_kept() -> None:
    generator = np.random.default_rng(0)
    samples = draw_samples(random_truth((5, 6, 7), generator), 80, 0.0, generator)
    known, is_known = average_cells(samples)
    np.testing.assert_array_equal(halrtc(samples)[is_known], known[is_known])


def test_a_tensor_of_rank_one_is_found_from_half_of_its_entries() -> None:
    generator = np.random.default_rng(1)
    truth = RankOneSum(np.ones(1), tuple(generator.uniform(0.3, 1, (1, size)) for size in (12, 13, 14)))
    samples = draw_samples(truth, 1500, 0.0, generator)
    assert nmse(halrtc(samples), truth) < 1e-4


def test_the_exact_constraint_fits_better_than_the_relaxed_one() -> None:
    generator = np.random.default_rng(0)
    truth = random_truth((10, 10, 10), generator)
    samples = draw_samples(truth, 900, 0.0, generator)
    assert nmse(halrtc(samples), truth) < nmse(silrtc(samples, TUNED), truth)


def test_what_does_not_fit_is_refused_with_the_numbers() -> None:
    samples = TensorSamples((10,) * 8, np.zeros((1, 8), dtype=np.int64), np.ones(1))
    with pytest.raises(TooLarge, match=r"HaLRTC .* needs 7\.5 GiB"):
        halrtc(samples)
