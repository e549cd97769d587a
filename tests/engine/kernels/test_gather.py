"""The steps that all passes share, against plain numpy."""

import numpy as np
import pytest

from demosaic_ntc.arrays import Offsets
from demosaic_ntc.engine.kernels.gather import (
    empty_group,
    gather,
    gather_measured,
    gather_trust,
    noise_at,
    note_misfit,
    note_noise,
    note_whole,
    pad_length,
    predict_by_mean,
)
from tests.engine.kernels.drawn import patch_of, random_bits, random_group, random_planes, rows, shown_in

OFFSETS: Offsets = np.array([[0, 0], [1, -2], [-3, 4], [2, 2], [-1, 0]], np.int8)
ROW, COLUMN = 4, 3
PLACES = [(ROW + int(dy), COLUMN + int(dx)) for dy, dx in OFFSETS]
SHAPES = [(1, 3), (3, 4), (4, 3), (2, 5)]  # channels and pixels across a patch


@pytest.mark.parametrize(("entries", "length"), [(1, 16), (16, 16), (17, 32), (48, 48), (75, 80)])
def test_rows_are_padded_to_whole_steps(entries: int, length: int) -> None:
    assert pad_length(entries) == length


@pytest.mark.parametrize(("channels", "size"), SHAPES)
def test_gathered_patches_are_those_at_their_offsets(channels: int, size: int) -> None:
    planes, known = random_planes(0, (channels, 13, 14)), random_bits(1, channels, (13, 14))
    group, entries = empty_group(len(OFFSETS), 1, 3, size * size, channels, False), channels * size * size
    gather(planes, known, ROW, COLUMN, OFFSETS, size, group)
    for k, (row, column) in enumerate(PLACES):
        assert np.array_equal(rows(group.data, entries)[k], patch_of(planes, row, column, size))
    assert len(group.known) == 3
    for k, (row, column) in enumerate(PLACES[:3]):
        assert np.array_equal(group.known[k], known[row : row + size, column : column + size].ravel())
    assert not group.data[:, entries:].any()


def test_exact_patches_are_seen_as_they_are() -> None:
    group = empty_group(4, 2, 3, 5, 3, False)
    group.data[:] = np.random.default_rng(0).random(group.data.shape)
    assert np.array_equal(group.seen, group.data[:3])


@pytest.mark.parametrize("planes", [1, None])
@pytest.mark.parametrize(("channels", "size"), SHAPES)
def test_measured_patches_are_those_at_their_offsets(channels: int, size: int, planes: int | None) -> None:
    measured = random_planes(2, (planes or channels, 13, 14))
    group, entries = empty_group(len(OFFSETS), 2, 3, size * size, channels, True), channels * size * size
    gather_measured(measured, ROW, COLUMN, OFFSETS, size, channels, group)
    every = np.broadcast_to(measured, (channels, 13, 14))
    for k, (row, column) in enumerate(PLACES[:3]):
        assert np.array_equal(rows(group.seen, entries)[k], patch_of(every, row, column, size))
    assert not group.seen[:, entries:].any()
    assert not group.data.any()


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_noise_between_two_levels_lies_between_theirs(steps: int) -> None:
    noise = random_planes(3, (1, 1, steps))[0, 0]
    for level in (-0.5, 0.0, 0.1, 0.5, 0.77, 1.0, 1.5):
        expected = np.interp(level, np.linspace(0, 1, steps), noise) if steps > 1 else noise[0]
        assert noise_at(noise, np.float32(level)) == pytest.approx(expected, rel=1e-5)


def test_the_noise_of_a_channel_is_that_at_its_mean_level_and_the_least_besides() -> None:
    group, noise = empty_group(4, 2, 2, 5, 3, True), random_planes(4, (1, 3, 6))[0]
    mean = np.zeros(16, np.float32)
    mean[:15] = random_planes(5, (1, 1, 15))[0, 0]
    note_noise(mean, noise, 0.25, 3, 5, group)
    for channel, levels in enumerate(noise):
        place = slice(5 * channel, 5 * channel + 5)
        expected = np.interp(mean[place].mean(), np.linspace(0, 1, 6), levels) + 0.25
        assert group.noise[place] == pytest.approx(expected, rel=1e-5)
    assert group.noise[15] == 0


@pytest.mark.parametrize(("channels", "size"), SHAPES)
def test_trust_is_full_where_known_and_fades_with_depth_elsewhere(channels: int, size: int) -> None:
    planes, known = random_planes(0, (channels, 13, 14)), random_bits(1, channels, (13, 14))
    depth = np.random.default_rng(3).integers(0, 6, (13, 14)).astype(np.uint8)
    fading = np.array([0.9, 0.7, 0.5, 0.3, 0.2, 0.1], np.float32)
    told = len(OFFSETS)
    group, entries = empty_group(told, 1, told, size * size, channels, False), channels * size * size
    gather(planes, known, ROW, COLUMN, OFFSETS, size, group)
    gather_trust(depth, fading, ROW, COLUMN, OFFSETS, size, channels, group)
    shown = shown_in(group.known, channels)
    for k, (row, column) in enumerate(PLACES):
        faded = np.tile(fading[depth[row : row + size, column : column + size].ravel()], channels)
        assert np.array_equal(group.trust[k, :entries], np.where(shown[k], np.float32(1), faded))


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_patches_are_whole_when_every_channel_of_every_pixel_is_known(channels: int) -> None:
    group, everything = empty_group(4, 3, 3, 5, channels, False), (1 << channels) - 1
    group.known[:] = everything
    group.known[0, 4] = everything - 1  # the first channel of the last pixel
    group.known[2, 0] = everything >> 1  # the last channel of the first pixel
    note_whole(group, channels)
    assert group.whole.tolist() == [False, True, False]


@pytest.mark.parametrize(("channels", "pixels"), [(1, 9), (3, 4), (4, 2)])
def test_the_mean_and_its_misfit_are_weighted_by_trust(channels: int, pixels: int) -> None:
    group, entries = random_group(4, 6, 3, pixels, channels), channels * pixels
    predict_by_mean(group, channels)
    data, trust = rows(group.data, entries), rows(group.trust, entries)
    mean = (trust * data).sum(axis=0) / trust.sum(axis=0)
    misfit = (trust * (data - mean) ** 2).sum(axis=1) / trust.sum(axis=1)
    for k in range(3):
        assert group.fit[k, :entries] == pytest.approx(mean, abs=1e-6)
        assert group.error[k] == pytest.approx(misfit[k], rel=1e-4)


def test_the_misfit_is_that_of_one_patch_alone_and_of_all_its_entries() -> None:
    group = random_group(5, 4, 3, 3, 3)
    group.error[:] = 7.0
    note_misfit(group, 1, 9)
    data, fit, trust = (rows(part, 9)[1] for part in (group.data, group.fit, group.trust))
    assert group.error[1] == pytest.approx((trust * (data - fit) ** 2).sum() / trust.sum(), rel=1e-4)
    assert (group.error[[0, 2]] == 7.0).all()
