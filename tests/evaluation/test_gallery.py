from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from demosaic_ntc.viewer.crops import CropBox
from evaluation.data.sets import SetImage, read_picture
from evaluation.report.gallery import SIDE, Gallery


@pytest.fixture
def picture(tmp_path: Path) -> SetImage:
    """A picture with texture at its lower right only."""
    pixels = np.full((2 * SIDE, 3 * SIDE, 3), 90, np.uint8)
    pixels[SIDE:, 2 * SIDE :] = np.random.default_rng(0).integers(0, 255, (SIDE, SIDE, 3))
    Image.fromarray(pixels).save(tmp_path / "a.png")
    return read_picture(tmp_path / "a.png")


def test_the_most_detailed_part_is_shown_and_comes_back_without_loss(
    tmp_path: Path, picture: SetImage
) -> None:
    gallery = Gallery(tmp_path / "pictures", whole=False)
    box = gallery.box(picture)
    assert box == CropBox(2 * SIDE, SIDE, SIDE, SIDE)
    gallery.keep("key", picture.pixels(), box)
    kept = gallery.pixels("key")
    assert kept is not None
    np.testing.assert_array_equal(kept, picture.pixels()[SIDE:, 2 * SIDE :])
    assert (gallery.source("key") or "").startswith("data:image/webp;base64,")


def test_a_part_is_sought_within_a_frame_and_counted_from_its_corner(
    tmp_path: Path, picture: SetImage
) -> None:
    frame = CropBox(2 * SIDE - 16, SIDE - 32, SIDE + 16, SIDE + 32)
    assert Gallery(tmp_path, whole=False).box(picture, frame) == CropBox(16, 32, SIDE, SIDE)
    assert Gallery(tmp_path, whole=True).box(picture, frame) == CropBox(0, 0, SIDE + 16, SIDE + 32)


def test_parts_and_whole_pictures_of_one_result_are_kept_apart(tmp_path: Path, picture: SetImage) -> None:
    parts, whole = (Gallery(tmp_path / "pictures", whole=kind) for kind in (False, True))
    parts.keep("key", picture.pixels(), parts.box(picture))
    assert (parts.has("key"), whole.has("key"), whole.source("key"), whole.pixels("key")) == (
        True,
        False,
        None,
        None,
    )
    whole.keep("key", picture.pixels(), whole.box(picture))
    source = whole.source("key")
    assert source is not None
    assert (tmp_path / source).is_file()
