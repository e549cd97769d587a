"""Wide holes filled with texture: what is promised of it, on pictures whose truth is known."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from demosaic_ntc import inpaint
from demosaic_ntc.errors import BadMask, InputError
from demosaic_ntc.inpainting.inpaint_parts import inpaint_parts

pytestmark = pytest.mark.slow

SIDE = 240


def square(side: int = 80, shape: tuple[int, int] = (SIDE, SIDE), place: int = 80) -> NDArray[np.bool_]:
    missing = np.zeros(shape, np.bool_)
    missing[place : place + side, place : place + side] = True
    return missing


def as_bytes(grey: NDArray[np.float64]) -> NDArray[np.uint8]:
    return np.rint(255 * np.clip(grey[..., None] * [1.0, 0.9, 0.75], 0, 1)).astype(np.uint8)


def bricks() -> NDArray[np.uint8]:
    """Rows of bricks with light mortar, each of its own brightness."""
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    row = y // 12
    column = (x + 12 * (row % 2)) // 24
    tone = 0.45 + 0.1 * np.sin(3.7 * row + 5.3 * column)
    mortar = (y % 12 < 2) | ((x + 12 * (row % 2)) % 24 < 2)
    noise = np.random.default_rng(0).normal(0, 0.02, y.shape)
    return as_bytes(np.where(mortar, 0.8, tone) + noise)


def stripes() -> NDArray[np.uint8]:
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    return as_bytes(0.5 + 0.3 * np.sign(np.sin(2 * np.pi * (x + 0.5 * y) / 14)))


def ramp(noise: float = 0.03) -> NDArray[np.uint8]:
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    grain = np.random.default_rng(1).normal(0, noise, y.shape)
    return as_bytes(0.3 + 0.4 * (x + y) / (2 * SIDE) + grain)


def steepness(image: NDArray[Any], where: NDArray[np.bool_]) -> float:
    """The mean of |∂x| and |∂y| over some pixels."""
    light = image.astype(np.float64).mean(axis=2)
    return float(np.mean([np.abs(np.gradient(light, axis=axis))[where].mean() for axis in (0, 1)]))


@pytest.mark.parametrize("make", [bricks, stripes])
def test_texture_is_as_steep_as_the_truth(make: Any) -> None:
    truth, missing = make(), square()
    filled, smooth = (inpaint(truth, missing, fill=fill).image for fill in ("auto", "smooth"))
    inner = square(72, place=84)
    ratio = steepness(filled, inner) / steepness(truth, inner)
    assert 0.8 < ratio < 1.2
    assert steepness(smooth, inner) / steepness(truth, inner) < 0.5


def test_known_pixels_stay_and_threads_do_not_matter() -> None:
    truth, missing = bricks(), square()
    one, two = (inpaint(truth, missing, fill="auto", threads=threads) for threads in (1, 3))
    np.testing.assert_array_equal(one.image, two.image)
    np.testing.assert_array_equal(one.image[~missing], truth[~missing])


def test_what_was_copied_is_told() -> None:
    truth, missing = bricks(), square()
    made = inpaint(truth, missing, fill="auto")
    assert made.copied is not None
    assert made.copied.count == missing.sum()
    assert any("copied" in notice and "certified" in notice for notice in made.notices)
    places = made.copied.as_map(truth.shape)
    np.testing.assert_array_equal(places[..., 0] >= 0, missing)
    rows, columns = np.moveaxis(places[missing], 1, 0)
    assert not missing[rows, columns].any()
    inner = square(40, place=100)
    copy = truth[tuple(np.moveaxis(places[inner], 1, 0))].astype(float)
    assert np.abs(copy - made.image[inner]).mean() < 12  # but for seams that were blended


def test_a_noisy_ramp_goes_on_without_a_step_and_keeps_its_noise() -> None:
    truth, missing = ramp(), square()
    made = inpaint(truth, missing, fill="auto").image.astype(float)
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    clean = as_bytes(0.3 + 0.4 * (x + y) / (2 * SIDE)).astype(float)
    inner = square(60, place=90)
    noise, true_noise = ((each - clean)[inner].std() for each in (made, truth))
    flat = steepness(made, inner) / steepness(truth, inner)
    assert 0.8 < flat < 1.2
    assert noise < 2 * true_noise
    rim = missing & ~square(72, place=84)
    assert abs((made - clean)[rim].mean()) < 4


def test_a_straight_edge_goes_on() -> None:
    """Within two pixels at mid-hole."""
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    line = 90 + 0.25 * x
    grain = np.random.default_rng(2).normal(0, 0.015, y.shape)
    truth, missing = as_bytes(np.where(y < line, 0.75, 0.3) + grain), square()
    made = inpaint(truth, missing, fill="auto").image[..., 0]
    column = made[80:160, 120].astype(float) / 255
    edge = 80 + float((column > 0.525).sum())
    assert abs(edge - line[0, 120]) <= 2


def test_auto_is_smooth_where_no_hole_is_wider_than_24_pixels() -> None:
    truth, missing = bricks(), square(24)
    one, other = (inpaint(truth, missing, fill=fill) for fill in ("auto", "smooth"))
    np.testing.assert_array_equal(one.image, other.image)
    assert one.copied is None
    texture = inpaint(truth, missing, fill="texture")
    assert texture.copied is not None
    assert (texture.image != other.image).any()


def test_smooth_is_the_default() -> None:
    truth, missing = bricks(), square()
    one, other = inpaint(truth, missing), inpaint(truth, missing, fill="smooth")
    np.testing.assert_array_equal(one.image, other.image)
    assert one.copied is None


def test_the_source_is_kept_to() -> None:
    truth, missing = bricks(), square()
    source = np.zeros_like(missing)
    source[10:60, 20:230] = True
    made = inpaint(truth, missing, fill="auto", source=source)
    assert made.copied is not None
    assert source[tuple(made.copied.sources.T)].all()


def test_without_a_source_the_fill_is_smooth_and_says_so() -> None:
    truth, missing = bricks(), square()
    made = inpaint(truth, missing, fill="auto", source=np.zeros_like(missing))
    np.testing.assert_array_equal(made.image, inpaint(truth, missing).image)
    assert made.copied is None
    assert any("nothing to copy" in notice for notice in made.notices)


def test_a_source_that_does_not_fit_is_refused() -> None:
    with pytest.raises(BadMask, match="source is bool of shape"):
        inpaint(bricks(), square(), fill="auto", source=np.ones((3, 3), np.bool_))
    with pytest.raises(InputError, match="fill"):
        inpaint(bricks(), square(), fill="cloud")  # type: ignore[arg-type]


def _grey(image: NDArray[np.uint8]) -> NDArray[Any]:
    return image[..., 0]


def _deep(image: NDArray[np.uint8]) -> NDArray[Any]:
    return image.astype(np.uint16) * 257


def _float(image: NDArray[np.uint8]) -> NDArray[Any]:
    return image.astype(np.float32) / 255


def _five(image: NDArray[np.uint8]) -> NDArray[Any]:
    return np.concatenate([image, image[..., :2]], axis=2)


@pytest.mark.parametrize("change", [_grey, _deep, _float, _five])
@pytest.mark.parametrize("place", [0, 80, 170])
def test_any_picture_and_holes_at_borders(change: Any, place: int) -> None:
    image, missing = change(bricks()), square(70, place=place)
    made = inpaint(image, missing, fill="auto", quality="fast", error=True)
    assert made.copied is not None
    np.testing.assert_array_equal(made.image[~missing], image[~missing])
    assert made.image.dtype == image.dtype
    assert made.error is not None
    assert (made.error[missing] > 0).all()
    assert (made.error[~missing] == 0).all()


def test_narrow_arms_are_left_to_the_engine() -> None:
    truth, missing = bricks(), square(60)
    missing[100:106, 140:220] = True
    made = inpaint(truth, missing, fill="auto")
    assert made.copied is not None
    copied = np.zeros_like(missing)
    copied[tuple(made.copied.targets.T)] = True
    assert copied[80:140, 80:140].all()
    assert not copied[100:106, 160:].any()


def test_parts_are_those_of_the_whole() -> None:
    image, missing = np.tile(bricks(), (2, 2, 1)), np.zeros((2 * SIDE, 2 * SIDE), np.bool_)
    missing[40:100, 50:120] = missing[60:64, 100:300] = missing[300:350, 320:380] = True
    missing[420:424, 20:60] = True
    source = np.ones_like(missing)
    source[:30] = False
    whole = inpaint(image, missing, fill="auto", quality="fast", error=True, source=source)
    made, error, copied = image.copy(), np.zeros(image.shape, np.float32), 0
    for part in inpaint_parts(image, missing, missing, quality="fast", fill="auto", source=source):
        made[part.rows, part.columns], error[part.rows, part.columns] = part.image, part.error
        copied += part.copied
        assert part.too_deep == 0
    np.testing.assert_array_equal(made, whole.image)
    np.testing.assert_array_equal(error, whole.error)
    assert whole.copied is not None
    assert copied == whole.copied.count
    wanted = missing & (np.arange(2 * SIDE)[:, None] > 280) & (np.arange(2 * SIDE) > 300)
    (part,) = inpaint_parts(image, missing, wanted, quality="fast", fill="auto", source=source)
    np.testing.assert_array_equal(part.image, whole.image[part.rows, part.columns])


def test_without_time_holes_stay_smooth() -> None:
    truth, missing = bricks(), square()
    made = inpaint(truth, missing, fill="auto", time_limit=0)
    assert made.copied is None
    assert any("time ran out" in notice for notice in made.notices)
