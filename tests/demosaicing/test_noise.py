"""Noise is described, checked and estimated: known noise is found, none where samples tell nothing."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.noise import NoiseModel, estimate_noise, middle, noise_factor
from demosaic_ntc.errors import InputError

RGGB = Cfa.from_name("RGGB")
ARRAYS = ("RGGB", "GBRG", "X-Trans", "quad-rggb", "RGB/GBR/BRG")


def _picture(height: int, width: int) -> NDArray[np.float64]:
    """Draw a ramp in every colour; every other block of 32 pixels is covered with a strong texture."""
    y, x = np.mgrid[:height, :width]
    textured = (y // 32 + x // 32) % 2 == 0
    texture = 0.1 * np.sin(1.9 * x) * np.sin(2.3 * y) + 0.1 * ((x * 7 + y * 3) % 5 - 2) / 2
    ramp = 0.15 + 0.7 * x / width
    return np.stack([ramp, 0.9 * ramp, 1 - ramp], axis=2) + np.where(textured, texture, 0)[..., None]


def _noisy(
    picture: NDArray[np.float64], cfa: Cfa, slope: Sequence[float], floor: Sequence[float]
) -> NDArray[np.float32]:
    """Measure a picture with noise of these variances."""
    deviation = np.sqrt(np.maximum(picture, 0) * np.array(slope) + np.array(floor))
    noise = np.random.default_rng(3).standard_normal(picture.shape)
    return cfa.sample(picture + deviation * noise).astype(np.float32)


def test_variance_is_a_line_in_the_light_and_negatives_are_dark() -> None:
    model = NoiseModel((0.01, 0.02, 0.04), (0.001, 0.0, 0.002))
    assert model.variance(np.array([-1.0, 0.0, 0.5]), 0) == pytest.approx([0.001, 0.001, 0.006])
    assert model.deviation(0.5, 1) == pytest.approx(0.1)
    assert model.typical_deviation(0.5) == pytest.approx(((0.006 + 0.01 + 0.022) / 3) ** 0.5)


def test_strength_scales_deviations() -> None:
    model = NoiseModel((0.01, 0.02, 0.04), (0.001, 0.0, 0.002))
    assert model.scale(3).deviation(0.3, 2) == pytest.approx(3 * model.deviation(0.3, 2))
    assert model.scale(0).is_zero
    assert not model.is_zero


def test_one_number_stands_for_all_colours() -> None:
    assert NoiseModel.from_user(1e-4, [1e-6, 2e-6, 3e-6]) == NoiseModel((1e-4,) * 3, (1e-6, 2e-6, 3e-6))


@pytest.mark.parametrize(
    ("slope", "floor", "reason"),
    [
        (-1e-4, 0.0, "slope -0.0001 is not a variance"),
        (0.0, float("nan"), "floor nan is not a variance"),
        (float("inf"), 0.0, "slope inf is not a variance"),
        ([1e-4, 1e-4], 0.0, "2 numbers as its slope"),
    ],
)
def test_what_is_no_noise_is_refused(slope: float, floor: float, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        NoiseModel.from_user(slope, floor)


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("floor", [(1 / 255) ** 2, (20 / 255) ** 2])
def test_even_noise_is_found_beside_texture(array: str, floor: float) -> None:
    cfa = Cfa.parse(array)
    model = estimate_noise(_noisy(_picture(384, 512), cfa, [0] * 3, [floor] * 3), cfa)
    for channel in range(3):
        assert model.deviation(0.4, channel) == pytest.approx(floor**0.5, rel=0.15)


@pytest.mark.parametrize("array", ["RGGB", "X-Trans"])
def test_noise_of_photons_is_found_from_dark_to_bright(array: str) -> None:
    cfa, slope = Cfa.parse(array), 4e-4
    model = estimate_noise(_noisy(_picture(512, 768), cfa, [slope] * 3, [0] * 3), cfa)
    for light in (0.2, 0.5, 0.8):
        assert model.typical_deviation(light) == pytest.approx((slope * light) ** 0.5, rel=0.15)


def test_colours_may_differ() -> None:
    floors = [1e-5, 2e-5, 4e-5]
    model = estimate_noise(_noisy(_picture(512, 768), RGGB, [0] * 3, floors), RGGB)
    found = [float(model.variance(0.4, channel)) for channel in range(3)]
    assert np.sqrt(found) == pytest.approx(np.sqrt(floors), rel=0.2)
    assert found[0] < found[1] < found[2]


def test_a_clean_picture_with_flat_parts_has_hardly_any_noise() -> None:
    mosaic = _noisy(_picture(384, 512), RGGB, [0] * 3, [0] * 3)
    assert estimate_noise(mosaic, RGGB).typical_deviation() < 0.1 / 255


def test_samples_below_black_count_like_others() -> None:
    dark = np.full((256, 256, 3), 0.002)
    mosaic = _noisy(dark, RGGB, [0] * 3, [1e-4] * 3)
    assert mosaic.min() < -0.02
    assert estimate_noise(mosaic, RGGB).typical_deviation(0.002) == pytest.approx(0.01, rel=0.1)


@pytest.mark.parametrize("levels", [{}, {"low": 0.2, "high": 0.7}])
def test_clipped_samples_are_left_out(levels: dict[str, float]) -> None:
    """Clipped parts vary less or not at all; given or not, the levels are known by their piles."""
    mosaic = _noisy(_picture(512, 768), RGGB, [0] * 3, [4e-4] * 3)
    model = estimate_noise(np.clip(mosaic, np.float32(0.2), np.float32(0.7)), RGGB, **levels)
    assert model.typical_deviation(0.45) == pytest.approx(0.02, rel=0.15)


@pytest.mark.parametrize("bits", [8, 12])
def test_rounded_samples_have_their_noise(bits: int) -> None:
    steps = 2**bits - 1
    mosaic = _noisy(_picture(384, 512), RGGB, [0] * 3, [(2 / 255) ** 2] * 3)
    model = estimate_noise((np.round(mosaic * steps) / steps).astype(np.float32), RGGB)
    assert model.typical_deviation(0.4) == pytest.approx(2 / 255, rel=0.15)


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("value", [-0.1, 0.0, 0.3, 1.0])
def test_a_frame_of_one_value_has_no_noise(array: str, value: float) -> None:
    assert estimate_noise(np.full((96, 128), value, np.float32), Cfa.parse(array)).is_zero


@pytest.mark.parametrize("shape", [(6, 6), (16, 16), (6, 400), (400, 7)])
@pytest.mark.parametrize("array", ["RGGB", "X-Trans"])
def test_too_few_samples_tell_nothing(shape: tuple[int, int], array: str) -> None:
    mosaic = np.random.default_rng(0).random(shape).astype(np.float32)
    assert estimate_noise(mosaic, Cfa.parse(array)).is_zero


def test_a_saturated_frame_tells_nothing() -> None:
    mosaic = 1 + 0.01 * np.random.default_rng(0).standard_normal((96, 128)).astype(np.float32)
    assert estimate_noise(mosaic, RGGB, high=0.95).is_zero


def test_layout_in_memory_does_not_matter() -> None:
    mosaic = _noisy(_picture(128, 192), RGGB, [1e-4] * 3, [1e-5] * 3)
    assert estimate_noise(np.asfortranarray(mosaic), RGGB) == estimate_noise(mosaic, RGGB)


@pytest.mark.data
@pytest.mark.parametrize(
    "name", ["kodak/kodim05.png", "kodak/kodim23.png", "mcmaster/4.tif", "mcmaster/18.tif"]
)
@pytest.mark.parametrize("sigma", [5, 20])
def test_noise_of_textured_photographs_is_found(data: Path, name: str, sigma: int) -> None:
    picture = np.asarray(Image.open(data / name).convert("RGB")) / 255
    mosaic = _noisy(picture, RGGB, [0] * 3, [(sigma / 255) ** 2] * 3)
    assert 255 * estimate_noise(mosaic, RGGB).typical_deviation(0.3) == pytest.approx(sigma, rel=0.15)


def _photographed(data: Path, name: str, slope: float) -> tuple[NDArray[np.float32], NoiseModel]:
    """Measure a photograph's linear light with noise of photons and of reading them out."""
    encoded = np.asarray(Image.open(data / name).convert("RGB")) / 255
    light = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    floor = 0.001 * slope + 1e-7
    mosaic = _noisy(light * [0.5, 1, 0.625], RGGB, [slope] * 3, [floor] * 3)
    return mosaic, NoiseModel.from_user(slope, floor)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "slope"),
    [
        ("mcmaster/1.tif", 3e-4),
        ("mcmaster/8.tif", 0.01),
        ("mcmaster/15.tif", 0.01),
        ("mcmaster/16.tif", 3e-4),
        ("mcmaster/16.tif", 0.01),
        ("kodak/kodim13.png", 3e-4),
    ],
)
def test_noise_is_not_lost_where_most_is_dark_or_textured(data: Path, name: str, slope: float) -> None:
    mosaic, truth = _photographed(data, name, slope)
    found = estimate_noise(mosaic, RGGB).typical_deviation() / truth.typical_deviation()
    assert 0.8 < found < 1.8


