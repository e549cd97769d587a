"""Each opcode against its formula, written as a loop over pixels."""

from collections.abc import Callable

import numpy as np
import pytest

from demosaic_ntc.raw.opcodes.area import Area, Window
from demosaic_ntc.raw.opcodes.pixel_opcodes import (
    DeltaPerColumn,
    DeltaPerRow,
    FixVignetteRadial,
    GainMap,
    MapPolynomial,
    MapTable,
    PixelOpcode,
    ScalePerColumn,
    ScalePerRow,
)
from demosaic_ntc.raw.opcodes.sensor_opcodes import FixBadPixelsConstant, FixBadPixelsList
from demosaic_ntc.raw.opcodes.warps import WarpFisheye, WarpRectilinear, keep_parts

SIZE = (24, 31)
AREA = Area(3, 2, 22, 30, 1, 1, 2, 3)
RNG = np.random.default_rng(5)
GAINS = RNG.uniform(1, 2, (4, 5, 1)).astype(np.float32)
TABLE = np.sort(RNG.integers(0, 65536, 3000)).astype(np.uint16)
LINES = RNG.uniform(0.5, 1.5, 40).astype(np.float32)
CENTRE = (0.45, 0.6)

Formula = Callable[[float, int, int], float]


def _interpolate(y: int, x: int) -> float:
    v = ((y + 0.5) / SIZE[0] - 0.1) / 0.25
    u = ((x + 0.5) / SIZE[1] - 0.05) / 0.2
    v, u = min(max(v, 0), 3), min(max(u, 0), 4)
    top, left = min(int(v), 2), min(int(u), 3)
    v, u = v - top, u - left
    above = GAINS[top, left, 0] * (1 - u) + GAINS[top, left + 1, 0] * u
    below = GAINS[top + 1, left, 0] * (1 - u) + GAINS[top + 1, left + 1, 0] * u
    return float(above * (1 - v) + below * v)


def _radius(y: float, x: float) -> tuple[float, float, float, float]:
    cx, cy = CENTRE[0] * SIZE[1], CENTRE[1] * SIZE[0]
    m = max(np.hypot(corner_x - cx, corner_y - cy) for corner_x in (0, SIZE[1]) for corner_y in (0, SIZE[0]))
    dx, dy = (x + 0.5 - cx) / m, (y + 0.5 - cy) / m
    return float(dx), float(dy), float(np.hypot(dx, dy)), float(m)


def _vignette(y: int, x: int) -> float:
    r = _radius(y, x)[2]
    return 1 + 0.3 * r**2 + 0.2 * r**4 + 0.1 * r**6 + 0.05 * r**8 + 0.02 * r**10


