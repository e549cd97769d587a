"""Adding up what groups say, and the estimate that comes of it, against plain numpy."""

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float64
from demosaic_ntc.engine.kernels.aggregation import (
    SPREAD_UNIT,
    add_patch,
    add_spread,
    enforce_data_consistency,
    relax_update,
    write_errors,
    write_means,
)
from demosaic_ntc.engine.kernels.gather import PatchGroup
from demosaic_ntc.engine.kernels.products import LEAST_WEIGHT, VALUE_UNIT, WEIGHT_BITS
from tests.engine.kernels.drawn import random_bits, random_group, random_planes, said_in

FLOOR = 1e-3


def weights_of(error: Float64) -> Float64:
    """Return 1 / error in whole units, cut off, not below the least."""
    return np.floor(np.maximum(1 / (error + FLOOR), LEAST_WEIGHT))


def packed(weights: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return sums of weights and of weighted values, in units, as one."""
    return (values << WEIGHT_BITS) + weights


def random_errors(seed: int, channels: int) -> PatchGroup:
    """Draw a group of three patches of 3×3 pixels, with errors."""
    group = random_group(seed, 4, 3, 9, channels)
    group.error[:] = np.random.default_rng(seed).uniform(0, 0.05, group.error.shape)
    return group


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_a_patch_is_added_at_its_place_with_its_weights(channels: int) -> None:
    group, units = random_errors(0, channels), np.zeros(48, np.int64)
    sums = np.full((1, channels, 8, 9), packed(np.array(5), np.array(-7)), np.int64)
    before = sums.copy()
    add_patch(group, 1, FLOOR, 2, 4, 3, units, sums)
    entries, here = channels * 9, np.s_[:, :, 2:5, 4:7]
    mass, value = said_in(sums[here] - before[here])
    weights = weights_of(group.error[1, :entries].astype(np.float64)).reshape(channels, 3, 3)
    assert np.abs(mass[0] - weights).max() <= 1  # cut off after rounding
    fit = group.fit[1, :entries].reshape(channels, 3, 3)
    assert np.abs(value[0] - mass[0] * fit).max() <= 0.5 / VALUE_UNIT + 1e-4
    assert np.array_equal(units[:entries], (sums - before)[here].ravel())
    sums[here] = before[here]
    assert np.array_equal(sums, before)


def test_sums_of_negative_values_keep_their_weights() -> None:
    group, sums = random_errors(0, 1), np.zeros((1, 1, 3, 3), np.int64)
    group.fit[0], group.fit[1] = -0.5, 0.25
    group.error[:] = 0.01 - FLOOR
    for k in (0, 0, 1):
        add_patch(group, k, FLOOR, 0, 0, 3, np.zeros(16, np.int64), sums)
    mass, value = said_in(sums)
    assert mass == pytest.approx(300, abs=3)
    assert value / mass == pytest.approx(-0.25, abs=0.01)


@pytest.mark.parametrize("channels", [1, 3])
def test_the_spread_counts_patches_and_adds_weighted_squares(channels: int) -> None:
    group, estimate = random_errors(1, channels), random_planes(1, (channels, 12, 9))
    weights = np.arange(1, 41)
    sums = np.full((3, channels, 8, 9), 5, np.int64)
    add_spread(group, 2, estimate, 6, 4, 3, 4, packed(weights, weights - 20), sums)
    here = np.s_[:, 2:5, 4:7]
    fit = group.fit[2, : channels * 9].reshape(channels, 3, 3).astype(np.float64)
    squares = weights[: channels * 9].reshape(channels, 3, 3) * (fit - estimate[:, 6:9, 4:7]) ** 2
    assert (sums[1][here] == 6).all()
    assert (sums[2][here] - 5) / SPREAD_UNIT == pytest.approx(squares, rel=1e-4, abs=1e-6)
    assert (sums[0] == 5).all()
    sums[1][here] = sums[2][here] = 5
    assert (sums == 5).all()


def test_means_are_weighted_and_stand_only_where_something_was_added() -> None:
    weights, values = np.array([[8, 16, 0], [0, 3, 1]]), np.array([[64, 64, 0], [0, 16, -8]])
    sums = packed(weights, values).reshape(1, 2, 1, 3)
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
    said = packed(weight.sum(axis=0), -3 * weight.sum(axis=0))
    sums = np.stack([said, np.full((2, 3, 4), 5), squares.astype(np.int64)])
    sums[:, 1, 1] = 0
    expected, spread = np.full((2, 3, 4), 7, np.float32), np.full((2, 3, 4), 7, np.float32)
    write_errors(sums, estimate, mean.astype(np.float32), expected, spread)
    assert (expected[1, 1] == 7).all()
    assert (spread[1, 1] == 7).all()
    harmonic = 1 / weight.mean(axis=0)
    variance = (weight * (value - mean) ** 2).sum(axis=0) / weight.sum(axis=0)
    spoken = np.ones((2, 3), np.bool_)
    spoken[1, 1] = False
    assert expected[spoken] == pytest.approx(harmonic[spoken], rel=1e-5)
    assert spread[spoken] == pytest.approx(variance[spoken], abs=1e-5)


def test_rounding_makes_no_spread_negative() -> None:
    sums = np.array([packed(np.array(1), np.array(8)), 1, 0], np.int64).reshape(3, 1, 1, 1)
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
    relax_update(estimate, after, known, wanted, low.astype(np.float32), high.astype(np.float32), relaxed)
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
    enforce_data_consistency(after, known, wanted, measured, noise, 1e-4)
    samples = np.broadcast_to(measured, (3, 5, 6))
    shown = np.stack([(known >> channel) & 1 for channel in range(3)]).astype(np.bool_) & wanted
    assert np.array_equal(after[~shown], estimate[~shown])
    assert np.array_equal(after[0][shown[0]], samples[0][shown[0]])
    variance = 1e-4 + 2e-4 * estimate[1]
    expected = samples[1] + variance / (variance + 1e-4) * (estimate[1] - samples[1])
    assert after[1][shown[1]] == pytest.approx(expected[shown[1]], abs=1e-5)
    assert after[2] == pytest.approx(estimate[2], abs=1e-5)
