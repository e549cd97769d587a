"""Prediction by a Gaussian, step by step and as a whole, against conditioning by numpy's solver."""

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Float32, Float64
from demosaic_ntc.engine.kernels.covariance import (
    Gaussian,
    add_shape,
    centre,
    empty_gaussian,
    model_covariance,
    set_products,
)
from demosaic_ntc.engine.kernels.gather import PatchGroup, note_whole
from demosaic_ntc.engine.kernels.gaussian import (
    _eliminate,
    _expect,
    _find_patterns,
    _lay_out,
    _list_members,
    _list_shown,
    _mean_noise,
    predict_by_gaussian,
)
from demosaic_ntc.engine.kernels.group_mean import _take_off_explained, add_to_patterns, lay_out_sum
from tests.engine.kernels.drawn import held_back, random_group, rows, shown_in

SHAPES = [(1, 9), (3, 4), (3, 9), (4, 4), (5, 3)]  # channels and pixels; 9, 12, 27, 16 and 15 entries
STRENGTH, FLOOR = 2.5, 1e-4
LEAST = 1e-4
NOISE: Float32 = np.linspace(1e-5, 2e-2, 20, dtype=np.float32).reshape(5, 4)  # (channels, levels)


def prior_of(entries: int) -> Float32:
    """Draw a matrix as shapes of covariances are: symmetric, positive, about 1 on the diagonal."""
    waves = np.random.default_rng(entries).normal(size=(entries, 2 * entries))
    return (waves @ waves.T / (2 * entries)).astype(np.float32)


def covariance_of(data: Float64, prior: Float32) -> Float64:
    """Return (Σ z zᵀ + κ t Q) / (K + κ) + ε² I."""
    z = data - data.mean(axis=0)
    drawn = STRENGTH * (z**2).mean() * prior.astype(np.float64)
    covariance: Float64 = (z.T @ z + drawn) / (len(data) + STRENGTH) + FLOOR * np.eye(len(prior))
    return covariance


def modelled(group: PatchGroup, channels: int) -> tuple[Gaussian, Float64, int]:
    """Return the model of a group up to its covariance, the covariance by numpy, and the entries."""
    entries = channels * group.known.shape[1]
    prior = prior_of(entries)
    model = empty_gaussian(len(group.data), len(group.fit), prior, len(group.known))
    model_covariance(group.data, entries, STRENGTH, FLOOR, model)
    return model, covariance_of(rows(group.data, entries), prior), entries


@pytest.mark.parametrize(("channels", "pixels"), SHAPES)
def test_patches_are_centred_and_scaled(channels: int, pixels: int) -> None:
    group, entries = random_group(0, 7, 2, pixels, channels), channels * pixels
    model, data = empty_gaussian(7, 2, prior_of(entries), 2), rows(group.data, entries)
    total = centre(group.data, 0.25, model)
    assert total == pytest.approx(0.25 * ((data - data.mean(axis=0)) ** 2).sum(), rel=1e-4)
    assert model.mean[0, :entries] == pytest.approx(data.mean(axis=0), abs=1e-6)
    assert model.centred[:, :entries] == pytest.approx(0.5 * (data - data.mean(axis=0)), abs=1e-6)
    assert not model.centred[:, entries:].any()


@pytest.mark.parametrize(("channels", "pixels"), SHAPES)
def test_products_are_those_of_centred_entries(channels: int, pixels: int) -> None:
    group, entries = random_group(1, 6, 2, pixels, channels), channels * pixels
    prior = prior_of(entries)
    model, data = empty_gaussian(6, 2, prior, 2), rows(group.data, entries)
    centre(group.data, 1.0, model)
    set_products(model.prior, np.float32(0.25), entries, model)
    z = data - data.mean(axis=0)
    assert model.covariance[:entries, :entries] == pytest.approx(z.T @ z + 0.25 * prior, abs=1e-5)
    assert np.array_equal(model.covariance, model.covariance.T)


