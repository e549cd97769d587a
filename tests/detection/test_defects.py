"""Hot, dead and stuck pixels: found in noise wherever they lie, while what a lens draws is left alone."""

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.noise import NOISELESS, NoiseModel
from demosaic_ntc.detection.defects import find_defects

SIGMA = 0.004
NOISE = NoiseModel.from_user(0.0, SIGMA**2)


def _flat(shape: tuple[int, int], level: float = 0.3) -> NDArray[np.float32]:
    return (level + np.random.default_rng(0).normal(0, SIGMA, shape)).astype(np.float32)


@pytest.mark.parametrize("array", ["RGGB", "GBRG", "XTRANS"])
@pytest.mark.parametrize("value", [0.0, 0.3 - 12 * SIGMA, 0.3 + 12 * SIGMA, 1.0])
def test_single_samples_that_differ_are_found_everywhere(array: str, value: float) -> None:
    """In corners, at edges, on both sides of the bands of rows, and at every site of the array."""
    mosaic, there = _flat((500, 150)), np.zeros((500, 150), bool)
    for row, column in ((0, 0), (499, 149), (0, 70), (239, 33), (240, 77), (241, 121), (100, 50), (133, 91)):
        there[row, column] = True
    there[300:400:31, 7::29] = True
    mosaic[there] = value
    assert np.array_equal(find_defects(mosaic, Cfa.from_name(array), NOISE), there)


def test_noise_alone_is_no_defect() -> None:
    assert not find_defects(_flat((600, 800)), Cfa.from_name("RGGB"), NOISE).any()


@pytest.mark.parametrize("width", [0.6, 1.0])
@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_stars_are_left_alone(width: float, shift: float) -> None:
    """White and coloured ones, centred on all sites of the array."""
    rows, columns = np.mgrid[:200, :200]
    light = np.full((200, 200, 3), 0.02)
    for k, (y, x) in enumerate(np.ndindex(4, 4)):
        squares = (rows - 30 - 45 * y - k % 2 - shift) ** 2 + (
            columns - 30 - 45 * x - k // 2 % 2 - shift
        ) ** 2
        light += (
            0.5 * np.exp(-squares / (2 * width**2))[..., None] * np.array([[1, 1, 1], [1, 0.7, 0.5]])[k % 2]
        )
    cfa = Cfa.from_name("RGGB")
    mosaic = cfa.sample(light) + np.random.default_rng(1).normal(0, SIGMA, (200, 200))
    assert not find_defects(mosaic.astype(np.float32), cfa, NOISE).any()


def test_flocks_are_texture() -> None:
    """Many lone samples of one colour next to each other are none of a sensor's."""
    mosaic = _flat((120, 120))
    mosaic[40:80:8, 40:80:8] = 0.8
    assert not find_defects(mosaic, Cfa.from_name("RGGB"), NOISE)[40:80, 40:80].any()


def test_balance_makes_colours_comparable() -> None:
    """A small grey light whose red and blue are seen weakly: next to a green sample they hardly show it."""
    rows, columns = np.mgrid[:60, :60]
    weak = np.array([0.1, 1.0, 0.1])
    light = 0.02 + 0.8 * np.exp(-((rows - 30) ** 2 + (columns - 31) ** 2) / (2 * 0.7**2))[..., None] * weak
    cfa = Cfa.from_name("RGGB")
    mosaic = (cfa.sample(light) + np.random.default_rng(2).normal(0, SIGMA, (60, 60))).astype(np.float32)
    assert not find_defects(mosaic, cfa, NOISE, balance=(10.0, 1.0, 10.0)).any()


def test_nothing_is_told_where_other_colours_are_saturated() -> None:
    mosaic = np.ones((60, 60), np.float32)
    mosaic[30, 30], mosaic[30, 41] = 0.8, 0.1  # one that may be a detail, one that is dead
    found = np.argwhere(find_defects(mosaic, Cfa.from_name("RGGB"), NOISE))
    assert found.tolist() == [[30, 41]]


def test_steps_of_samples_are_no_defects() -> None:
    mosaic = np.full((64, 64), 0.5, np.float32)
    mosaic[32, 32] += 4 / 255
    assert not find_defects(mosaic, Cfa.from_name("RGGB"), NOISELESS, step=1 / 255).any()
    assert find_defects(mosaic, Cfa.from_name("RGGB"), NOISELESS)[32, 32]
