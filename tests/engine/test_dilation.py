"""Flags grown by a rim, beside the plain way: any flag in a square."""

import numpy as np
import pytest

from demosaic_ntc.arrays import Flags
from demosaic_ntc.engine.tiles import close_to


def plainly(flags: Flags, pixels: int) -> Flags:
    near = np.zeros_like(flags)
    for row, column in np.argwhere(flags):
        near[max(row - pixels, 0) : row + pixels + 1, max(column - pixels, 0) : column + pixels + 1] = True
    return near


@pytest.mark.parametrize("pixels", [0, 1, 2, 3, 4, 5, 7, 12, 24])
@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (600, 33)])
def test_what_is_close_has_a_flag_in_the_square_around(shape: tuple[int, int], pixels: int) -> None:
    generator = np.random.default_rng(pixels)
    for share in (0.0, 0.004, 0.2):
        flags = generator.random(shape) < share
        assert np.array_equal(close_to(flags, pixels), plainly(flags, pixels))
