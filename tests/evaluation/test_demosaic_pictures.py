from math import inf, log10

import numpy as np
import pytest

from evaluation.measure.metrics import Bytes, cpsnr, crop_border, eight_bit, likeness


def flat(height: int, width: int, colour: tuple[int, int, int]) -> Bytes:
    return np.full((height, width, 3), colour, dtype=np.uint8)


def test_the_composite_psnr_pools_the_errors_of_all_channels() -> None:
    truth, restored = flat(20, 20, (100, 100, 100)), flat(20, 20, (103, 100, 104))
    result = likeness(restored, truth, crop=0)
    assert result["cpsnr"] == pytest.approx(10 * log10(255**2 / ((9 + 0 + 16) / 3)))
    assert result["psnr_red"] == pytest.approx(10 * log10(255**2 / 9))
    assert result["psnr_green"] == inf
    assert result["psnr_blue"] == pytest.approx(10 * log10(255**2 / 16))
    assert result["nmse"] == pytest.approx(25 / 30_000)


def test_the_crop_leaves_out_each_side() -> None:
    truth, restored = flat(20, 24, (9, 9, 9)), flat(20, 24, (9, 9, 9))
    restored[:2], restored[-2:], restored[:, :2], restored[:, -2:] = 200, 200, 200, 200
    assert crop_border(restored, 2).shape == (16, 20, 3)
    assert likeness(restored, truth, crop=2)["cpsnr"] == inf
    assert likeness(restored, truth, crop=1)["cpsnr"] < 30
    assert cpsnr(restored, truth) < likeness(restored, truth, crop=1)["cpsnr"]


def test_results_are_clipped_and_rounded() -> None:
    restored = eight_bit(np.array([-3.0, 0.4, 0.6, 254.6, 300.0]))
    np.testing.assert_array_equal(restored, [0, 0, 1, 255, 255])


def test_ssim_is_one_for_equal_pictures_and_falls_with_noise() -> None:
    generator = np.random.default_rng(0)
    truth = generator.integers(60, 200, (32, 32, 3)).astype(np.uint8)
    noisy = eight_bit(truth + generator.normal(0, 20, truth.shape))
    assert likeness(truth, truth, crop=0)["ssim"] == pytest.approx(1.0)
    assert 0.5 < likeness(noisy, truth, crop=0)["ssim"] < 0.98


def test_a_black_truth_has_no_normalised_error_unless_something_is_wrong() -> None:
    black, grey = flat(20, 20, (0, 0, 0)), flat(20, 20, (1, 1, 1))
    assert likeness(black, black, crop=0)["nmse"] == 0.0
    assert likeness(grey, black, crop=0)["nmse"] == inf
