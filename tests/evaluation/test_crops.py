import numpy as np
import pytest

from demosaic_ntc.errors import InputError
from demosaic_ntc.viewer.crops import CropBox, most_detailed


def test_the_most_detailed_square_is_where_the_texture_is() -> None:
    picture = np.full((128, 160, 3), 100, np.uint8)
    picture[64:96, 96:128] += np.indices((32, 32)).sum(axis=0)[..., None].astype(np.uint8) // 2 % 2 * 60
    (box,) = most_detailed(picture, 32)
    assert box == CropBox(96, 64, 32, 32)


def test_squares_do_not_overlap_and_the_most_detailed_comes_first() -> None:
    picture = np.random.default_rng(0).integers(0, 255, (192, 256)).astype(np.uint8)
    picture[:, 128:] //= 8
    boxes = most_detailed(picture, 48, count=3)
    assert len(boxes) == 3
    assert boxes[0].left + 48 <= 128 + 16
    for i, one in enumerate(boxes):
        for other in boxes[i + 1 :]:
            assert abs(one.left - other.left) >= 48 or abs(one.top - other.top) >= 48


def test_a_picture_smaller_than_the_square_is_taken_whole() -> None:
    assert most_detailed(np.eye(20, 30), 64, count=2) == [CropBox(0, 0, 30, 20)]


@pytest.mark.parametrize("box", [CropBox(-1, 0, 4, 4), CropBox(0, 0, 4, 0), CropBox(8, 0, 4, 4)])
def test_a_box_outside_the_picture_is_refused(box: CropBox) -> None:
    with pytest.raises(InputError, match="leaves the picture of 10×10"):
        box.check((10, 10))


def test_a_box_says_where_it_lies_in_the_whole() -> None:
    assert CropBox(10, 5, 20, 10).share((50, 100)) == (0.1, 0.1, 0.2, 0.2)
