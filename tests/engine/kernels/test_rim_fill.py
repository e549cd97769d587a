"""The mean of what is known nearby, against plain numpy."""

import numpy as np
import pytest

from demosaic_ntc.engine.kernels.rim_fill import fill_from_nearby
from tests.engine.kernels.drawn import random_planes

FALLING = np.array([1.0, 0.5, 0.125], np.float32)


def test_missing_pixels_become_the_weighted_mean_of_known_ones_nearby() -> None:
    plane = random_planes(0, (1, 9, 11))[0]
    missing = np.random.default_rng(1).random((9, 11)) < 0.6
    filled = plane.copy()
    fill_from_nearby(filled, missing, FALLING)
    for row, column in np.argwhere(missing):
        total = mass = 0.0
        for i, j in np.argwhere(~missing):
            down, across = abs(i - row), abs(j - column)
            if max(down, across) < len(FALLING):
                weight = float(FALLING[down] * FALLING[across])
                total, mass = total + weight * float(plane[i, j]), mass + weight
        assert filled[row, column] == pytest.approx(total / (mass + 1e-6), abs=1e-5)
    assert np.array_equal(filled[~missing], plane[~missing])


def test_beyond_the_reach_there_is_nothing() -> None:
    plane, missing = np.ones((1, 6), np.float32), np.array([[False, True, True, True, True, True]])
    fill_from_nearby(plane, missing, FALLING)
    assert plane[0] == pytest.approx([1, 1, 1, 0, 0, 0], abs=1e-4)
