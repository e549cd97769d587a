"""What a repair looks at, and that looking at no more changes nothing."""

from typing import Any

import numpy as np
import pytest

from demosaic_ntc import inpaint
from demosaic_ntc.inpainting import inpaint as inpainting
from demosaic_ntc.inpainting.regions import MARGIN
from demosaic_ntc.inpainting.texture.parts import find_parts
from demosaic_ntc.inpainting.wide_holes import find_view, paste
from tests.inpainting.test_wide_holes import bricks


@pytest.mark.parametrize("fill", ["smooth", "auto"])
def test_what_is_not_looked_at_changes_nothing(fill: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = np.random.default_rng(1).normal(0, 6, (480, 480, 3))
    picture = np.clip(np.tile(bricks(), (2, 2, 1))[:480, :480] + noise, 0, 255).astype(np.uint8)
    missing = np.zeros((480, 480), np.bool_)
    missing[150:190, 160:200] = missing[210:213, 140:260] = True
    how: dict[str, Any] = {"fill": fill, "grain": "auto", "error": True, "quality": "fast"}
    made = inpaint(picture, missing, **how)
    monkeypatch.setattr(
        inpainting, "find_view", lambda unknown, *_: tuple(slice(0, size) for size in unknown.shape)
    )
    whole = inpaint(picture, missing, **how)
    np.testing.assert_array_equal(made.image, whole.image)
    assert made.error is not None
    np.testing.assert_array_equal(made.error, whole.error)
    if fill == "auto":
        assert made.copied is not None
        np.testing.assert_array_equal(made.copied.as_map((480, 480)), whole.copied.as_map((480, 480)))  # type: ignore[union-attr]


def test_the_view_holds_holes_their_margins_and_what_is_copied() -> None:
    missing = np.zeros((900, 1000), np.bool_)
    missing[300:310, 400:420] = True
    assert find_view(missing, [], None) == (
        slice(300 - MARGIN, 310 + MARGIN),
        slice(400 - MARGIN, 420 + MARGIN),
    )
    missing[500:540, 500:540] = True
    rows, columns = find_view(missing, list(find_parts(missing, (12, 16))), None)
    assert rows.start == 300 - MARGIN
    assert rows.stop >= 540 + 128
    assert columns.stop >= 540 + 128
    far = np.zeros_like(missing)
    far[880:890, 10:20] = True
    rows, columns = find_view(missing, list(find_parts(missing, (12, 16))), far)
    assert (rows.stop, columns.start) == (890, 10)


def test_a_hole_that_sees_nothing_known_sees_the_whole_picture() -> None:
    missing = np.zeros((300, 2800), np.bool_)
    missing[:, :2500] = True  # cut into regions, the first of which see nothing else
    assert find_view(missing, [], None) == (slice(0, 300), slice(0, 2800))
    assert find_view(np.zeros((5, 6), np.bool_), [], None) == (slice(0, 5), slice(0, 6))
    part = np.ones((2, 3, 4), np.float32)
    whole = paste(part, (slice(1, 4), slice(2, 6)), (8, 9))
    assert whole.shape == (2, 8, 9)
    assert whole.sum() == 24
    assert paste(part, (slice(0, 3), slice(0, 4)), (3, 4)) is part
