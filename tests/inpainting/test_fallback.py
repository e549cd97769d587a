"""Pictures for which there is no time: whole, honest, and what is known as it was."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc import inpaint
from demosaic_ntc.inpainting.fallback import plainly_restored
from demosaic_ntc.inpainting.scaling import Scale, planes_of
from demosaic_ntc.inpainting.smooth_fill import plainly_filled
from demosaic_ntc.run import Run

SHAPE = (200, 90, 3)


def _picture(dtype: Any = np.float32) -> NDArray[Any]:
    top = 1 if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max
    return (np.random.default_rng(0).random(SHAPE) * top).astype(dtype)


def _upper_rows() -> NDArray[np.bool_]:
    missing = np.zeros(SHAPE[:2], np.bool_)
    missing[:140] = True
    return missing


def _scattered() -> NDArray[np.bool_]:
    return np.random.default_rng(1).random(SHAPE[:2]) < 0.5


@pytest.mark.parametrize("missing", [_upper_rows(), _scattered()])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
def test_every_row_is_filled_with_means_of_its_channel(dtype: Any, missing: NDArray[np.bool_]) -> None:
    """The plain twin: bands of 64 rows by themselves; those that know nothing get the channel's mean."""
    picture = _picture(dtype)
    white = 1.0 if picture.dtype.kind == "f" else float(np.iinfo(dtype).max)
    holes = np.broadcast_to(missing, (3, *SHAPE[:2]))
    made, variance = plainly_restored(picture, holes, Scale(0.0, white, white), Run(2, want_error=True))
    expected, spread = planes_of(picture) / white, np.zeros(holes.shape)
    for top in range(0, SHAPE[0], 64):
        rows = slice(top, top + 64)
        for channel in range(3):
            part, hole = expected[channel, rows].copy(), missing[rows]
            if hole.all():
                shown = (planes_of(picture) / white)[channel][~missing]
                part[:], deviation = shown.mean(), shown.var()
            else:
                part = plainly_filled(part[None].astype(np.float32), ~hole[None])[0]
                deviation = part.var()
            expected[channel, rows] = part
            spread[channel, rows] = np.where(hole, deviation, 0.0)
    restored = planes_of(made)
    np.testing.assert_array_equal(made[~missing], picture[~missing])
    tolerance = 1e-6 if picture.dtype.kind == "f" else 0.51 / white
    np.testing.assert_allclose(restored / white, expected, atol=tolerance)
    np.testing.assert_allclose(variance, spread, rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize("missing", [_upper_rows(), _scattered()])
def test_no_time_at_all_is_told(missing: NDArray[np.bool_]) -> None:
    picture = _picture(np.uint16)
    restored = inpaint(picture, missing, time_limit=0.0, error=True)
    np.testing.assert_array_equal(restored.image[~missing], picture[~missing])
    assert restored.image[missing].min() > 0
    assert any("time ran out" in notice for notice in restored.notices)
    assert restored.certificate is not None
    assert restored.certificate.groups > 0
    assert restored.certificate.certified == 0
    assert restored.error is not None
    assert (restored.error[missing] > 0).all(), "nobody knows what was there"
    assert (restored.error[~missing] == 0).all()


def test_channels_of_which_nothing_is_known_are_made_of_the_others() -> None:
    picture = _picture()
    missing = np.repeat(_scattered()[:, :, None], 3, axis=2)
    missing[..., 1] = True
    image = inpaint(picture, missing, time_limit=0.0).image
    np.testing.assert_allclose(image[..., 1], image[..., [0, 2]].mean(axis=2), atol=1e-6)


def test_whatever_stands_in_holes_is_not_looked_at() -> None:
    picture, missing = _picture(), _scattered()
    spoilt = picture.copy()
    spoilt[missing] = np.nan
    expected = inpaint(picture, missing, time_limit=0.0).image
    np.testing.assert_array_equal(inpaint(spoilt, missing, time_limit=0.0).image, expected)
