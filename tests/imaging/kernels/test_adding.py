"""Adding up what groups say, and the estimate that comes of it, against plain numpy."""

import numpy as np
import pytest

from demosaic_ntc.arrays import Float64
from demosaic_ntc.imaging.kernels.adding import (
    SPREAD_UNIT,
    VALUE_UNIT,
    WEIGHT_UNIT,
    _weigh,
    add_patch,
    add_spread,
    draw_to_measured,
    take_over,
    write_errors,
    write_means,
)
from demosaic_ntc.imaging.kernels.steps import Group
from tests.imaging.kernels.drawn import random_bits, random_group, random_planes

FLOOR = 1e-3


def weights_of(error: Float64) -> Float64:
    """Return 1 / error in whole units, cut off, not below the least."""
    return np.floor(np.maximum(WEIGHT_UNIT / (error + FLOOR), 16.0))


def test_entries_weigh_the_inverse_of_their_error_in_whole_units() -> None:
    fit = np.array([0.5, -0.25, 1.0, 0.125], np.float32)
    error = np.array([0.0, 0.03, 10.0, 0.001], np.float32)
    weights, values = np.zeros(4, np.int32), np.zeros(4, np.int32)
    _weigh(fit, error, np.float32(FLOOR), weights, values)
    assert np.abs(weights - weights_of(error.astype(np.float64))).max() <= 1  # cut off after rounding
    assert weights[2] == 16
    assert values.tolist() == [int(w * f * VALUE_UNIT) for w, f in zip(weights, fit, strict=True)]


def test_values_far_out_of_range_are_held_so_that_sums_cannot_overflow() -> None:
    fit, error = np.array([1e9, -1e9], np.float32), np.zeros(2, np.float32)
    weights, values = np.zeros(2, np.int32), np.zeros(2, np.int32)
    _weigh(fit, error, np.float32(1e-5), weights, values)
    assert (values / (weights * VALUE_UNIT)).tolist() == [2.0, -2.0]


def random_errors(seed: int, channels: int) -> Group:
    """Draw a group of three patches of 3×3 pixels, with errors."""
    group = random_group(seed, 4, 3, 9, channels)
    group.error[:] = np.random.default_rng(seed).uniform(0, 0.05, group.error.shape)
    return group


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_a_patch_is_added_at_its_place_with_its_weights(channels: int) -> None:
    group, room = random_errors(0, channels), np.zeros((2, 48), np.int32)
    sums = np.full((2, channels, 8, 9), 5, np.int64)
    add_patch(group, 1, FLOOR, 2, 4, 3, room[0], room[1], sums)
    entries = channels * 9
    weights = weights_of(group.error[1, :entries].astype(np.float64)).reshape(channels, 3, 3)
    said = sums[:, :, 2:5, 4:7] - 5
    assert np.abs(said[0] - weights).max() <= 1
    fit = group.fit[1, :entries].reshape(channels, 3, 3)
    assert said[1] / (said[0] * VALUE_UNIT) == pytest.approx(fit, abs=1e-4)
    assert np.array_equal(room[0, :entries], said[0].ravel())
    sums[:, :, 2:5, 4:7] = 5
    assert (sums == 5).all()


@pytest.mark.parametrize("channels", [1, 3])
def test_the_spread_counts_patches_and_adds_weighted_squares(channels: int) -> None:
    group, estimate = random_errors(1, channels), random_planes(1, (channels, 12, 9))
    weights = np.arange(1, 41, dtype=np.int32)
    sums = np.full((4, channels, 8, 9), 5, np.int64)
    add_spread(group, 2, estimate, 6, 4, 3, 4, weights, sums)
    here = np.s_[:, 2:5, 4:7]
    fit = group.fit[2, : channels * 9].reshape(channels, 3, 3).astype(np.float64)
    squares = weights[: channels * 9].reshape(channels, 3, 3) * (fit - estimate[:, 6:9, 4:7]) ** 2
    assert (sums[2][here] == 6).all()
    assert (sums[3][here] - 5) / SPREAD_UNIT == pytest.approx(squares, rel=1e-4, abs=1e-6)
    assert (sums[:2] == 5).all()
    sums[2][here] = sums[3][here] = 5
    assert (sums == 5).all()


def test_means_are_weighted_and_stand_only_where_something_was_added() -> None:
    sums = np.zeros((2, 2, 1, 3), np.int64)
    sums[0, :, 0] = [[8, 16, 0], [0, 3, 1]]
    sums[1, :, 0] = [[4096, 4096, 0], [0, 1024, -512]]
    planes = np.full((2, 1, 3), 0.7, np.float32)
    write_means(sums, planes)
    expected = [[[0.5, 0.25, 0.7]], [[0.7, 1 / 3, -0.5]]]
    assert planes == pytest.approx(np.array(expected), rel=1e-6)


