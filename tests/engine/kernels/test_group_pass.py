"""A pass over groups as a whole: what every patch says, and where it is added."""

from typing import Any

import numpy as np
import pytest

from demosaic_ntc.arrays import Bits, Float32, Float64, Offsets, Places, Planes, Sums
from demosaic_ntc.engine.kernels.aggregation import SPREAD_UNIT
from demosaic_ntc.engine.kernels.group_pass import (
    GAUSSIAN,
    LEAST_SPREAD,
    MEAN,
    SHAPE_UNIT,
    KernelImage,
    Pass,
    add_shapes,
    restore_groups,
)
from demosaic_ntc.engine.kernels.products import LEAST_WEIGHT
from tests.engine.kernels.drawn import held_back, patch_of, random_bits, random_planes, said_in, shown_in

SIZE, HEIGHT, WIDTH = 3, 12, 14
OFFSETS: Offsets = np.array([[0, 0], [3, 0], [0, 4], [4, 4], [6, 1], [6, 7], [0, 8]], np.int8)  # no overlaps
EXACT: Planes = np.zeros((0, 0, 0), np.float32)
FADING = np.array([1.0, 0.6, 0.3], np.float32)
PREDICT = Pass(
    predictor=GAUSSIAN,
    restored=4,
    strength=3.0,
    floor=1e-3,
    correction=0.0,
    noise=1e-4,
    least=1e-4,
)
AT = (2, 1)
SHARE = 0.5  # of the correction
REFERENCE: Places = np.array([AT], np.int64)


def picture_of(seed: int, channels: int, noise: float = 0.0) -> KernelImage:
    planes = random_planes(seed, (channels, HEIGHT, WIDTH))
    known = random_bits(seed + 1, channels, (HEIGHT, WIDTH))
    depth = np.random.default_rng(seed + 2).integers(0, 3, (HEIGHT, WIDTH)).astype(np.uint8)
    levels = np.linspace(0, noise, 3 * channels, dtype=np.float32).reshape(channels, 3)
    measured = planes + 0.05 * random_planes(seed + 3, planes.shape) if noise else EXACT
    return KernelImage(planes, known, depth, measured, levels)


def prior_of(channels: int) -> Float32:
    waves = np.random.default_rng(channels).normal(size=(channels * SIZE**2, 60))
    return (waves @ waves.T / 60).astype(np.float32)


def restored(
    picture: KernelImage, settings: Pass, errors: bool = False, top: int = 0, at: Places = REFERENCE
) -> Sums:
    """Restore the groups of references, all with the same offsets; return their sums."""
    channels = len(picture.planes)
    sums = np.zeros((3 if errors else 1, channels, HEIGHT - top, WIDTH), np.int64)
    found = np.repeat(OFFSETS[None], len(at), axis=0)
    shares = np.full(len(at), SHARE, np.float32)
    restore_groups(picture, at, found, SIZE, settings, FADING, prior_of(channels), top, sums, shares)
    return sums


def patches_of(planes: Any, count: int = len(OFFSETS)) -> Float64:
    places = [(AT[0] + int(dy), AT[1] + int(dx)) for dy, dx in OFFSETS[:count]]
    return np.stack([patch_of(planes, row, column, SIZE) for row, column in places])


def shown_of(known: Bits, channels: int) -> Any:
    return shown_in(patches_of(known[None]).astype(np.uint8), channels)


def predicted(picture: KernelImage, settings: Pass) -> tuple[Float64, Float64]:
    """Return the expectation of every restored patch and the expected squared error of its entries."""
    data, channels = patches_of(picture.planes), len(picture.planes)
    shown, count = shown_of(picture.known, channels), settings.restored
    if settings.predictor == MEAN:
        depth = np.tile(patches_of(picture.depth[None]).astype(int), channels)
        trust = np.where(shown, 1.0, FADING[depth])
        mean = (trust * data).sum(axis=0) / trust.sum(axis=0)
        misfit = (trust * (data - mean) ** 2).sum(axis=1) / trust.sum(axis=1)
        return np.tile(mean, (count, 1)), np.repeat(misfit[:count, None], data.shape[1], axis=1)
    mean, z = data.mean(axis=0), data - data.mean(axis=0)
    drawn = settings.strength * (z**2).mean() * prior_of(channels).astype(np.float64)
    covariance = (z.T @ z + drawn) / (len(data) + settings.strength) + settings.floor * np.eye(len(mean))
    seen = patches_of(picture.measured) if picture.measured.size else data
    levels = [
        np.interp(part.mean(), [0, 0.5, 1], own)
        for part, own in zip(mean.reshape(channels, -1), picture.noise, strict=True)
    ]
    noise = settings.noise + np.repeat(levels, SIZE**2)
    gains = [
        np.linalg.solve(covariance[np.ix_(y, y)] + np.diag(noise[y]), covariance[y]).T for y in shown[:count]
    ]
    move = moved(gains, mean, shown[:count], seen, SHARE * settings.correction)
    mean = mean + (held_back(move, mean, covariance) if channels == 3 else move)
    fit, error = np.empty_like(data[:count]), np.empty_like(data[:count])
    for k, gain in enumerate(gains):
        y = shown[k]
        fit[k] = mean + gain @ (seen[k] - mean)[y]
        variance = np.diag(covariance) - (gain * covariance[:, y]).sum(axis=1)
        misfit = ((seen[k] - fit[k])[y] ** 2).mean() - (noise[y].mean() - settings.noise)
        error[k] = variance + max(misfit, 0)
    return fit, error


