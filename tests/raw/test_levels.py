from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.errors import InputError
from demosaic_ntc.raw.levels import expose, grey_world, replace_levels
from demosaic_ntc.raw.photo import RawPhoto

CHANNELS = np.array([[0, 1], [3, 2]], dtype=np.uint8)


def _photo(mosaic: NDArray[np.integer], **changes: object) -> RawPhoto:
    photo = RawPhoto(mosaic.astype(np.uint16), CHANNELS, np.full((2, 2), 100.0), white=1100.0)
    return replace(photo, **changes)  # type: ignore[arg-type]


def _flat(red: int, green: int, blue: int, second: int, size: int = 32) -> NDArray[np.integer]:
    return np.tile(np.array([[red, green], [second, blue]]), (size // 2, size // 2))


def test_smallest_gain_takes_a_saturated_sample_to_one() -> None:
    photo = _photo(_flat(300, 500, 400, 500), camera_balance=(2.0, 1.0, 1.5, 1.0))
    exposure = expose(photo, "camera", "metadata", keep_highlights=False)
    assert exposure.gains == pytest.approx((0.002, 0.001, 0.0015, 0.001))
    assert exposure.balance_source == "camera"


def test_kept_highlights_take_the_largest_gain_to_one() -> None:
    photo = _photo(_flat(300, 500, 400, 500), camera_balance=(2.0, 1.0, 1.5, 1.0))
    exposure = expose(photo, "camera", "metadata", keep_highlights=True)
    assert exposure.balance == pytest.approx((1.0, 0.5, 0.75, 0.5))


def test_grey_world_makes_the_mean_grey_in_all_four_channels() -> None:
    balance = grey_world(_photo(_flat(200, 300, 150, 310)), span=1000)
    light = np.array([100, 200, 50, 210])
    assert np.array(balance) * light == pytest.approx(1.0)


def test_grey_world_leaves_out_blocks_with_a_saturated_sample() -> None:
    mosaic = _flat(200, 300, 150, 300)
    mosaic[:8, :8] = 500
    mosaic[3, 3] = 1100
    assert grey_world(_photo(mosaic), span=1000) == pytest.approx(
        grey_world(_photo(_flat(200, 300, 150, 300)), 1000)
    )


def test_grey_world_of_a_black_frame_is_daylight() -> None:
    photo = _photo(_flat(100, 100, 100, 100), daylight_balance=(2.0, 1.0, 1.5, 1.0))
    assert grey_world(photo, 1000) == (2.0, 1.0, 1.5, 1.0)


def test_absent_camera_balance_falls_back_to_grey_world_in_raws() -> None:
    assert (
        expose(_photo(_flat(200, 300, 150, 310)), "camera", "metadata", keep_highlights=False).balance_source
        == "auto"
    )


def test_absent_camera_balance_is_left_out_in_plain_mosaics() -> None:
    photo = _photo(_flat(200, 300, 150, 310), is_plain=True)
    exposure = expose(photo, "camera", "metadata", keep_highlights=False)
    assert (exposure.balance_source, exposure.balance) == ("none", (1.0, 1.0, 1.0, 1.0))


def test_given_multipliers_are_used() -> None:
    exposure = expose(_photo(_flat(1, 2, 3, 4)), (3.0, 1.0, 2.0), "metadata", keep_highlights=False)
    assert (exposure.balance_source, exposure.balance) == ("given", (3.0, 1.0, 2.0, 1.0))


def test_given_levels_replace_those_of_the_file() -> None:
    photo = replace_levels(_photo(_flat(1, 2, 3, 4)), (10.0, 20.0, 30.0, 40.0), 900.0)
    assert photo.black.tolist() == [[10, 20], [40, 30]]
    assert photo.white == 900


def test_one_black_level_is_for_all() -> None:
    assert set(replace_levels(_photo(_flat(1, 2, 3, 4)), (64.0,), "auto").black.ravel()) == {64.0}


def test_white_below_black_is_refused() -> None:
    with pytest.raises(InputError, match="not above black"):
        replace_levels(_photo(_flat(1, 2, 3, 4)), None, 50.0)


def test_sites_hold_a_black_pattern_larger_than_the_array() -> None:
    black = np.arange(16.0).reshape(4, 4)
    sites = _photo(_flat(1, 2, 3, 4), black=black).sites
    assert sites.period == (4, 4)
    assert np.array_equal(sites.channels, np.tile(CHANNELS, (2, 2)))


def test_second_green_is_green() -> None:
    assert _photo(_flat(1, 2, 3, 4)).cfa == Cfa.from_name("RGGB")


def test_levels_of_plain_mosaics_are_not_guessed() -> None:
    """A flat bright patch is a pile-up to a camera, and just a patch in a mosaic made from a picture."""
    photo = _photo(_flat(900, 900, 900, 900))
    assert expose(photo, "camera", "auto", keep_highlights=False).white == 900
    assert expose(replace(photo, is_plain=True), "camera", "auto", keep_highlights=False).white == 1100
