"""Each kernel against a plain transcription of its formula."""

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.demosaicing.interpolation.gaussian_kernels import explain
from demosaic_ntc.demosaicing.interpolation.kernels import (
    filter_diagonally,
    filter_image,
    filter_separably,
    gaussian,
    row_difference,
    shrink_rows,
    steer_difference,
)
from demosaic_ntc.demosaicing.interpolation.regression_kernels import regress_plane, row_estimates

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


def random_image(height: int, width: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).random((height, width), dtype=np.float32) - np.float32(0.5)


def window_sum(image: Doubles, radius: int) -> Doubles:
    padded = np.pad(image, radius)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (2 * radius + 1,) * 2)
    return np.asarray(windows.sum(axis=(2, 3)))


def shifted(image: Doubles, down: int, right: int) -> Doubles:
    return np.roll(image, (-down, -right), axis=(0, 1))


def mean_line(
    r: Doubles, g: Doubles, mask: Doubles, bend_r: Doubles, bend_g: Doubles, radius: int
) -> Doubles:
    """The explained plane of the minimised-Laplacian regression, as the formulas in the literature read."""
    count = window_sum(mask, radius)
    slope = window_sum(bend_r * bend_g * mask, radius) / (window_sum(bend_g**2 * mask, radius) + 1e-11)
    offset = (window_sum(r * mask, radius) - slope * window_sum(g * mask, radius)) / count
    moments = [window_sum(mask * product, radius) / count for product in (g * g, g * r, r * r, g, r)]
    error = slope**2 * moments[0] - 2 * slope * moments[1] + moments[2]
    error += offset**2 + 2 * slope * offset * moments[3] - 2 * offset * moments[4]
    weight = 1 / np.maximum(error, 0.01 / 255**2)
    total = window_sum(weight, radius)
    line = window_sum(weight * slope, radius) * g + window_sum(weight * offset, radius)
    return np.clip(line / total, -0.5, 0.5)


@pytest.mark.parametrize("turn", [1, -1])
@pytest.mark.parametrize("shape", [(7, 9), (3, 2)])
def test_diagonal_filter_is_a_sum_over_diagonal_steps(turn: int, shape: tuple[int, int]) -> None:
    image, taps = random_image(*shape), random_image(1, 7)[0]
    padded, (height, width) = np.pad(image.astype(np.float64), 3), shape
    expected = np.zeros(shape)
    for k, tap in zip(range(-3, 4), taps, strict=True):
        expected += float(tap) * padded[3 + k :, 3 + turn * k :][:height, :width]
    assert filter_diagonally(image, taps, turn) == pytest.approx(expected, abs=1e-6)


def test_separable_filter_is_a_sum_over_shifted_images() -> None:
    image, down, right = random_image(7, 9), gaussian(1, -2, 2), gaussian(2, -1, 1)
    padded = np.pad(image.astype(np.float64), 3)
    expected = np.zeros((7, 9))
    for i, a in zip(range(-2, 3), down, strict=True):
        for j, b in zip(range(-1, 2), right, strict=True):
            expected += float(a) * float(b) * padded[3 + i : 10 + i, 3 + j : 12 + j]
    assert filter_separably(image, down, right) == pytest.approx(expected, abs=1e-6)


def test_image_filter_correlates_without_flipping() -> None:
    image, taps = random_image(6, 6), np.zeros((3, 3), np.float32)
    taps[0, 2] = 2
    assert np.array_equal(filter_image(image, taps)[1:-1, 1:-1], 2 * image[:-2, 2:])


def test_row_difference_of_a_known_row() -> None:
    row = np.array([[0, 4, 8, 0, 4]], np.float32)
    assert row_difference(row, -np.ones_like(row))[0, 2] == -(8 - (-0 + 2 * 4 + 2 * 8 + 2 * 0 - 4) / 4)