CASES: dict[str, tuple[PixelOpcode, bool, Formula]] = {
    "GainMap": (
        GainMap(AREA, (0.25, 0.2), (0.1, 0.05), GAINS),
        True,
        lambda value, y, x: value * _interpolate(y, x),
    ),
    "FixVignetteRadial": (
        FixVignetteRadial((0.3, 0.2, 0.1, 0.05, 0.02), CENTRE),
        False,
        lambda value, y, x: value * _vignette(y, x),
    ),
    "MapTable": (
        MapTable(AREA, TABLE),
        True,
        lambda value, y, x: TABLE[min(max(round(value * 65535), 0), 2999)] / 65535,
    ),
    "MapPolynomial": (
        MapPolynomial(AREA, (0.01, 0.5, 0.3, 0.4)),
        True,
        lambda value, y, x: min(max(0.01 + 0.5 * value + 0.3 * value**2 + 0.4 * value**3, 0), 1),
    ),
    "DeltaPerRow": (DeltaPerRow(AREA, LINES), True, lambda value, y, x: value + LINES[(y - 3) // 2]),
    "DeltaPerColumn": (DeltaPerColumn(AREA, LINES), True, lambda value, y, x: value + LINES[(x - 2) // 3]),
    "ScalePerRow": (ScalePerRow(AREA, LINES), True, lambda value, y, x: value * LINES[(y - 3) // 2]),
    "ScalePerColumn": (ScalePerColumn(AREA, LINES), True, lambda value, y, x: value * LINES[(x - 2) // 3]),
}


@pytest.mark.parametrize("name", CASES)
def test_pixels_follow_the_formula_in_the_area_and_stay_elsewhere(name: str) -> None:
    opcode, has_area, formula = CASES[name]
    values = RNG.uniform(-0.01, 1, (*SIZE, 3)).astype(np.float32)
    expected = values.copy()
    for y, x, plane in np.ndindex(values.shape):
        inside = 3 <= y < 22 and 2 <= x < 30 and (y - 3) % 2 == 0 and (x - 2) % 3 == 0 and plane == 1
        if inside or not has_area:
            expected[y, x, plane] = formula(float(values[y, x, plane]), y, x)
    changed = values.copy()
    opcode.apply(changed, Window.whole(SIZE))
    assert np.allclose(changed, expected, atol=2e-6)
    assert not np.allclose(changed, values, atol=1e-3)


@pytest.mark.parametrize("name", CASES)
def test_windows_give_the_bits_of_the_whole(name: str) -> None:
    opcode = CASES[name][0]
    values = RNG.uniform(0, 1, (*SIZE, 3)).astype(np.float32)
    whole = values.copy()
    opcode.apply(whole, Window.whole(SIZE))
    for rows, columns in (
        (slice(5, 12), slice(0, 31)),
        (slice(0, 3), slice(7, 9)),
        (slice(22, 24), slice(30, 31)),
    ):
        part = values[rows, columns].copy()
        opcode.apply(part, Window(rows, columns, SIZE))
        assert np.array_equal(part, whole[rows, columns])


def test_a_map_of_several_planes_gives_each_its_own_and_the_last_to_the_rest() -> None:
    gains = np.stack([np.full((2, 2), 2), np.full((2, 2), 3)], axis=2).astype(np.float32)
    opcode = GainMap(Area(0, 0, 24, 31, 0, 3, 1, 1), (1, 1), (0, 0), gains)
    values = np.ones((*SIZE, 3), np.float32)
    opcode.apply(values, Window.whole(SIZE))
    assert values[5, 5].tolist() == [2, 3, 3]


def test_a_rectilinear_warp_follows_the_formula() -> None:
    terms = (1.01, -0.05, 0.02, 0.01, 0.003, -0.002)
    warp = WarpRectilinear(((1.0, 0, 0, 0, 0, 0), terms, terms), CENTRE)
    for y, x in ((0, 0), (23, 30), (5, 17)):
        dx, dy, r, m = _radius(y, x)
        f = 1.01 - 0.05 * r**2 + 0.02 * r**4 + 0.01 * r**6
        kt0, kt1 = terms[4:]
        sx = CENTRE[0] * SIZE[1] + m * (f * dx + 2 * kt0 * dx * dy + kt1 * (r * r + 2 * dx * dx))
        sy = CENTRE[1] * SIZE[0] + m * (f * dy + 2 * kt1 * dx * dy + kt0 * (r * r + 2 * dy * dy))
        places = np.array([y + 0.5]), np.array([x + 0.5])
        assert np.allclose(np.ravel(warp.find_sources(places, SIZE, 1)), (sy, sx))
        assert np.allclose(np.ravel(warp.find_sources(places, SIZE, 0)), np.ravel(places))


def test_a_fisheye_warp_follows_the_formula() -> None:
    warp = WarpFisheye(((1.2, -0.05, 0.02, 0.01),), CENTRE)
    for y, x in ((0, 0), (23, 30), (5, 17)):
        dx, dy, r, m = _radius(y, x)
        angle = np.arctan(r)
        f = (1.2 * angle - 0.05 * angle**3 + 0.02 * angle**5 + 0.01 * angle**7) / r
        wanted = CENTRE[1] * SIZE[0] + m * f * dy, CENTRE[0] * SIZE[1] + m * f * dx
        found = warp.find_sources((np.array([y + 0.5]), np.array([x + 0.5])), SIZE, 2)
        assert np.allclose(np.ravel(found), wanted)
    centre = np.array([CENTRE[1] * SIZE[0]]), np.array([CENTRE[0] * SIZE[1]])
    assert np.allclose(np.ravel(warp.find_sources(centre, SIZE, 0)), np.ravel(centre))


def test_parts_of_a_warp_are_green_for_all_or_what_others_differ_by() -> None:
    red, green, blue = (1.02, 0.01, 0, 0, 0, 0), (1.0, 0.01, 0, 0, 0, 0), (0.99, 0.02, 0, 0, 0, 0)
    warp = WarpRectilinear((red, green, blue), (0.5, 0.5))
    assert keep_parts(warp, distortion=True, ca=True) is warp
    assert keep_parts(warp, distortion=False, ca=False) is None
    plain = keep_parts(warp, distortion=True, ca=False)
    assert plain is not None
    assert plain.planes == (green,)
    fringes = keep_parts(warp, distortion=False, ca=True)
    assert fringes is not None
    assert np.allclose(
        np.array(fringes.planes),
        np.array([[1.02, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], [0.99, 0.01, 0, 0, 0, 0]]),
    )
    alike = WarpRectilinear((green,), (0.5, 0.5))
    assert keep_parts(alike, distortion=False, ca=True) is None


def test_bad_pixels_are_those_of_a_value_or_of_a_list() -> None:
    stored = RNG.integers(0, 9, SIZE).astype(np.uint16)
    assert np.array_equal(FixBadPixelsConstant(4).find(stored), stored == 4)
    points = np.array([[2, 3], [23, 30], [99, 1]], np.uint32)
    rectangles = np.array([[1, 1, 4, 2], [20, 28, 99, 99], [2, 0, 6, 5], [9, 9, 9, 20]], np.uint32)
    expected = np.zeros(SIZE, bool)
    expected[2, 3] = expected[23, 30] = True
    for top, left, bottom, right in rectangles:
        expected[top:bottom, left:right] = True
    listed = FixBadPixelsList(points, rectangles)
    assert np.array_equal(listed.find(stored), expected)
    assert np.array_equal(listed.shift(2, 3).find(stored[2:, 3:]), expected[2:, 3:])