def test_dark_patches_do_not_lower_the_noise_of_brighter_ones() -> None:
    """A patch of the dark that is bright by its noise must not be taken for one of brighter parts."""
    y, x = np.mgrid[:384, :512]
    dark = np.where((x < 384)[..., None], 0.0, 0.02 + 0.3 * (y / 384)[..., None] * np.ones(3))
    model = estimate_noise(_noisy(dark, RGGB, [0.01] * 3, [1e-5] * 3), RGGB)
    for channel in range(3):
        assert model.variance(0.005, channel) == pytest.approx(6e-5, rel=0.35)


@pytest.mark.parametrize("array", ["RGGB", "X-Trans"])
@pytest.mark.parametrize("off", [0.3, 1 / 1.6, 1.0, 1.6, 3.0])
def test_how_far_off_a_model_is_is_found(array: str, off: float) -> None:
    cfa, truth = Cfa.parse(array), NoiseModel((4e-4, 3e-4, 2e-4), (1e-5, 1e-5, 2e-5))
    mosaic = _noisy(_picture(384, 512), cfa, truth.slope, truth.floor)
    assert noise_factor(mosaic, cfa, truth.scale(off)) == pytest.approx(1 / off, rel=0.1)


def test_parts_that_were_smoothed_do_not_make_a_model_wrong() -> None:
    """Lossy compression takes the noise off skies; where samples of other parts agree, the model stays."""
    truth = NoiseModel.from_user(4e-4, 1e-5)
    x = np.mgrid[:384, :512][1]
    even = 0.1 + 0.8 * (x / 512)[..., None] * np.ones(3)
    mosaic = _noisy(even, RGGB, truth.slope, truth.floor)
    mosaic[:, 448:] = RGGB.sample(even)[:, 448:]
    assert noise_factor(mosaic, RGGB, truth) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("model", [NoiseModel.from_user(0.0, 0.0), NoiseModel.from_user(1e-4, 1e-6)])
