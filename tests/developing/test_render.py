from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.developing.render import (
    Finish,
    blend_highlights,
    encode_mosaic,
    find_auto_gain,
    finish,
)
from demosaic_ntc.io.colour import LINEAR_CURVE, SPACES, SRGB_CURVE
from demosaic_ntc.io.pixels import ignore_share, orient
from demosaic_ntc.raw.levels import Exposure, expose
from demosaic_ntc.raw.photo import RawPhoto

LINEAR = Finish(replace(SPACES["srgb"], curve=LINEAR_CURVE), np.eye(3))
CHANNELS = np.array([[0, 1], [3, 2]], dtype=np.uint8)


def _photo(mosaic: NDArray[np.uint16], black: float = 0.0) -> RawPhoto:
    return RawPhoto(mosaic, CHANNELS, np.full((1, 1), black), 65535.0, is_plain=True)


def _exposure(photo: RawPhoto) -> Exposure:
    return expose(photo, "camera", "metadata", keep_highlights=False)


def test_every_16_bit_value_survives_encoding_and_decoding() -> None:
    """All three channels of a pixel carry one sample, as if the engine had found a grey picture."""
    photo = _photo(np.arange(65536, dtype=np.uint16).reshape(256, 256))
    mosaic = encode_mosaic(photo, _exposure(photo))
    image = np.repeat(mosaic.samples[..., None], 3, axis=2)
    pixels = finish(image, mosaic.lift, LINEAR, ignore_share)
    assert np.abs(pixels[..., 1].astype(int) - photo.mosaic).max() <= 1


def test_encoded_mosaic_is_srgb_of_the_balanced_light() -> None:
    photo = replace(
        _photo(np.full((2, 2), 10000, dtype=np.uint16), 1000.0), camera_balance=(2.0, 1.0, 1.5, 1.0)
    )
    mosaic = encode_mosaic(photo, _exposure(photo))
    light = 9000 / 64535 * np.array([[2.0, 1.0], [1.0, 1.5]])
    assert mosaic.samples == pytest.approx(SRGB_CURVE.encode(light), abs=1e-6)


def test_noise_below_black_is_lifted_not_cut() -> None:
    photo = _photo(np.array([[90, 100], [110, 120]], dtype=np.uint16), 100.0)
    mosaic = encode_mosaic(photo, _exposure(photo))
    assert mosaic.samples.min() == 0
    assert np.diff(mosaic.samples.ravel()) == pytest.approx(12.92 * 10 / 65435, rel=1e-3)


def test_saturated_samples_are_equal_in_all_channels() -> None:
    """Otherwise white highlights would be pink."""
    photo = replace(_photo(np.full((4, 4), 65535, dtype=np.uint16)), camera_balance=(2.0, 1.0, 1.5, 1.0))
    assert np.unique(encode_mosaic(photo, _exposure(photo)).samples).tolist() == [1.0]


def test_pixels_are_within_a_code_of_the_exact_curve() -> None:
    light = np.random.default_rng(0).random((50, 40, 3))
    pixels = finish(
        SRGB_CURVE.encode(light).astype(np.float32), 0.0, Finish(SPACES["srgb"], np.eye(3)), ignore_share
    )
    assert np.abs(pixels - SRGB_CURVE.encode(light) * 65535).max() <= 1.0


def test_eight_bits_are_rounded() -> None:
    image = np.full((2, 2, 3), 100.6 / 255, dtype=np.float32)
    assert set(finish(image, 0.0, Finish(SPACES["srgb"], np.eye(3), bits=8), ignore_share).ravel()) == {101}


def test_a_stop_doubles_the_light() -> None:
    image = SRGB_CURVE.encode(np.full((2, 2, 3), 0.2)).astype(np.float32)
    assert finish(image, 0.0, replace(LINEAR, gain=2.0), ignore_share)[0, 0, 0] == pytest.approx(
        0.4 * 65535, abs=2
    )


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_agrees_with_pillow(orientation: int) -> None:
    from PIL import Image, ImageOps

    pixels = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
    image = Image.fromarray(pixels)
    image.getexif()[274] = orientation
    assert np.array_equal(orient(pixels, orientation), np.asarray(ImageOps.exif_transpose(image)))


def test_brightening_takes_one_percent_to_white() -> None:
    light = np.full((100, 100, 3), 0.1)
    light[:2] = 0.5
    image = SRGB_CURVE.encode(light).astype(np.float32)
    assert find_auto_gain(image, 0.0, LINEAR) == pytest.approx(2.0, rel=0.01)


def test_blending_leaves_unclipped_pixels_alone() -> None:
    light = np.array([[[0.1, 0.2, 0.3], [0.5, 0.5, 0.5]]], dtype=np.float32)
    assert np.array_equal(blend_highlights(light, 0.6), light)


def test_blending_keeps_brightness_and_takes_colour_out() -> None:
    light = np.array([[[0.9, 0.5, 0.7]]], dtype=np.float32)
    blended = blend_highlights(light, 0.5)
    assert blended.sum() == pytest.approx(light.sum(), rel=1e-6)
    assert np.ptp(blended) == pytest.approx(0, abs=1e-6)


def test_large_pictures_are_rendered_in_bands_without_seams() -> None:
    light = np.random.default_rng(0).random((700, 8, 3))
    image = SRGB_CURVE.encode(light).astype(np.float32)
    whole = finish(image, 0.0, LINEAR, ignore_share)
    halves = [finish(image[:351], 0.0, LINEAR, ignore_share), finish(image[351:], 0.0, LINEAR, ignore_share)]
    assert np.array_equal(whole, np.concatenate(halves))