def moved(gains: list[Float64], mean: Float64, shown: Any, seen: Float64, correction: float) -> Float64:
    """Return how far samples move the mean; no two patches show the same entries."""
    steps = [gain @ (own - mean)[y] for gain, y, own in zip(gains, shown, seen, strict=False)]
    step = np.mean(steps, axis=0)
    left = [step - gain @ step[y] for gain, y in zip(gains, shown, strict=True)]
    return correction * np.asarray(np.mean(left, axis=0))


def check_said(picture: KernelImage, settings: Pass, sums: Sums, top: int = 0) -> None:
    """Compare the sums with what numpy says about every patch of the group, and elsewhere with nothing."""
    fit, error = predicted(picture, settings)
    weights = np.maximum(1 / (error + settings.least), LEAST_WEIGHT)
    left = sums.copy()
    for k, (dy, dx) in enumerate(OFFSETS[: settings.restored]):
        here = np.s_[:, :, AT[0] + dy - top : AT[0] + dy - top + SIZE, AT[1] + dx : AT[1] + dx + SIZE]
        mass, value = (part.ravel() for part in said_in(sums[:1][here]))
        assert mass == pytest.approx(weights[k], rel=3e-2, abs=1)
        assert (np.abs(value - mass * fit[k]) < 0.04 + 1e-3 * mass).all()
        left[here] = 0
    assert not left.any()


@pytest.mark.parametrize("predictor", [GAUSSIAN, MEAN])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_a_group_says_what_its_predictor_expects_weighted_by_its_error(channels: int, predictor: int) -> None:
    picture, settings = picture_of(10 + channels, channels), PREDICT._replace(predictor=predictor)
    check_said(picture, settings, restored(picture, settings))


def test_noisy_samples_are_heeded_as_far_as_their_level_allows() -> None:
    picture = picture_of(20, 3, 0.02)
    sums = restored(picture, PREDICT)
    check_said(picture, PREDICT, sums)


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_samples_move_the_mean_by_a_share_of_the_correction(noise: float) -> None:
    picture, settings = picture_of(30, 3, noise), PREDICT._replace(correction=3.0)
    sums = restored(picture, settings)
    check_said(picture, settings, sums)
    assert not np.array_equal(sums, restored(picture, PREDICT))


def test_sums_may_begin_further_down() -> None:
    picture = picture_of(21, 3)
    sums = restored(picture, PREDICT, errors=True, top=2)
    check_said(picture, PREDICT, sums, top=2)
    whole = restored(picture, PREDICT, errors=True)
    assert np.array_equal(whole[:, :, 2:], sums)


def test_no_more_patches_are_restored_than_there_are() -> None:
    picture, settings = picture_of(22, 1), PREDICT._replace(restored=99)
    sums = restored(picture, settings)
    check_said(picture, settings._replace(restored=len(OFFSETS)), sums)


def test_patches_known_in_all_entries_say_nothing() -> None:
    picture = picture_of(23, 3)
    picture.known[2:5, 5:8] = 0b111  # the third patch
    sums = restored(picture, PREDICT)
    assert not sums[..., 2:5, 5:8].any()
    sums[..., 2:5, 5:8] = 1
    assert (said_in(sums[0])[0] > 0).sum() == 3 * 4 * SIZE**2


def test_the_spread_is_added_beside_the_means() -> None:
    picture = picture_of(24, 3)
    sums = restored(picture, PREDICT, errors=True)
    plain = restored(picture, PREDICT)
    assert np.array_equal(sums[:1], plain)
    mass, value = said_in(plain[0])
    assert np.array_equal(sums[1], (mass > 0).astype(np.int64))
    said = np.divide(value, mass, where=mass > 0, out=picture.planes.astype(float))
    squares = mass * (said - picture.planes) ** 2
    assert sums[2] / SPREAD_UNIT == pytest.approx(squares, rel=5e-2, abs=1e-1)


def test_groups_add_up() -> None:
    picture = picture_of(25, 3)
    both = restored(picture, PREDICT, errors=True, at=np.array([[2, 1], [0, 3]]))
    apart = [restored(picture, PREDICT, errors=True, at=np.array([at])) for at in ([2, 1], [0, 3])]
    assert np.array_equal(both, apart[0] + apart[1])


def test_every_reference_has_a_group_of_its_own() -> None:
    picture, settings = picture_of(29, 3), PREDICT._replace(correction=2.0)
    references, found = np.array([AT, AT]), np.stack([OFFSETS, OFFSETS])
    found[1, 1:] = found[1, :0:-1]  # the same patches in another order: others are restored
    said = []
    for these in (slice(0, 2), slice(0, 1), slice(1, 2)):
        sums = np.zeros((1, 3, HEIGHT, WIDTH), np.int64)
        shares = np.array([1.0, 0.5], np.float32)[these]
        at, own = references[these], found[these]
        restore_groups(picture, at, own, SIZE, settings, FADING, prior_of(3), 0, sums, shares)
        said.append(sums)
    assert np.array_equal(said[0], said[1] + said[2])
    assert not np.array_equal(said[1] != 0, said[2] != 0)


@pytest.mark.parametrize("channels", [1, 3])
def test_shapes_of_groups_add_up_below_the_diagonal(channels: int) -> None:
    picture, entries = picture_of(28, channels), channels * SIZE**2
    total = np.zeros((entries, entries), np.int64)
    add_shapes(picture, np.array([AT, AT]), np.stack([OFFSETS, OFFSETS]), SIZE, total)
    z = patches_of(picture.planes) - patches_of(picture.planes).mean(axis=0)
    shape = z.T @ z / (len(z) * ((z**2).mean() + LEAST_SPREAD))
    assert total * SHAPE_UNIT == pytest.approx(2 * np.tril(shape), abs=1e-4)
