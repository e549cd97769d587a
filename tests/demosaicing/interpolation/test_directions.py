"""Colour differences along directions, against a plain transcription without compiled steps or kept rows."""

from math import sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.interpolation.any_array import (
    GREEN,
    LONG_DIFFERENCE,
    WINDOW,
    Blur,
    DiagonalBlur,
    Filter,
    _directional_green,
    _weigh,
    smooth_difference,
)
from demosaic_ntc.demosaicing.interpolation.direction_kernels import (
    add_estimates,
    divide_by_mass,
    square_misses,
)
from demosaic_ntc.demosaicing.interpolation.refine import float_masks, taps_for

Floats = NDArray[np.float32]
ARRAYS = ["XTRANS", "QUAD_RGGB", "RGGR/GBBG", "RGGB"]


def filters(cfa: Cfa, along: float, across: float) -> list[Filter]:
    """Those of rows, columns and both diagonals."""
    far, near, slant = taps_for(along, cfa), taps_for(across, cfa), taps_for(along / sqrt(2), cfa)
    return [Blur(near, far), Blur(far, near), *(DiagonalBlur(near, slant, turn) for turn in (1, -1))]


def plain_green(mosaic: Floats, cfa: Cfa) -> NDArray[np.float64]:
    """What the docstrings say, plane by plane."""
    red, green, blue = float_masks(mosaic, cfa)
    total, weights = np.zeros(mosaic.shape), np.zeros(mosaic.shape)
    ways = zip(*(filters(cfa, *widths) for widths in (GREEN, LONG_DIFFERENCE, WINDOW)), strict=True)
    for (near, far, window), share in zip(ways, (1.0, 1.0, 0.3, 0.3), strict=True):
        apart = near(mosaic * green).astype(np.float64) / near(green) - mosaic
        whole = window(np.ones_like(mosaic)).astype(np.float64)
        for mask in (red, blue):
            d = apart * mask
            s = far(d.astype(np.float32)) / far(mask).astype(np.float64)
            squares, means, misses = (
                window(np.ascontiguousarray(each, np.float32)) for each in (s * s, s, mask * (s - d) ** 2)
            )
            v = np.maximum(squares / whole - (means / whole) ** 2, 0) + 1e-7
            n = misses / window(mask).astype(np.float64) + 1e-7
            weight = mask * share / (1e-7 + v * n / (v + n)) ** 2
            total += weight * (v * d + n * s) / (v + n)
            weights += weight
    return np.where(green > 0, mosaic, mosaic + total / np.where(green > 0, 1, weights))


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("shape", [(90, 61), (23, 30)])
def test_green_is_fused_from_four_directions(array: str, shape: tuple[int, int]) -> None:
    cfa, rows = Cfa.parse(array).shift(1, 0), np.arange(shape[0])[:, None]
    waves = np.sin(rows / 5 + np.arange(shape[1]) / 9) / 4 + 0.5
    mosaic = (waves + np.random.default_rng(1).normal(0, 0.03, shape)).astype(np.float32)
    found = _directional_green(mosaic, cfa, float_masks(mosaic, cfa), LONG_DIFFERENCE)
    assert found == pytest.approx(plain_green(mosaic, cfa), abs=2e-4)


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("height", [6, 37, 38, 39, 40, 41, 42, 120])
def test_rows_that_are_kept_stand_for_all_others(array: str, height: int) -> None:
    cfa = Cfa.parse(array).shift(0, 1)
    ways = [*filters(cfa, *WINDOW), *filters(cfa, *LONG_DIFFERENCE)]
    for mask in (*float_masks(np.zeros((height, 20), np.float32), cfa), np.ones((height, 20), np.float32)):
        for blur in ways:
            mass, rows = _weigh(mask, blur, cfa)
            assert np.array_equal(mass[rows], blur(mask))
    assert height < 120 or len(mass) < 60  # few of them


def test_compiled_steps_do_what_they_say() -> None:
    generator = np.random.default_rng(4)
    d, s, squares, means, misses, mask, total, weights = generator.random((8, 7, 9)).astype(np.float32)
    whole, mass = generator.random((2, 3, 9)).astype(np.float32) + np.float32(1)
    squares += np.float32(1)
    rows, others = generator.integers(0, 3, (2, 7))
    divided = s.copy()
    divide_by_mass(divided, mass, rows)
    assert divided == pytest.approx(s / mass[rows])
    missed = np.empty_like(s)
    square_misses(s, d, mask, missed)
    assert missed == pytest.approx((s - d) ** 2 * mask)
    v = np.maximum(squares / whole[rows] - (means / whole[rows]) ** 2, 0) + 1e-7
    n = misses / mass[others] + 1e-7
    weight = mask * 0.3 / (1e-7 + v * n / (v + n)) ** 2
    expected = total + weight * (v * d + n * s) / (v + n), weights + weight
    add_estimates(
        d, s, squares, means, misses, whole, rows, mass, others, mask, np.float32(0.3), total, weights
    )
    assert total == pytest.approx(expected[0], rel=1e-4)
    assert weights == pytest.approx(expected[1], rel=1e-4)


def test_samples_stay() -> None:
    cfa = Cfa.from_name("XTRANS")
    mosaic = np.random.default_rng(2).random((40, 50), dtype=np.float32)
    assert np.array_equal(cfa.sample(smooth_difference(mosaic, cfa)), mosaic)
