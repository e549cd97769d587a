"""Parts of a picture restored by themselves are those of the whole."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc.inpainting.inpaint import inpaint
from demosaic_ntc.inpainting.inpaint_parts import inpaint_parts
from demosaic_ntc.run import Progress


def picture(dtype: type, channels: int = 3) -> NDArray[Any]:
    y, x = np.mgrid[0:420, 0:500]
    waves = 0.5 + 0.2 * np.sin(x / 5) * np.cos(y / 7) + 0.2 * np.sin((x + y) / 11)
    planes = np.stack([waves**power for power in range(1, channels + 1)], axis=2)
    return np.asarray(np.rint(planes * np.iinfo(dtype).max), dtype)


def strokes() -> NDArray[np.bool_]:
    """Two strokes far apart, and one on the border."""
    missing = np.zeros((420, 500), np.bool_)
    missing[60:64, 30:120] = missing[300:330, 400:404] = missing[0:3, 250:300] = True
    return missing


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_every_part_is_as_in_the_whole_to_the_bit(dtype: type) -> None:
    image, missing = picture(dtype), strokes()
    whole = inpaint(image, missing, quality="fast", threads=1, error=True)
    parts = list(inpaint_parts(image, missing, missing, quality="fast"))
    made, error = image.copy(), np.zeros(image.shape, np.float32)
    for part in parts:
        made[part.rows, part.columns] = part.image
        error[part.rows, part.columns] = part.error
    np.testing.assert_array_equal(made, whole.image)
    assert whole.error is not None
    np.testing.assert_array_equal(error, whole.error)
    assert len(parts) == 3
    assert whole.certificate is not None
    assert sum(part.gaps.size for part in parts) == whole.certificate.groups


def test_only_regions_with_something_wanted_are_restored() -> None:
    image, missing = picture(np.uint8), strokes()
    wanted = missing.copy()
    wanted[:200] = False
    (part,) = inpaint_parts(image, missing, wanted, quality="fast")
    assert (part.rows, part.columns) == (slice(300, 330), slice(400, 404))
    whole = inpaint(image, missing, quality="fast", threads=1)
    np.testing.assert_array_equal(part.image, whole.image[part.rows, part.columns])


def test_the_scale_is_that_of_the_whole_picture() -> None:
    """A dark corner of a bright picture is not stretched."""
    image, missing = picture(np.uint16), strokes()
    image[200:] //= 256
    whole = inpaint(image, missing, quality="fast", threads=1)
    wanted = missing & (np.arange(420)[:, None] > 200)
    (part,) = inpaint_parts(image, missing, wanted, quality="fast")
    np.testing.assert_array_equal(part.image, whole.image[part.rows, part.columns])


def test_grey_pictures_and_what_lies_too_deep() -> None:
    image = picture(np.uint8, 1)[..., 0]
    missing = np.zeros(image.shape, np.bool_)
    missing[100:140, 100:140] = True
    (part,) = inpaint_parts(image, missing, missing, quality="fast")
    assert part.image.shape == (40, 40)
    assert 0 < part.too_deep < 1600
    assert (part.error > 0).all()


def test_regions_shared_by_threads_are_the_same_in_the_same_order() -> None:
    image, missing = picture(np.uint8), strokes()
    alone, shared = (
        list(inpaint_parts(image, missing, missing, quality="fast", threads=threads)) for threads in (1, 2)
    )
    assert len(alone) == len(shared) == 3
    for one, other in zip(alone, shared, strict=True):
        assert (one.rows, one.columns) == (other.rows, other.columns)
        np.testing.assert_array_equal(one.image, other.image)
        np.testing.assert_array_equal(one.error, other.error)


def test_progress_counts_the_pixels_of_all_parts() -> None:
    image, missing = picture(np.uint8), strokes()
    heard: list[Progress] = []
    list(inpaint_parts(image, missing, missing, quality="fast", progress=heard.append))
    assert heard[-1].done == heard[-1].total == int(missing.sum())
    assert all(step.total == heard[-1].total for step in heard)