@pytest.mark.parametrize(("channels", "pixels"), SHAPES)
def test_the_covariance_has_its_share_of_the_prior_and_is_symmetric(channels: int, pixels: int) -> None:
    model, covariance, entries = modelled(random_group(2, 8, 2, pixels, channels), channels)
    assert model.covariance[:entries, :entries] == pytest.approx(covariance, abs=1e-5)
    assert not model.covariance[entries:, :entries].any()
    assert not model.covariance[:, entries:].any()


def patterned() -> tuple[PatchGroup, Gaussian, int]:
    """Return eight patches, of which five are to be restored and one is whole, with three patterns."""
    group = random_group(0, 8, 5, 2, 3)
    group.known[:] = [[1, 2], [7, 7], [1, 4], [1, 2], [2, 1], [1, 4], [3, 3], [7, 7]]
    note_whole(group, 3)
    model = empty_gaussian(8, 5, prior_of(6), 8)
    return group, model, _find_patterns(group, model)


def test_patches_that_show_the_same_entries_have_a_pattern_in_common() -> None:
    _, model, patterns = patterned()
    assert patterns == 3
    assert model.firsts[:3].tolist() == [0, 2, 4]
    assert model.pattern_of.tolist() == [0, -1, 1, 0, 2, 1, -1, -1]


def test_members_are_listed_pattern_by_pattern() -> None:
    _, model, patterns = patterned()
    _list_members(model, patterns, 5)
    assert model.heads[:4].tolist() == [0, 2, 3, 4]
    assert model.members[:4].tolist() == [0, 3, 2, 4]


def test_what_patches_show_is_added_up_pattern_by_pattern() -> None:
    group, model, patterns = patterned()
    model.sums[:], model.weights[:] = 9.0, 9.0
    add_to_patterns(model, patterns, group.seen)
    seen = group.seen.astype(np.float64)
    assert model.weights[:3].tolist() == [2, 2, 1]
    assert model.sums[:3] == pytest.approx(np.stack([seen[0] + seen[3], seen[2] + seen[5], seen[4]]))


def test_shown_entries_are_listed_channel_by_channel_and_zeros_fill_up_four() -> None:
    shown, flags = np.full(14, 9, np.int64), np.full(9, 9, np.float32)
    assert _list_shown(np.array([0b101, 0b000, 0b110], np.uint8), 3, shown, flags) == 4
    assert shown[:8].tolist() == [0, 5, 6, 8, 0, 0, 0, 0]
    assert flags.tolist() == [1, 0, 0, 0, 0, 1, 1, 0, 1]
    assert _list_shown(np.array([0, 0, 0], np.uint8), 3, shown, flags) == 0
    assert shown[:4].tolist() == [0, 0, 0, 0]
    assert not flags.any()


def test_the_noise_of_what_is_shown_is_a_mean() -> None:
    flags, noise = np.array([0, 1, 0, 1, 1], np.float32), np.array([9, 1, 9, 2, 6], np.float32)
    assert _mean_noise(flags, 3, noise) == 3.0


