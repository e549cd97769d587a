"""Pictures of any depth as bytes: what is no number is black, and says nothing of white."""

import numpy as np
import pytest

from demosaic_ntc.studio.canvas.tile_images import view_of, white_shown


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_says_nothing_of_white(odd: float) -> None:
    picture = np.full((16, 16), 200.0, np.float32)
    picture[0, 0] = odd
    assert white_shown(picture) == 255
    assert view_of(picture, 255.0)[1, 1] == 200


@pytest.mark.parametrize(("value", "white"), [(np.nan, 1.0), (np.finfo(np.float64).max, 2.0**1023)])
def test_any_float_can_be_shown(value: float, white: float) -> None:
    assert white_shown(np.full((8, 8), value)) == white
