"""Which pixels strokes, rectangles and polygons mark."""

import numpy as np
import pytest

from demosaic_ntc.errors import InputError
from demosaic_ntc.studio.canvas.boxes import PixelBox
from demosaic_ntc.studio.canvas.strokes import Polygon, Rectangle, Stroke, rasterise, shape_from

SIZE = (40, 60)


def all_of(shape: Stroke | Rectangle | Polygon) -> np.ndarray:
    flags = np.zeros(SIZE, np.bool_)
    box, marked = rasterise(shape, SIZE)
    flags[box.slices] = marked
    return flags


def by_definition(points: list[tuple[float, float]], radius: float) -> np.ndarray:
    """Every pixel whose middle is within the radius of the line, looked at one by one."""
    flags = np.zeros(SIZE, np.bool_)
    for row in range(SIZE[0]):
        for column in range(SIZE[1]):
            x, y = column + 0.5, row + 0.5
            for (ax, ay), (bx, by) in zip(points, points[1:] or points, strict=False):
                length = (bx - ax) ** 2 + (by - ay) ** 2
                t = (
                    0
                    if length == 0
                    else min(max(((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length, 0), 1)
                )
                near = (x - ax - t * (bx - ax)) ** 2 + (y - ay - t * (by - ay)) ** 2 <= radius**2
                flags[row, column] |= near or (int(ax), int(ay)) == (column, row)
    return flags


@pytest.mark.parametrize(
    ("points", "radius"),
    [
        ([(20.2, 11.7)], 4.3),
        ([(5.1, 5.2), (50.3, 30.4)], 3.1),
        ([(10.2, 10.2), (30.1, 10.2), (30.1, 35.3)], 2.6),
    ],
)
def test_strokes_mark_what_lies_within_their_radius(points: list[tuple[float, float]], radius: float) -> None:
    np.testing.assert_array_equal(all_of(Stroke(tuple(points), radius)), by_definition(points, radius))


def test_the_smallest_brush_marks_the_pixel_it_points_at() -> None:
    assert np.argwhere(all_of(Stroke(((7.99, 3.01),), 0.1))).tolist() == [[3, 7]]


def test_strokes_may_leave_the_picture() -> None:
    flags = all_of(Stroke(((-5.0, -5.0), (100.0, 80.0)), 3.0))
    assert flags[0, 0] or flags[0, 1]
    assert not all_of(Stroke(((-50.0, -50.0),), 3.0)).any()


def test_rectangles_hold_the_pixels_of_their_corners_whichever_comes_first() -> None:
    wanted = np.zeros(SIZE, np.bool_)
    wanted[3:11, 5:21] = True
    np.testing.assert_array_equal(all_of(Rectangle((5.2, 3.9), (20.7, 10.1))), wanted)
    np.testing.assert_array_equal(all_of(Rectangle((20.7, 10.1), (5.2, 3.9))), wanted)


def test_polygons_hold_the_pixels_whose_middles_lie_inside() -> None:
    flags = all_of(Polygon(((10.0, 5.0), (30.0, 5.0), (30.0, 25.0))))
    assert flags[10, 28]
    assert not flags[20, 12]
    assert abs(int(flags.sum()) - 200) <= 20


def test_what_would_take_for_ever_is_refused() -> None:
    points = [[float(n % 7), float(n)] for n in range(20_000)]
    with pytest.raises(InputError, match="too long for a brush"):
        shape_from({"tool": "brush", "radius": 4000, "points": points})


@pytest.mark.parametrize("orientation", range(1, 9))
def test_boxes_turn_as_pixels_do(orientation: int) -> None:
    from demosaic_ntc.io.pixels import orient

    stored = np.zeros((7, 11), np.bool_)
    box = PixelBox(1, 3, 4, 9)
    stored[box.slices] = True
    upright = box.upright((7, 11), orientation)
    seen = orient(stored, orientation)
    assert seen[upright.slices].all()
    assert seen.sum() == seen[upright.slices].size
