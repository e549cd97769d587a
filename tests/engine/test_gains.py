"""Whole runs, judged by what they gain over their own first estimate, and by the errors they expect."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from scipy.stats import spearmanr

from demosaic_ntc import demosaic, inpaint
from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.cfa import Cfa

SAMPLE = Path(__file__).parents[2] / "samples" / "scene.png"


@pytest.fixture(scope="module")
def sample() -> Float32:
    """A part of the sample scene, 96×120, with full scale 1."""
    return np.asarray(Image.open(SAMPLE), np.float32)[40:136, 60:180] / np.float32(255)


def psnr(image: NDArray[np.float32], truth: Float32, where: Flags | None = None) -> float:
    """Return decibels, six pixels of the border left out unless it is said where."""
    if where is None:
        image, truth = image[6:-6, 6:-6], truth[6:-6, 6:-6]
        return float(-10 * np.log10(np.mean((image - truth) ** 2)))
    return float(-10 * np.log10(np.mean((image - truth)[where] ** 2)))


def mosaic_gain(truth: Float32, array: str, quality: Any, method: Any = "gaussian") -> float:
    mosaic = Cfa.from_name(array).sample(truth)
    first = demosaic(mosaic, array, method="blend", white=1.0).image
    done = demosaic(mosaic, array, method=method, quality=quality, white=1.0, threads=1).image
    return psnr(done, truth) - psnr(first, truth)


# Some three quarters of what was measured, in decibels: far beyond what another processor's rounding changes.
@pytest.mark.parametrize(
    ("array", "least"),
    [("RGGB", 3.0), ("BGGR", 2.9), ("GRBG", 3.3), ("GBRG", 3.0), ("XTRANS", 6.0), ("QUAD_RGGB", 4.2)],
)
def test_groups_gain_over_the_first_estimate_of_a_mosaic(array: str, least: float, sample: Float32) -> None:
    assert mosaic_gain(sample, array, "normal") > least


@pytest.mark.parametrize(("quality", "least"), [("fast", 2.2), ("best", 4.2)])
def test_other_qualities_gain_too(quality: str, least: float, sample: Float32) -> None:
    assert mosaic_gain(sample, "RGGB", quality) > least


def test_completion_gains_over_bilinear(sample: Float32) -> None:
    completed, plain = (mosaic_gain(sample, "RGGB", "normal", method) for method in ("ntc", "bilinear"))
    assert completed > plain + 3.0


def test_dead_samples_come_back_better_than_at_first(sample: Float32) -> None:
    cfa = Cfa.from_name("RGGB")
    mosaic = cfa.sample(sample)
    missing = np.zeros(mosaic.shape, np.bool_)
    missing[7:90:7, 8:110:9] = True
    where = cfa.masks(mosaic.shape) & missing[..., None]
    first, done = (
        demosaic(np.where(missing, np.float32(1), mosaic), method=method, missing=missing, white=1.0).image
        for method in ("blend", "gaussian")
    )
    assert psnr(done, sample, where) - psnr(first, sample, where) > 2.0


def damage(kind: str, shape: tuple[int, int]) -> Flags:
    missing, random = np.zeros(shape, np.bool_), np.random.default_rng(0)
    if kind in ("sparse", "scattered"):
        return random.random(shape) < {"sparse": 0.1, "scattered": 0.5}[kind]
    if kind == "lines":
        missing[10::17] = missing[:, 20::23] = True
    elif kind == "wide":
        for row in (20, 40, 60):
            missing[row : row + 5, 10:110] = True
    else:
        for row in (12, 50):
            for column in (15, 50, 85):
                missing[row : row + 16, column : column + 16] = True
    return missing


def hole_gain(truth: Float32, missing: Flags, quality: Any = "normal") -> float:
    damaged = np.where(missing[..., None] if truth.ndim == 3 else missing, np.float32(0), truth)
    first = inpaint(damaged, missing, method="biharmonic").image
    done = inpaint(damaged, missing, quality=quality, threads=1).image
    return psnr(done, truth, missing) - psnr(first, truth, missing)


@pytest.mark.parametrize(
    ("kind", "least"), [("sparse", 6.0), ("lines", 4.3), ("scattered", 4.8), ("wide", 0.4), ("deep", 1.8)]
)
def test_groups_gain_over_the_first_fill_of_holes(kind: str, least: float, sample: Float32) -> None:
    assert hole_gain(sample, damage(kind, (96, 120))) > least


@pytest.mark.parametrize("channels", [1, 4, 5])
def test_grey_and_many_channels_gain_too(channels: int, sample: Float32) -> None:
    truth = np.dstack([sample[..., channel % 3] * (1 - 0.1 * (channel // 3)) for channel in range(channels)])
    picture = truth[..., 0] if channels == 1 else truth
    assert hole_gain(picture, damage("scattered", (96, 120)), "fast") > 3.0


def test_errors_of_a_mosaic_are_zero_where_measured_and_scale_with_white(sample: Float32) -> None:
    cfa = Cfa.from_name("RGGB")
    mosaic = cfa.sample(sample)
    one = demosaic(mosaic, error=True, quality="fast", white=1.0)
    two = demosaic(mosaic * 2, error=True, quality="fast", white=2.0)
    plain = demosaic(mosaic, quality="fast", white=1.0)
    assert one.error is not None
    assert two.error is not None
    assert plain.error is None
    assert np.array_equal(plain.image, one.image)
    assert one.error.shape == one.image.shape
    assert one.error.dtype == np.float32
    assert np.array_equal(one.error == 0, cfa.masks(mosaic.shape))
    assert two.error == pytest.approx(2 * one.error, rel=1e-4)


def check_calibration(error: Float32, miss: Float32) -> None:
    """Expect errors of the right size, in total and where most is wrong, and large ones where much is wrong.

    The scene is drawn and repeats itself more than photographs do, so that errors are expected too large.
    """
    most = error > np.quantile(error, 0.75)
    for part in (np.ones_like(most), most):
        assert 0.7 < np.sqrt(np.mean(error[part] ** 2) / np.mean(miss[part] ** 2)) < 3.5
    assert spearmanr(error, np.abs(miss)).statistic > 0.35
    assert np.mean(miss[most] ** 2) > 4 * np.mean(miss[~most] ** 2)


@pytest.mark.parametrize("array", ["RGGB", "XTRANS"])
def test_expected_errors_of_a_mosaic_are_those_it_has(array: str, sample: Float32) -> None:
    cfa = Cfa.from_name(array)
    done = demosaic(cfa.sample(sample), array, white=1.0, error=True)
    assert done.error is not None
    where = ~cfa.masks((96, 120))
    check_calibration(done.error[where], (done.image - sample)[where])


@pytest.mark.parametrize("kind", ["sparse", "scattered"])
def test_expected_errors_of_holes_are_those_they_have(kind: str, sample: Float32) -> None:
    missing = damage(kind, (96, 120))
    done = inpaint(np.where(missing[..., None], np.float32(0), sample), missing, error=True)
    assert done.error is not None
    assert not done.error[~missing].any()
    assert (done.error[missing] > 0).all()
    check_calibration(done.error[missing].ravel(), (done.image - sample)[missing].ravel())


def test_errors_of_holes_are_in_the_scale_and_shape_of_the_picture(sample: Float32) -> None:
    missing = damage("sparse", (96, 120))
    grey = np.rint(sample[..., 1] * 255)
    one = inpaint(grey.astype(np.uint8), missing, error=True, quality="fast")
    two = inpaint((grey * 257).astype(np.uint16), missing, error=True, quality="fast")
    assert one.error is not None
    assert two.error is not None
    assert one.error.shape == grey.shape
    assert two.error == pytest.approx(257 * one.error, rel=1e-2, abs=1e-2)
    assert inpaint(grey, missing, quality="fast").error is None


def test_no_entry_is_expected_to_be_wrong_when_nothing_is_missing(sample: Float32) -> None:
    done = inpaint(sample, np.zeros((96, 120), np.bool_), error=True)
    assert done.error is not None
    assert done.error.shape == sample.shape
    assert not done.error.any()
