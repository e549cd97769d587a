"""Wide holes in the studio: texture by a switch, masks that grow, and marked places to copy from."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from demosaic_ntc import inpaint
from demosaic_ntc.images.mask import grow_flags
from demosaic_ntc.studio.looks import describe_controls
from tests.inpainting.test_wide_holes import bricks, square
from tests.studio.studios import Served, png

WAY = {"quality": "fast", "grain": "off", "fill": "auto"}


def _mark(shared: Served, number: int, flags: np.ndarray) -> None:
    """Mark the box of flags."""
    rows, columns = np.nonzero(flags)
    corners = [[float(columns[end]) + 0.5, float(rows[end]) + 0.5] for end in (0, -1)]
    answer = shared.post(f"/api/pictures/{number}/mask", {"tool": "rectangle", "points": corners})
    assert answer.status_code == 200, answer.text


def _marked(shared: Served, number: int) -> np.ndarray:
    with Image.open(BytesIO(shared.get(f"/api/pictures/{number}/mask.png").content)) as image:
        return np.array(image) > 0


def test_the_page_begins_with_texture_and_a_mask_that_grows_by_three() -> None:
    first = {control["name"]: control["value"] for control in describe_controls()}
    assert first["fill"] == "auto"
    assert first["grow"] == 3


def test_what_is_seen_and_saved_is_what_inpaint_copies(shared: Served) -> None:
    number = shared.upload(png(bricks()))
    missing, allowed = square(60), np.zeros((240, 240), np.bool_)
    allowed[150:230, 10:230] = True
    _mark(shared, number, allowed)
    answer = shared.post(f"/api/pictures/{number}/mask", {"tool": "source"}).json()
    assert answer["mask"]["pixels"] == 0
    assert answer["mask"]["allowed"] > 0
    assert (shared.tile(number, "source")[150:230, 10:230, -1] == 255).all()
    _mark(shared, number, missing)
    np.testing.assert_array_equal(_marked(shared, number), missing)
    done = shared.task(shared.post(f"/api/pictures/{number}/repair", {"what": "all", **WAY}))
    assert done["state"] == "done", done
    assert "neither measured nor certified" in str(done)
    expected = inpaint(bricks(), missing, quality="fast", fill="auto", source=allowed)
    np.testing.assert_array_equal(shared.tile(number, "after"), expected.image)
    assert (
        shared.task(shared.post(f"/api/pictures/{number}/save", {"format": "png", **WAY}))["state"] == "done"
    )
    with Image.open(BytesIO(shared.get(f"/api/pictures/{number}/result").content)) as saved:
        np.testing.assert_array_equal(np.array(saved), expected.image)


def test_the_mask_grows_and_shrinks_again(shared: Served) -> None:
    number = shared.upload(png(bricks()))
    missing = square(20)
    _mark(shared, number, missing)
    before = _marked(shared, number)
    grown = shared.post(f"/api/pictures/{number}/mask", {"tool": "grow", "pixels": 5})
    assert grown.status_code == 200, grown.text
    np.testing.assert_array_equal(_marked(shared, number), grow_flags(before, 5))
    shared.post(f"/api/pictures/{number}/mask", {"tool": "undo"})
    np.testing.assert_array_equal(_marked(shared, number), before)


@pytest.mark.parametrize("pixels", [-1, 1000, "many"])
def test_growth_that_makes_no_sense_is_refused(shared: Served, pixels: object) -> None:
    number = shared.upload(png(bricks()))
    _mark(shared, number, square(20))
    assert shared.post(f"/api/pictures/{number}/mask", {"tool": "grow", "pixels": pixels}).status_code == 400


def test_a_fill_that_is_none_is_refused(shared: Served) -> None:
    number = shared.upload(png(bricks()))
    _mark(shared, number, square(20))
    answer = shared.post(f"/api/pictures/{number}/repair", {"what": "all", "fill": "clouds"})
    assert answer.status_code == 400