def listed(model: Gaussian, pattern: int, places: NDArray[np.int64]) -> int:
    """List the entries that a pattern shows, behind those of the pattern before; return its first row."""
    start = int(model.starts[pattern])
    model.shown[start : start + len(places)], model.shown[start + len(places) :] = places, 0
    model.starts[pattern + 1] = start + -(-len(places) // 4) * 4
    return start


@pytest.mark.parametrize("pattern", [0, 1])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 6, 12])
def test_eliminated_rows_are_those_of_the_cholesky_factor(count: int, pattern: int) -> None:
    group = random_group(3, 9, 3, 4, 3)
    model, covariance, entries = modelled(group, 3)
    places = np.sort(np.random.default_rng(count).permutation(entries)[:count])
    listed(model, 0, np.arange(5))
    start = listed(model, pattern, places)
    model.rows[:] = 99.0
    model.sums[pattern], model.weights[pattern] = group.seen[[0, 2, 5, 8]].sum(axis=0), 4.0
    lay_out_sum(model, pattern)
    _lay_out(model, start, count, group.seen, np.array([0, 2]))
    _eliminate(model, pattern, count, 2, group.noise, np.float32(FLOOR))
    noise, width = group.noise[:entries].astype(np.float64), model.covariance.shape[0]
    factor = np.linalg.cholesky(covariance[np.ix_(places, places)] + np.diag(noise[places]))
    expected = np.linalg.solve(factor, covariance[places])
    written = model.rows[start : start + count]
    assert written[:, :entries] == pytest.approx(expected, abs=1e-4)
    assert model.inverses[start : start + count] == pytest.approx(1 / np.diag(factor), rel=1e-3)
    given = rows(group.seen, entries) - rows(group.data, entries).mean(axis=0)
    shares = np.linalg.solve(factor, given[[0, 2]][:, places].T)
    assert written[:, width + 1 : width + 3] == pytest.approx(shares, rel=1e-3, abs=1e-3)
    total = np.linalg.solve(factor, given[[0, 2, 5, 8]][:, places].sum(axis=0))
    assert written[:, width] == pytest.approx(total, rel=1e-3, abs=2e-3)
    remaining = np.diag(covariance) - (expected**2).sum(axis=0)
    assert model.variance[pattern, :entries] == pytest.approx(remaining, abs=1e-5)
    assert (model.rows[:start] == 99.0).all()


def test_rounding_cannot_make_a_pivot_smaller_than_the_floor() -> None:
    model = empty_gaussian(3, 1, prior_of(3), 1)
    model.covariance[:3, :3] = 1.0  # three entries that are one: nothing remains after the first
    model.covariance[1, 1] = model.covariance[2, 2] = 0.5  # nor less, as rounding may have it
    listed(model, 0, np.array([0, 1, 2]))
    model.rows[:, model.covariance.shape[0]] = [1.0, 2.0, 2.0, 0.0, 0.0, 0.0, 0.0]
    _eliminate(model, 0, 3, 1, np.zeros(16, np.float32), np.float32(0.25))
    assert np.isfinite(model.rows[:3]).all()
    assert model.rows[:3, model.covariance.shape[0]] == pytest.approx([1.0, 2.0, 2.0])


def conditioned(
    mean: Float64, covariance: Float64, shown: Flags, noise: Float64, values: Float64
) -> tuple[Float64, Float64]:
    """Return expectation and variance of all entries, given those shown."""
    matrix = covariance[np.ix_(shown, shown)] + np.diag(noise[shown])
    gain = np.linalg.solve(matrix, covariance[shown]).T
    fit = mean + gain @ (values - mean)[shown]
    return fit, np.diag(covariance) - (gain * covariance[:, shown]).sum(axis=1)


@pytest.mark.parametrize("count", [0, 1, 4, 7])
def test_the_expectation_of_a_patch_is_conditioned_on_what_it_shows(count: int) -> None:
    group = random_group(4, 9, 1, 4, 3)
    model, covariance, entries = modelled(group, 3)
    shown = np.isin(np.arange(entries), np.random.default_rng(count).permutation(entries)[:count])
    listed(model, 0, np.flatnonzero(shown))
    _lay_out(model, 0, count, group.data, np.array([0]))
    _eliminate(model, 0, count, 1, group.noise, np.float32(FLOOR))
    model.centre[0] = model.mean[0] + np.float32(0.25)
    _expect(model, 0, 1)
    data, noise = rows(group.data, entries), group.noise[:entries].astype(np.float64)
    fit, _ = conditioned(data.mean(axis=0), covariance, shown, noise, data[0])
    fit += 0.25
    assert model.expected[0, :entries] == pytest.approx(fit, abs=1e-4)