def test_of_little_nothing_is_said_about_a_model(model: NoiseModel) -> None:
    mosaic = np.random.default_rng(0).random((300, 60) if model.is_zero else (60, 60)).astype(np.float32)
    assert noise_factor(mosaic, RGGB, model) is None


TEXTURED = ["kodak/kodim05.png", "kodak/kodim13.png", "mcmaster/1.tif", "mcmaster/8.tif"]


@pytest.mark.data
@pytest.mark.parametrize("slope", [3e-4, 1e-3, 3e-3])
@pytest.mark.parametrize("name", TEXTURED)
def test_a_right_model_is_right_for_photographs(data: Path, name: str, slope: float) -> None:
    mosaic, truth = _photographed(data, name, slope)
    assert noise_factor(mosaic, RGGB, truth) == pytest.approx(1, abs=0.2)


@pytest.mark.data
@pytest.mark.parametrize("slope", [1e-3, 3e-3])
@pytest.mark.parametrize("name", TEXTURED)
def test_a_wrong_model_is_wrong_for_photographs(data: Path, name: str, slope: float) -> None:
    mosaic, truth = _photographed(data, name, slope)
    for off in (1.6, 1 / 1.6):
        assert noise_factor(mosaic, RGGB, truth.scale(off)) == pytest.approx(1 / off, rel=0.25)


@pytest.mark.parametrize("values", [[3], [9, 1], [4, 1, 7], [65535, 65535, 1, 65535], [2, 5, 5, 3]])
def test_the_middle_is_the_median(values: list[int]) -> None:
    assert middle(np.array([values], np.uint16)) == np.median(values)


@pytest.mark.data
@pytest.mark.parametrize(("name", "most"), [("kodim01", 1.25), ("kodim06", 1.8), ("kodim13", 2.25)])
def test_texture_that_grows_with_the_light_is_no_slope_of_even_noise(
    data: Path, name: str, most: float
) -> None:
    picture = np.asarray(Image.open(data / "kodak" / f"{name}.png"), np.float32)[128:320, 128:320] / 255
    noise = np.random.default_rng(0).normal(0, 5 / 255, picture.shape[:2])
    mosaic = np.asarray(Cfa.from_name("RGGB").sample(picture) + noise, np.float32)
    found = estimate_noise(mosaic, Cfa.from_name("RGGB")).typical_deviation(float(np.median(mosaic)))
    assert 0.9 * 5 / 255 < found < most * 5 / 255
