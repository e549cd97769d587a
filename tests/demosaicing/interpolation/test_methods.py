from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.interpolation.any_array import interpolate_residuals, smooth_difference
from demosaic_ntc.demosaicing.interpolation.bayer import kiku2014, malvar2004, zhang_wu2005
from demosaic_ntc.demosaicing.interpolation.bilinear import bilinear, reach
from demosaic_ntc.demosaicing.interpolation.blend import blend
from demosaic_ntc.errors import Unsupported

Floats = NDArray[np.float32]
Method = Callable[[Floats, Cfa], Floats]


def blended(mosaic: Floats, cfa: Cfa) -> Floats:
    return blend(mosaic, cfa).image


BAYER_ONLY: list[Method] = [malvar2004, zhang_wu2005, kiku2014]
ANY_ARRAY: list[Method] = [bilinear, smooth_difference, interpolate_residuals, blended]
OTHER_ARRAYS = ["XTRANS", "QUAD_RGGB", "RGB/GBR/BRG"]
# Every method with every array it is defined on.
PAIRS = [(method, "RGGB") for method in BAYER_ONLY + ANY_ARRAY]
PAIRS += [(method, array) for method in ANY_ARRAY for array in OTHER_ARRAYS]


def psnr(picture: Floats, truth: Floats, crop: int = 8) -> float:
    error = (picture - truth)[crop:-crop, crop:-crop]
    return float(-10 * np.log10(np.mean(error.astype(np.float64) ** 2)))


@pytest.mark.parametrize(("method", "array"), PAIRS)
def test_a_constant_colour_comes_back(method: Method, array: str) -> None:
    truth = np.broadcast_to(np.array([0.7, 0.25, 0.4], np.float32), (24, 30, 3))
    cfa = Cfa.parse(array)
    assert np.abs(method(cfa.sample(truth), cfa) - truth).max() < 2e-6


@pytest.mark.parametrize("method", BAYER_ONLY + ANY_ARRAY)
@pytest.mark.parametrize("slopes", [(1.0, 1.0, 1.0), (1.0, 0.6, -0.5)], ids=["grey", "colour"])
def test_a_ramp_comes_back_away_from_the_border(method: Method, slopes: tuple[float, float, float]) -> None:
    y, x = np.mgrid[0:96, 0:96]
    truth = (0.5 + ((x - 48) + 0.5 * (y - 48))[..., None] / 200 * np.array(slopes)).astype(np.float32)
    cfa = Cfa.from_name("GBRG")
    inside = np.s_[40:-40, 40:-40]
    assert np.abs(method(cfa.sample(truth), cfa) - truth)[inside].max() < 1e-5


@pytest.mark.parametrize(("method", "array"), PAIRS)
@pytest.mark.parametrize("shape", [(61, 75), (6, 6), (7, 6), (6, 41)])
def test_measured_samples_are_kept_at_any_size(method: Method, array: str, shape: tuple[int, int]) -> None:
    mosaic = np.random.default_rng(1).random(shape, dtype=np.float32)
    cfa = Cfa.parse(array)
    picture = method(mosaic, cfa)
    assert picture.dtype == np.float32
    assert np.isfinite(picture).all()
    assert np.array_equal(cfa.sample(picture), mosaic)


@pytest.mark.parametrize("method", BAYER_ONLY + ANY_ARRAY)
@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (2, 5)])
def test_one_period_of_a_bayer_array_is_enough(method: Method, shape: tuple[int, int]) -> None:
    mosaic = np.linspace(0.1, 0.9, shape[0] * shape[1], dtype=np.float32).reshape(shape)
    picture = method(mosaic, Cfa.from_name("GRBG"))
    assert np.isfinite(picture).all()
    assert np.array_equal(Cfa.from_name("GRBG").sample(picture), mosaic)


@pytest.mark.parametrize("method", [*BAYER_ONLY, bilinear, smooth_difference])
@pytest.mark.parametrize("shift", [(0, 1), (1, 0), (1, 1)])
def test_phases_agree_up_to_the_shift(method: Method, shift: tuple[int, int], scene: Floats) -> None:
    cfa = Cfa.from_name("RGGB")
    whole = method(cfa.sample(scene), cfa)
    moved = method(cfa.sample(scene)[shift[0] :, shift[1] :], cfa.shift(*shift))
    inside = np.s_[30:-30, 30:-30]
    assert np.array_equal(whole[shift[0] :, shift[1] :][inside], moved[inside])


@pytest.mark.parametrize("method", BAYER_ONLY)
@pytest.mark.parametrize("array", OTHER_ARRAYS)
def test_bayer_methods_refuse_other_arrays(method: Method, array: str) -> None:
    with pytest.raises(Unsupported, match="defined on Bayer arrays"):
        method(np.zeros((12, 12), np.float32), Cfa.parse(array))


# Floors in dB on the generated scene, a little below what was measured when the test was written.
@pytest.mark.parametrize(
    ("method", "array", "floor"),
    [
        (bilinear, "RGGB", 27.3),
        (malvar2004, "RGGB", 35.5),
        (zhang_wu2005, "RGGB", 40.3),
        (kiku2014, "RGGB", 37.8),
        (blended, "RGGB", 40.8),
        (bilinear, "XTRANS", 23.6),
        (blended, "XTRANS", 39.5),
        (bilinear, "QUAD_RGGB", 21.0),
        (blended, "QUAD_RGGB", 34.7),
    ],
)
def test_quality_on_the_generated_scene(method: Method, array: str, floor: float, scene: Floats) -> None:
    cfa = Cfa.parse(array)
    assert psnr(method(cfa.sample(scene), cfa), scene) > floor


@pytest.mark.parametrize("array", OTHER_ARRAYS)
@pytest.mark.parametrize("method", [smooth_difference, interpolate_residuals, blended])
def test_guesses_for_any_array_beat_bilinear_by_two_decibels(
    method: Method, array: str, scene: Floats
) -> None:
    cfa = Cfa.parse(array)
    mosaic = cfa.sample(scene)
    assert psnr(method(mosaic, cfa), scene) > psnr(bilinear(mosaic, cfa), scene) + 2


@pytest.mark.parametrize("turn", [1, -1])
@pytest.mark.parametrize("method", [smooth_difference, interpolate_residuals, blended])
def test_a_slanted_edge_between_black_and_white_is_not_tinted(method: Method, turn: int) -> None:
    cfa = Cfa.from_name("XTRANS")
    across = np.add.outer(np.arange(72), turn * np.arange(72)) - (71 if turn > 0 else 0)
    edge = np.repeat(np.clip(0.5 + 0.25 * across, 0.04, 0.96)[..., None], 3, axis=2).astype(np.float32)
    inner = method(cfa.sample(edge), cfa)[12:-12, 12:-12]
    assert np.abs(inner - inner.mean(axis=2, keepdims=True)).max() < 0.004


def test_reach_is_the_distance_at_which_every_colour_shows() -> None:
    assert [reach(Cfa.parse(array)) for array in ("RGGB", "XTRANS", "QUAD_RGGB", "RGB/GBR/BRG")] == [
        1,
        2,
        2,
        1,
    ]
