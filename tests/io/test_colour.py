import io

import numpy as np
import pytest
from PIL import Image, ImageCms

from demosaic_ntc.io.colour import (
    BT2020_CURVE,
    LINEAR_CURVE,
    SPACES,
    SRGB_CURVE,
    XYZ_FROM_SRGB,
    Curve,
    icc_profile,
    make_space_matrix,
    output_space,
)


def test_srgb_curve_has_the_published_values() -> None:
    light = np.array([0.0, 0.0031308, 0.18, 0.5, 1.0])
    assert SRGB_CURVE.encode(light) == pytest.approx([0, 0.04045, 0.461356, 0.735357, 1], abs=2e-6)


@pytest.mark.parametrize("curve", [SRGB_CURVE, BT2020_CURVE, Curve(1.8), Curve(563 / 256), LINEAR_CURVE])
def test_curves_are_inverted_exactly(curve: Curve) -> None:
    light = np.linspace(0, 1.2, 1001)
    assert curve.decode(curve.encode(light)) == pytest.approx(light, abs=1e-7)


def test_srgb_curve_goes_straight_on_below_black() -> None:
    assert SRGB_CURVE.encode(np.array([-0.01])) == pytest.approx(-0.1292)
    assert SRGB_CURVE.decode(np.array([-0.1292])) == pytest.approx(-0.01)


def test_srgb_matrix_has_the_published_values() -> None:
    published = [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
    assert pytest.approx(np.array(published), abs=1e-6) == XYZ_FROM_SRGB


@pytest.mark.parametrize("name", SPACES)
def test_white_is_white_in_every_space(name: str) -> None:
    assert make_space_matrix(np.eye(3), SPACES[name]).sum(axis=1) == pytest.approx(1, abs=1e-9)


def test_camera_space_leaves_camera_colours_alone() -> None:
    matrix = np.array([[1.8, -0.9, 0.1], [-0.1, 1.4, -0.3], [0.0, -0.4, 1.4]])
    assert make_space_matrix(matrix, output_space("camera", matrix)) == pytest.approx(np.eye(3), abs=1e-9)


def _seen_through_profile(name: str, pixels: np.ndarray) -> np.ndarray:
    """What a colour-managed viewer makes of pixels in a space, as sRGB bytes."""
    matrix = np.array([[1.8, -0.9, 0.1], [-0.1, 1.4, -0.3], [0.0, -0.4, 1.4]])
    profile = ImageCms.ImageCmsProfile(io.BytesIO(icc_profile(output_space(name, matrix))))
    image = ImageCms.profileToProfile(Image.fromarray(pixels), profile, ImageCms.createProfile("sRGB"))
    assert image is not None
    return np.asarray(image).astype(float)


@pytest.mark.parametrize("name", [*SPACES, "camera"])
def test_profile_says_what_the_pixels_mean(name: str) -> None:
    """Colours inside sRGB, written in a space and read by LittleCMS through our profile, come back."""
    matrix = np.array([[1.8, -0.9, 0.1], [-0.1, 1.4, -0.3], [0.0, -0.4, 1.4]])
    space = output_space(name, matrix)
    srgb = np.random.default_rng(0).uniform(0.35, 0.65, (16, 16, 3))
    camera = SRGB_CURVE.decode(srgb) @ np.linalg.inv(matrix).T
    codes = space.curve.encode(camera @ make_space_matrix(matrix, space).T)
    seen = _seen_through_profile(name, np.round(codes * 255).astype(np.uint8))
    tolerance = 4 if name in ("prophoto", "camera") else 2
    assert np.abs(seen - srgb * 255).max() <= tolerance
    assert np.abs(seen - srgb * 255).mean() < 0.8


@pytest.mark.parametrize("name", SPACES)
def test_greys_stay_neutral_through_the_profile(name: str) -> None:
    greys = np.repeat(np.arange(0, 256, 5, dtype=np.uint8)[:, None, None], 3, axis=2)
    seen = _seen_through_profile(name, greys)
    assert np.ptp(seen, axis=-1).max() <= 1


def test_profile_has_the_length_it_announces() -> None:
    profile = icc_profile(SPACES["srgb"])
    assert int.from_bytes(profile[:4], "big") == len(profile)
    assert profile[36:40] == b"acsp"
