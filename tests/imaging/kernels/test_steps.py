"""The steps that all passes share, against plain numpy."""

import numpy as np
import pytest

from demosaic_ntc.arrays import Offsets
from demosaic_ntc.imaging.kernels.steps import (
    empty_group,
    gather,
    gather_noise,
    gather_trust,
    mean_misfit,
    note_misfit,
    note_whole,
    padded,
    predict_by_mean,
)
from tests.imaging.kernels.drawn import patch_of, random_bits, random_group, random_planes, rows, shown_in

OFFSETS: Offsets = np.array([[0, 0], [1, -2], [-3, 4], [2, 2], [-1, 0]], np.int8)
ROW, COLUMN = 4, 3
PLACES = [(ROW + int(dy), COLUMN + int(dx)) for dy, dx in OFFSETS]
SHAPES = [(1, 3), (3, 4), (4, 3), (2, 5)]  # channels and pixels across a patch


@pytest.mark.parametrize(("entries", "length"), [(1, 8), (8, 8), (9, 16), (48, 48), (75, 80)])
def test_rows_are_padded_to_whole_steps(entries: int, length: int) -> None:
    assert padded(entries) == length


@pytest.mark.parametrize(("channels", "size"), SHAPES)
def test_gathered_patches_are_those_at_their_offsets(channels: int, size: int) -> None:
    planes, known = random_planes(0, (channels, 13, 14)), random_bits(1, channels, (13, 14))
    group, entries = empty_group(len(OFFSETS), 2, size * size, channels), channels * size * size
    gather(planes, known, ROW, COLUMN, OFFSETS, size, group)
    for k, (row, column) in enumerate(PLACES):
        assert np.array_equal(rows(group.data, entries)[k], patch_of(planes, row, column, size))
        assert np.array_equal(group.known[k], known[row : row + size, column : column + size].ravel())
    assert not group.data[:, entries:].any()


@pytest.mark.parametrize(("channels", "size"), SHAPES)
def test_gathered_noise_is_the_variance_at_each_entry_and_the_least_besides(channels: int, size: int) -> None:
    variance = random_planes(2, (channels, 13, 14))
    group, entries = empty_group(len(OFFSETS), 3, size * size, channels), channels * size * size
    gather_noise(variance, ROW, COLUMN, OFFSETS, size, 0.25, group)
    for k, (row, column) in enumerate(PLACES[:3]):
        assert group.noise[k, :entries] == pytest.approx(patch_of(variance, row, column, size) + 0.25)
    assert not group.noise[:, entries:].any()


@pytest.mark.parametrize(("channels", "size"), SHAPES)
def test_trust_is_full_where_known_and_fades_with_depth_elsewhere(channels: int, size: int) -> None:
    planes, known = random_planes(0, (channels, 13, 14)), random_bits(1, channels, (13, 14))
    depth = np.random.default_rng(3).integers(0, 6, (13, 14)).astype(np.uint8)
    fading = np.array([0.9, 0.7, 0.5, 0.3, 0.2, 0.1], np.float32)
    group, entries = empty_group(len(OFFSETS), 1, size * size, channels), channels * size * size
    gather(planes, known, ROW, COLUMN, OFFSETS, size, group)
    gather_trust(depth, fading, ROW, COLUMN, OFFSETS, size, channels, group)
    shown = shown_in(group.known, channels)
    for k, (row, column) in enumerate(PLACES):
        faded = np.tile(fading[depth[row : row + size, column : column + size].ravel()], channels)
        assert np.array_equal(group.trust[k, :entries], np.where(shown[k], np.float32(1), faded))


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_patches_are_whole_when_every_channel_of_every_pixel_is_known(channels: int) -> None:
    group, everything = empty_group(4, 3, 5, channels), (1 << channels) - 1
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


@pytest.mark.parametrize(("channels", "pixels", "completed"), [(1, 9, 3), (3, 4, 2), (4, 3, 1)])
def test_what_a_prediction_leaves_is_measured_at_known_entries_of_the_first_patches(
    channels: int, pixels: int, completed: int
) -> None:
    group, entries = random_group(6, 5, 4, pixels, channels), channels * pixels
    shown = shown_in(group.known[:completed], channels)
    misses = (rows(group.data, entries)[:completed] - rows(group.fit, entries)[:completed]) ** 2
    expected = misses[shown].sum() / np.where(shown, 1.0, 0.2).sum()
    assert mean_misfit(group, channels, completed, 0.2) == pytest.approx(expected, rel=1e-4)