@pytest.mark.parametrize("count", [0, 1, 4, 7])
def test_what_a_pattern_shows_explains_the_rest_of_a_vector_as_far_as_entries_vary_together(
    count: int,
) -> None:
    group = random_group(11, 9, 2, 4, 3)
    model, covariance, entries = modelled(group, 3)
    shown = np.isin(np.arange(entries), np.random.default_rng(count).permutation(entries)[:count])
    first = np.arange(entries) < 3
    values = np.zeros((2, model.covariance.shape[0]), np.float32)
    values[:, :entries] = before = np.random.default_rng(1).normal(size=(2, entries))
    for pattern, own in enumerate((first, shown)):
        listed(model, pattern, np.flatnonzero(own))
        _eliminate(model, pattern, int(own.sum()), 0, group.noise, np.float32(FLOOR))
    _take_off_explained(model, 2, values)
    noise = group.noise[:entries].astype(np.float64)
    for pattern, own in enumerate((first, shown)):
        explained, _ = conditioned(np.zeros(entries), covariance, own, noise, before[pattern])
        assert values[pattern, :entries] == pytest.approx(before[pattern] - explained, abs=2e-4)


def moved_mean(
    mean: Float64, covariance: Float64, shown: Flags, noise: Float64, seen: Float64, correction: float
) -> Float64:
    """Return the mean moved by a times what samples leave of the step of an EM algorithm."""
    zero, move = np.zeros_like(mean), np.zeros_like(mean)
    for y, x in zip(shown, seen, strict=True):
        step = conditioned(zero, covariance, y, noise, x - mean)[0] / len(seen)
        for other in shown:
            left = step - conditioned(zero, covariance, other, noise, step)[0]
            move += correction * left / len(seen)
    return mean + move


def check_predictions(
    group: PatchGroup, channels: int, noise: Float32 = NOISE, correction: float = 0.0
) -> None:
    """Predict all patches of a group and compare each with numpy's solution of its own equations."""
    entries = channels * group.known.shape[1]
    prior = prior_of(entries)
    model = empty_gaussian(len(group.data), len(group.fit), prior, len(group.known))
    note_whole(group, channels)
    levels = noise[:channels]
    predict_by_gaussian(group, model, channels, STRENGTH, FLOOR, levels, LEAST, correction)
    data, seen = rows(group.data, entries), rows(group.seen, entries)
    mean = data.mean(axis=0)
    each = [
        np.interp(part.mean(), np.linspace(0, 1, levels.shape[1]), own) + LEAST
        for part, own in zip(mean.reshape(channels, -1), levels, strict=True)
    ]
    variances = np.repeat(each, group.known.shape[1])
    covariance, shown = covariance_of(data, prior), shown_in(group.known, channels)
    alike = [(shown[: len(group.fit)] == own).all(axis=1).any() and not own.all() for own in shown]
    move = moved_mean(mean, covariance, shown[alike], variances, seen[alike], correction) - mean
    mean = mean + (held_back(move, mean, covariance) if channels == 3 else move)
    for k in range(len(group.fit)):
        if shown[k].all():
            assert np.array_equal(group.fit[k], group.data[k])
            assert not group.error[k].any()
            continue
        fit, variance = conditioned(mean, covariance, shown[k], variances, seen[k])
        missed = ((seen[k] - fit)[shown[k]] ** 2).mean() if shown[k].any() else 0.0
        misfit = max(missed - (variances[shown[k]].mean() - LEAST), 0) if shown[k].any() else 0.0
        assert group.fit[k, :entries] == pytest.approx(fit, abs=2e-4)
        assert group.error[k, :entries] == pytest.approx(variance + misfit, rel=2e-2, abs=1e-6)


@pytest.mark.parametrize(("channels", "pixels"), SHAPES)
def test_predictions_are_conditional_expectations_where_every_patch_shows_other_entries(
    channels: int, pixels: int
) -> None:
    check_predictions(random_group(5, 9, 6, pixels, channels), channels)
    check_predictions(random_group(5, 9, 6, pixels, channels), channels, correction=3.0)


def test_patches_that_share_what_they_show_are_predicted_as_if_alone() -> None:
    group = random_group(6, 10, 8, 4, 3)
    group.known[:] = np.array([[1, 2, 2, 4], [2, 1, 4, 2]] * 5)  # two phases of a mosaic
    check_predictions(group, 3)