def test_shrinking_follows_the_two_variances() -> None:
    d = random_image(1, 41)
    smooth = np.convolve(d[0].astype(np.float64), gaussian(2, -4, 4), mode="same")
    centre = np.s_[16:25]
    spread = 9 * smooth[centre].var() + 1e-7
    noise = ((smooth - d[0])[centre] ** 2).sum() + 1e-7
    estimate, variance = shrink_rows(d)
    assert estimate[0, 20] == pytest.approx(
        (d[0, 20] * spread + smooth[20] * noise) / (spread + noise), abs=1e-6
    )
    assert variance[0, 20] == pytest.approx(spread * noise / (spread + noise), rel=1e-4)


def test_steering_prefers_the_side_without_variation() -> None:
    across, down = np.full((15, 15), 0.3, np.float32), random_image(15, 15)
    assert steer_difference(across, down)[7, 7] == pytest.approx(0.3, abs=1e-3)
    assert steer_difference(down.T.copy(), across.T.copy())[7, 7] == pytest.approx(0.3, abs=1e-3)


def test_row_estimates_follow_the_published_steps() -> None:
    mosaic = random_image(30, 34)
    y = mosaic.astype(np.float64)
    guide = (shifted(y, 0, 1) + shifted(y, 0, -1)) / 2
    bend_r = 2 * y - shifted(y, 0, 2) - shifted(y, 0, -2)
    bend_g = 2 * guide - shifted(guide, 0, 2) - shifted(guide, 0, -2)
    own, other = np.zeros((2, *y.shape))
    for row in (0, 1):
        for column in (0, 1):
            mask = np.zeros(y.shape)
            mask[row::2, column::2] = 1
            line = mean_line(y, np.where(mask > 0, guide, y), mask, bend_r, bend_g, 3)
            own = np.where(mask > 0, line, own)
            other = np.where(shifted(mask, 0, 1) > 0, line, other)
    residual = y - own
    expected = other + (shifted(residual, 0, 1) + shifted(residual, 0, -1)) / 2
    inside = np.s_[10:-10, 11:-11]
    assert row_estimates(mosaic)[inside] == pytest.approx(expected[inside], abs=2e-4)


def test_guided_plane_follows_the_published_steps() -> None:
    samples, guide = random_image(48, 50), random_image(48, 50, seed=1)
    r, g, mask = samples.astype(np.float64), guide.astype(np.float64), np.zeros((48, 50))
    mask[1::2, 0::2] = 1
    around = [(0, 2), (0, -2), (2, 0), (-2, 0)]
    bend_r, bend_g = (4 * plane - sum(shifted(plane, *step) for step in around) for plane in (r, g))
    expected = mean_line(r, g, mask, bend_r, bend_g, 5)
    tentative, residual = regress_plane(samples, guide, 1, 0)
    inside = np.s_[14:-14, 14:-14]
    assert tentative[inside] == pytest.approx(expected[inside], abs=2e-4)
    assert residual[inside] == pytest.approx(((r - expected) * mask)[inside], abs=2e-4)


@pytest.mark.parametrize("prior", [0.0, 1.0])
def test_explaining_in_gaussian_windows_is_ridge_regression(prior: float) -> None:
    samples, guide, taps, ridge = (
        random_image(14, 13),
        random_image(14, 13, seed=1),
        gaussian(1.4, -4, 4),
        1e-2,
    )
    mask = (np.random.default_rng(2).random((14, 13)) < 0.5).astype(np.float32)

    def blur(plane: Doubles) -> Doubles:
        rows = np.apply_along_axis(np.convolve, 1, plane, taps, mode="same")
        return np.asarray(np.apply_along_axis(np.convolve, 0, rows, taps, mode="same"))

    r, g, m = (plane.astype(np.float64) for plane in (samples, guide, mask))
    mean_r, mean_g, gg, rg, rr = (blur(plane * m) / blur(m) for plane in (r, g, g * g, r * g, r * r))
    var_g, cov = gg - mean_g**2, rg - mean_r * mean_g
    slope = (cov + ridge * prior) / (var_g + ridge)
    weight = 1 / np.maximum(slope**2 * var_g - 2 * slope * cov + rr - mean_r**2, 0.01 / 255**2)
    expected = (blur(weight * slope) * g + blur(weight * (mean_r - slope * mean_g))) / blur(weight)
    assert explain(samples, guide, mask, taps, ridge, prior) == pytest.approx(expected, abs=1e-4)
