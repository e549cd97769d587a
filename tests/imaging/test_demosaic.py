from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.errors import InputError, Unsupported
from demosaic_ntc.imaging.cfa import Cfa
from demosaic_ntc.imaging.checks import full_scale
from demosaic_ntc.imaging.demosaic import FIRST_GUESSES, demosaic
from demosaic_ntc.imaging.restored import Progress

Floats = NDArray[np.float32]


@pytest.mark.parametrize("method", FIRST_GUESSES)
def test_the_picture_keeps_samples_and_scale_of_integers(method: str, scene: Floats) -> None:
    mosaic = np.rint(Cfa.named("RGGB").sample(scene) * 4095).astype(np.uint16)
    result = demosaic(mosaic, method=method)
    assert result.image.dtype == np.float32
    assert result.certificate is None
    assert np.array_equal(Cfa.named("RGGB").sample(result.image), mosaic)
    assert np.abs(result.image / 4095 - scene).mean() < 0.04


@pytest.mark.parametrize("scale", [1, 255, 65535])
def test_the_scale_of_the_samples_scales_the_picture(scale: int, scene: Floats) -> None:
    mosaic = Cfa.named("GRBG").sample(scene)[:40, :50].astype(np.float64)
    unit = demosaic(mosaic, "GRBG", method="blend").image
    scaled = demosaic(mosaic * scale, "GRBG", method="blend", white=scale).image
    assert scaled == pytest.approx(unit * scale, abs=1e-5 * scale)


def test_threads_do_not_change_the_picture(scene: Floats) -> None:
    mosaic = Cfa.named("RGGB").sample(scene)
    one, two = (demosaic(mosaic, method="blend", threads=threads).image for threads in (1, 2))
    assert np.array_equal(one, two)


def test_progress_is_reported() -> None:
    events: list[Progress] = []
    demosaic(np.zeros((4, 4), np.uint8), method="bilinear", progress=events.append)
    assert events == [Progress("bilinear", 1, 1)]


@pytest.mark.parametrize(
    ("largest", "dtype", "white"),
    [
        (200, "uint8", 255),
        (256, "uint16", 511),
        (16383, "uint16", 16383),
        (0, "uint16", 255),
        (1.0, "f4", 1),
        (3, "f4", 255),
    ],
)
def test_white_is_the_full_scale_of_the_bits_in_use(largest: float, dtype: str, white: float) -> None:
    assert full_scale(np.array([[0, largest]], dtype=dtype)) == white


BLACK = np.zeros((6, 6), np.float32)


@pytest.mark.parametrize(
    ("mosaic", "options", "complaint"),
    [
        (np.zeros((4, 4, 3)), {}, "two dimensions, not 3"),
        (np.zeros((1, 4)), {}, "smaller than one 2×2 period"),
        (np.zeros((0, 0)), {}, "smaller than one 2×2 period"),
        (BLACK, {"cfa": "RGBX"}, "unknown colour array 'RGBX'"),
        (BLACK, {"cfa": "RG/GR"}, "never shows B"),
        (np.full((4, 4), np.nan), {}, "NaN or infinite"),
        (np.full((4, 4), np.inf), {}, "NaN or infinite"),
        (np.full((4, 4), -1), {}, "negative samples"),
        (np.full((4, 4), True), {}, "not numbers"),
        (np.full((4, 4), 1j), {}, "not numbers"),
        (BLACK, {"method": "magic"}, "unknown method 'magic'"),
        (BLACK, {"quality": "good"}, "unknown quality 'good'"),
        (BLACK, {"tensor": "flat"}, "unknown tensor 'flat'"),
        (BLACK, {"threads": 0}, "0 threads"),
        (BLACK, {"white": 0.0}, "white level"),
    ],
)
def test_bad_input_is_refused_with_one_clear_error(
    mosaic: NDArray[Any], options: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        demosaic(mosaic, **{"method": "bilinear", **options})


def test_a_bayer_method_on_another_array_is_unsupported() -> None:
    with pytest.raises(Unsupported, match="lmmse is defined on Bayer arrays, not on XTRANS"):
        demosaic(BLACK, "XTRANS", method="lmmse")