def test_samples_of_all_patches_that_show_what_restored_ones_do_move_the_mean() -> None:
    for correction in (0.5, 6.0):
        group = random_group(12, 12, 4, 4, 3)
        group.known[:] = np.array([[1, 2, 2, 4], [2, 1, 4, 2], [2, 4, 1, 2]] * 4)  # three phases
        group.known[2], group.known[5] = 0b111, 0b010  # a whole patch; one whose pattern is not restored
        group.known[4] = group.known[0]  # one phase has more patches than the other
        check_predictions(group, 3, correction=correction)


@pytest.mark.parametrize(("colour", "level"), [(0, 0.5), (2, 0.5), (1, 0.5), (0, 0.02)])
def test_the_mean_moves_less_in_colours_that_vary_more_than_green_unless_that_is_dark(
    colour: int, level: float
) -> None:
    group = random_group(14, 12, 12, 4, 3)
    group.known[:] = np.array([[1, 2, 2, 4], [2, 1, 4, 2], [2, 4, 1, 2]] * 4)
    values = group.data[:, :12].reshape(12, 3, 4)
    values[:, colour] = 0.5 + 4 * (values[:, colour] - 0.5)
    values[:, 1] += level - values[:, 1].mean()
    group.seen[:, :12] = group.data[:, :12]
    check_predictions(group, 3, correction=3.0)


def test_without_a_pattern_nothing_moves_the_mean() -> None:
    group = random_group(13, 5, 3, 4, 3)
    group.known[:] = 0b111
    check_predictions(group, 3, correction=2.0)


def test_noise_makes_patches_follow_their_samples_less() -> None:
    missed = []
    for noise in (1e-6, 1.0):
        group = random_group(7, 10, 2, 4, 3)
        group.known[:] = 0b011
        check_predictions(group, 3, np.full((3, 1), noise, np.float32))
        shown = shown_in(group.known, 3)[0]
        missed.append(np.abs(rows(group.fit, 12) - rows(group.seen, 12)[:2])[:, shown].mean())
    assert missed[0] < 0.2 * missed[1]


def test_whole_patches_stay_and_empty_ones_become_the_mean() -> None:
    group = random_group(8, 9, 4, 4, 3)
    group.known[:] = 0b010
    group.known[1], group.known[2] = 0b111, 0
    check_predictions(group, 3)
    assert group.fit[2, :12] == pytest.approx(rows(group.data, 12).mean(axis=0), abs=1e-5)


def test_room_of_an_earlier_group_leaves_no_trace() -> None:
    model = empty_gaussian(9, 5, prior_of(12), 9)
    fits = []
    for others in ([], [0b111, 0b001], [0b101]):
        group = random_group(9, 9, 5, 4, 3)
        for known in others:
            other = random_group(known, 9, 5, 4, 3)
            other.known[:] = known
            note_whole(other, 3)
            predict_by_gaussian(other, model, 3, STRENGTH, FLOOR, NOISE[:3], LEAST, 4.0)
        note_whole(group, 3)
        predict_by_gaussian(group, model, 3, STRENGTH, FLOOR, NOISE[:3], LEAST, 4.0)
        fits.append((group.fit, group.error))
    for fit, error in fits[1:]:
        assert np.array_equal(fit, fits[0][0])
        assert np.array_equal(error, fits[0][1])


@pytest.mark.parametrize(("channels", "pixels"), SHAPES)
def test_a_shape_is_the_covariance_over_its_mean_variance(channels: int, pixels: int) -> None:
    group, entries = random_group(10, 7, 0, pixels, channels), channels * pixels
    total, unit, least = np.full((entries, entries), 1000, np.int64), 2.0**-20, 0.01
    add_shape(group, empty_gaussian(7, 0, prior_of(entries), 0), least, total, unit)
    z = rows(group.data, entries) - rows(group.data, entries).mean(axis=0)
    shape = z.T @ z / (7 * ((z**2).mean() + least))
    assert np.tril(total - 1000) * unit == pytest.approx(np.tril(shape), abs=1e-4)
    assert (np.triu(total, 1) == np.triu(np.full_like(total, 1000), 1)).all()