def test_errors_are_the_harmonic_mean_expected_and_the_variance_of_what_was_said() -> None:
    random = np.random.default_rng(2)
    weight, value = random.integers(100, 900, (5, 2, 3, 4)), random.random((5, 2, 3, 4))
    estimate = random.random((2, 3, 4)).astype(np.float32)
    mean = (weight * value).sum(axis=0) / weight.sum(axis=0)
    squares = (weight * (value - estimate) ** 2).sum(axis=0) * SPREAD_UNIT
    sums = np.stack([weight.sum(axis=0), weight.sum(axis=0), np.full((2, 3, 4), 5), squares]).astype(np.int64)
    sums[:, 1, 1] = 0
    expected, spread = np.full((2, 3, 4), 7, np.float32), np.full((2, 3, 4), 7, np.float32)
    write_errors(sums, estimate, mean.astype(np.float32), expected, spread)
    assert (expected[1, 1] == 7).all()
    assert (spread[1, 1] == 7).all()
    harmonic = 1 / (weight / WEIGHT_UNIT).mean(axis=0)
    variance = (weight * (value - mean) ** 2).sum(axis=0) / weight.sum(axis=0)
    said = np.ones((2, 3), np.bool_)
    said[1, 1] = False
    assert expected[said] == pytest.approx(harmonic[said], rel=1e-5)
    assert spread[said] == pytest.approx(variance[said], abs=1e-5)


def test_rounding_makes_no_spread_negative() -> None:
    sums = np.array([8, 8192, 1, 0], np.int64).reshape(4, 1, 1, 1)
    estimate, mean = np.zeros((1, 1, 1), np.float32), np.full((1, 1, 1), 0.5, np.float32)
    expected, spread = np.empty((1, 1, 1), np.float32), np.empty((1, 1, 1), np.float32)
    write_errors(sums, estimate, mean, expected, spread)
    assert (expected.item(), spread.item()) == (1.0, 0.0)


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("relaxed", [1.0, 1.5])
def test_the_next_estimate_goes_beyond_what_is_said_and_keeps_what_is_known(
    relaxed: float, channels: int
) -> None:
    shape = (channels, 6, 7)
    estimate, said, known = random_planes(3, shape), random_planes(4, shape), random_bits(5, channels, (6, 7))
    wanted = np.random.default_rng(6).random((6, 7)) < 0.7
    low, high = np.linspace(0.1, 0.3, channels), np.linspace(0.7, 0.9, channels)
    after = said.copy()
    take_over(estimate, after, known, wanted, low.astype(np.float32), high.astype(np.float32), relaxed)
    for channel in range(channels):
        moved = estimate[channel] + relaxed * (said[channel].astype(np.float64) - estimate[channel])
        held = np.clip(moved, low[channel], high[channel])
        kept = ~wanted | ((known >> channel) & 1).astype(np.bool_)
        assert after[channel] == pytest.approx(np.where(kept, estimate[channel], held), abs=1e-6)
        assert np.array_equal(after[channel][kept], estimate[channel][kept])


@pytest.mark.parametrize("planes", [1, 3])
def test_estimates_are_drawn_to_exact_measurements_and_left_alone_by_noisy_ones(planes: int) -> None:
    estimate, measured = random_planes(7, (3, 5, 6)), random_planes(8, (planes, 5, 6))
    known, noise = random_bits(9, 3, (5, 6)), np.array([[0, 0], [1e-4, 3e-4], [1e6, 1e6]], np.float32)
    after = estimate.copy()
    wanted = np.random.default_rng(10).random((5, 6)) < 0.8
    draw_to_measured(after, known, wanted, measured, noise, 1e-4)
    samples = np.broadcast_to(measured, (3, 5, 6))
    shown = np.stack([(known >> channel) & 1 for channel in range(3)]).astype(np.bool_) & wanted
    assert np.array_equal(after[~shown], estimate[~shown])
    assert np.array_equal(after[0][shown[0]], samples[0][shown[0]])
    variance = 1e-4 + 2e-4 * estimate[1]
    expected = samples[1] + variance / (variance + 1e-4) * (estimate[1] - samples[1])
    assert after[1][shown[1]] == pytest.approx(expected[shown[1]], abs=1e-5)
    assert after[2] == pytest.approx(estimate[2], abs=1e-5)
