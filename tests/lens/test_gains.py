"""Smooth gains: pictures multiplied under their curve, and what sites of a mosaic differ by."""

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.lens.gain_kernels import NODE
from demosaic_ntc.lens.gains import (
    GainField,
    SiteGains,
    is_smooth,
    mosaic_gains,
    multiply_encoded,
    plane_gains,
)
from demosaic_ntc.raw.opcodes.area import Area
from demosaic_ntc.raw.opcodes.pixel_opcodes import FixVignetteRadial, GainMap

SIZE = (40, 60)
RGGB = Cfa.from_name("RGGB")
VIGNETTE = FixVignetteRadial((0.5, 0.3, 0, 0, 0), (0.5, 0.5))


def _map(level: float, site: tuple[int, int] = (0, 0), pitch: int = 2) -> GainMap:
    """Gains that rise from 1 to a level across the image, at one site."""
    gains = np.linspace(1, level, 5, dtype=np.float32)[None, :, None].repeat(2, axis=0)
    return GainMap(Area(*site, *SIZE, 0, 1, pitch, pitch), (1.0, 0.25), (0.0, 0.0), gains)


@pytest.mark.parametrize("gain", [0.3, 1.0, 2.5, 11.0])
def test_encoded_values_are_multiplied_as_their_light_is(gain: float) -> None:
    light = np.array([-0.02, -1e-4, 0, 1e-4, 0.002, 0.0031, 0.0032, 0.01, 0.2, 0.9, 1.5])
    codes = SRGB_CURVE.encode(light).astype(np.float32)
    found = multiply_encoded(codes, np.full(codes.shape, gain, np.float32))
    assert np.allclose(found, SRGB_CURVE.encode(light * gain), atol=3e-6)
    assert multiply_encoded(codes, np.full(codes.shape, gain, np.float32), 1.0).max() <= 1


def test_a_gain_of_one_leaves_values_but_for_rounding() -> None:
    codes = np.linspace(-0.1, 1.9, 500, dtype=np.float32)
    assert np.abs(multiply_encoded(codes, np.ones(500, np.float32)) - codes).max() < 2.5e-7


def test_like_maps_of_all_sites_are_one_gain_of_the_picture() -> None:
    maps = tuple(_map(2.0, site) for site in np.ndindex(2, 2))
    shading, sites = mosaic_gains(maps, RGGB, SIZE)
    assert shading is not None
    assert sites is None
    x = (np.arange(60) + 0.5) / 60
    assert np.allclose(shading.evaluate(slice(0, 40), slice(0, 60))[7, :, 0], 1 + x, atol=1e-6)
    assert shading.extremes == pytest.approx((1, 2))


def test_maps_that_differ_split_into_green_and_ratios_whose_product_is_each() -> None:
    maps = (_map(3.0, (0, 0)), _map(2.0, (0, 1)), _map(2.2, (1, 0)), _map(1.5, (1, 1)))
    shading, sites = mosaic_gains((*maps, VIGNETTE), RGGB, SIZE)
    assert shading is not None
    assert sites is not None
    rows, columns = slice(3, 31), slice(5, 55)
    green, ratios = shading.evaluate(rows, columns)[..., 0], sites.evaluate(rows, columns)
    y, x = np.mgrid[3:31, 5:55]
    level = np.array([[3.0, 2.0], [2.2, 1.5]])[y % 2, x % 2]
    radial = VIGNETTE.interpolate(np.arange(0.5, 40), np.arange(0.5, 60), SIZE)[rows, columns, 0]
    expected = (1 + (level - 1) * (x + 0.5) / 60) * radial
    assert np.allclose(green * ratios, expected, rtol=1e-5)


def _sites() -> SiteGains:
    maps = (_map(3.0, (0, 0)), _map(2.0, (0, 1)), _map(2.0, (1, 0)), _map(1.5, (1, 1)))
    _, sites = mosaic_gains((*maps, VIGNETTE), RGGB, SIZE)
    assert sites is not None
    return sites


def _between_nodes(sites: SiteGains, rows: slice, columns: slice) -> NDArray[np.float32]:
    """Ratios of a window, bilinear between the nodes."""
    row, column = np.arange(rows.start, rows.stop)[:, None], np.arange(columns.start, columns.stop)
    own, (top, left) = (row % 2, column % 2), (row // NODE, column // NODE)
    v, u = row % NODE / NODE, column % NODE / NODE
    nodes = sites.nodes(NODE)
    above = nodes[*own, top, left] * (1 - u) + nodes[*own, top, left + 1] * u
    below = nodes[*own, top + 1, left] * (1 - u) + nodes[*own, top + 1, left + 1] * u
    return np.asarray(above * (1 - v) + below * v, np.float32)


@pytest.mark.parametrize("saturated", [1.0, 1.3, np.inf])
def test_samples_are_multiplied_and_encoded_as_their_light_is(saturated: float) -> None:
    sites, rows, columns = _sites(), slice(3, 30), slice(5, 58)
    light = np.random.default_rng(0).uniform(-0.01, 1.5, (27, 53)).astype(np.float32)
    light[:, ::5] = np.linspace(-0.01, 0.01, 11, dtype=np.float32)
    fade = np.clip((saturated - light) / (0.1 * saturated), 0, 1) if saturated < np.inf else 1
    even = np.minimum(light * (1 + (_between_nodes(sites, rows, columns) - 1) * fade), 2.0)
    found = sites.encode_light(SRGB_CURVE.encode, -0.01, 2.0, saturated)(light.copy(), rows, columns)
    assert np.allclose(found, SRGB_CURVE.encode(even.astype(np.float64)), atol=5e-6)


def test_lines_between_nodes_follow_smooth_gains() -> None:
    size = (640, 960)
    gains = np.linspace(1, 1.5, 13, dtype=np.float32)[None, :, None].repeat(2, axis=0)
    own = GainMap(Area(0, 0, *size, 0, 1, 2, 2), (1.0, 1 / 12), (0.0, 0.0), gains)
    _, sites = mosaic_gains((own, VIGNETTE), RGGB, size)
    assert sites is not None
    window = slice(300, 340), slice(0, 960)
    assert np.allclose(_between_nodes(sites, *window), sites.evaluate(*window), atol=5e-4)


def test_windows_of_samples_fit_together() -> None:
    encode = _sites().encode_light(SRGB_CURVE.encode, 0.0, 2.0, np.inf)
    light = np.random.default_rng(1).uniform(0, 1, SIZE).astype(np.float32)
    whole = encode(light.copy(), slice(0, 40), slice(0, 60))
    part = encode(light[7:31, 9:50].copy(), slice(7, 31), slice(9, 50))
    assert np.array_equal(part, whole[7:31, 9:50])


def test_ratios_leave_saturated_samples_white() -> None:
    everywhere = slice(0, 40), slice(0, 60)
    encode = _sites().encode_light(lambda light: light, 0.0, 2.0, 1.0)
    for light in (1.0, 1.7):
        assert np.allclose(encode(np.full(SIZE, light, np.float32), *everywhere), light, atol=1e-6)


def test_planes_have_gains_of_their_own() -> None:
    blue = GainMap(Area(0, 0, *SIZE, 2, 1, 1, 1), (1, 1), (0, 0), np.full((2, 2, 1), 3, np.float32))
    field = plane_gains((blue, VIGNETTE), SIZE)
    assert field is not None
    gains = field.evaluate(slice(0, 40), slice(0, 60))
    assert np.allclose(gains[..., 2], 3 * gains[..., 0])
    assert np.array_equal(gains[..., 0], gains[..., 1])
    assert plane_gains((), SIZE) is None


def test_pixels_of_a_smaller_picture_have_the_gain_of_their_middle() -> None:
    field = GainField((((_map(2.0, pitch=1),),),), SIZE)
    whole, half = field.evaluate(slice(0, 40), slice(0, 60)), field.evaluate(slice(0, 20), slice(0, 30), 2)
    assert np.allclose(half[:, :, 0], whole[::2, :, 0].reshape(20, 30, 2).mean(axis=2), atol=1e-6)


@pytest.mark.parametrize(
    ("area", "smooth"),
    [
        (Area(0, 0, 40, 60, 0, 1, 1, 1), True),
        (Area(1, 1, 40, 60, 0, 1, 2, 2), True),
        (Area(1, 1, 39, 59, 0, 1, 2, 2), True),
        (Area(2, 0, 40, 60, 0, 1, 2, 2), False),
        (Area(0, 0, 30, 60, 0, 1, 1, 1), False),
        (Area(0, 0, 40, 60, 0, 1, 3, 3), False),
    ],
)
def test_gains_are_smooth_that_hold_the_same_sites_everywhere(area: Area, smooth: bool) -> None:
    gain = GainMap(area, (1, 1), (0, 0), np.ones((2, 2, 1), np.float32))
    assert is_smooth(gain, SIZE, (2, 2)) is smooth
