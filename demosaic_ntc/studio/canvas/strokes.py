"""What a person draws: strokes, rectangles and polygons, as flags of the pixels they mark.

Places are (x, y) in pixels of the picture as it is seen, counted from the outer edge of its first pixel,
whose middle is at (0.5, 0.5). A pixel belongs to a stroke if its middle lies no farther from the line than
the radius, or if a point of the line lies in it: the smallest brush marks the pixel it points at.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import floor, hypot
from typing import Any

import numpy as np
from skimage.draw import polygon as polygon_pixels

from demosaic_ntc.arrays import Flags
from demosaic_ntc.errors import InputError
from demosaic_ntc.studio.canvas.boxes import PixelBox

Point = tuple[float, float]

_MOST_POINTS = 20_000
_LARGEST_RADIUS = 4000.0
_MOST_PIXELS = 4_000_000_000  # looked at for one stroke: seconds, not minutes
_FARTHEST = 1e6


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line through points, as broad as a brush."""

    points: tuple[Point, ...]
    radius: float

    def box(self) -> PixelBox:
        """What it may touch."""
        return _around(self.points, max(self.radius, 1.0))

    def mark(self, flags: Flags, box: PixelBox) -> None:
        """Set the flags, which are those of the box, of its pixels."""
        ends = list(pairwise(self.points)) or [(self.points[0], self.points[0])]
        for start, end in ends:
            near = _around((start, end), self.radius).both(box)
            if not near.is_empty:
                flags[near.relative_to(box).slices] |= _is_near(near, start, end, self.radius)
        for x, y in self.points:
            row, column = floor(y) - box.top, floor(x) - box.left
            if 0 <= row < flags.shape[0] and 0 <= column < flags.shape[1]:
                flags[row, column] = True

    @property
    def work(self) -> float:
        """How many pixels are looked at, about."""
        across = 2 * self.radius + 2
        lengths = sum(hypot(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(self.points))
        return (across * len(self.points) + lengths) * across


@dataclass(frozen=True, slots=True)
class Rectangle:
    """All pixels between two corners, those in which the corners lie included."""

    first: Point
    last: Point

    def box(self) -> PixelBox:
        """What it touches."""
        return _around((self.first, self.last), 0.0)

    def mark(self, flags: Flags, box: PixelBox) -> None:
        """Set all flags of the box."""
        flags[...] = True

    @property
    def work(self) -> float:
        """Next to nothing."""
        return 0.0


@dataclass(frozen=True, slots=True)
class Polygon:
    """The pixels whose middles lie inside corners that are joined in their order."""

    corners: tuple[Point, ...]

    def box(self) -> PixelBox:
        """What it may touch."""
        return _around(self.corners, 1.0)

    def mark(self, flags: Flags, box: PixelBox) -> None:
        """Set the flags of the pixels inside."""
        places = np.array(self.corners) - 0.5
        rows, columns = places[:, 1] - box.top, places[:, 0] - box.left
        flags[polygon_pixels(rows, columns, flags.shape)] = True  # type: ignore[no-untyped-call]

    @property
    def work(self) -> float:
        """The pixels around it, once for each corner."""
        box = self.box()
        return float(box.bottom - box.top) * (box.right - box.left) * min(len(self.corners), 64)


Shape = Stroke | Rectangle | Polygon


def rasterise(shape: Shape, size: tuple[int, int]) -> tuple[PixelBox, Flags]:
    """The part of a picture that a shape touches, and which of its pixels it marks."""
    box = shape.box().within(size)
    flags = np.zeros((box.bottom - box.top, box.right - box.left), np.bool_)
    if not box.is_empty:
        shape.mark(flags, box)
    return box, flags


def shape_from(plain: dict[str, Any]) -> Shape:
    """The shape that a request describes; what makes no sense is refused."""
    points = _points(plain.get("points"))
    match plain.get("tool"):
        case "brush":
            shape: Shape = Stroke(points, _radius(plain.get("radius")))
        case "rectangle" if len(points) == 2:
            shape = Rectangle(*points)
        case "polygon" if len(points) >= 3:
            shape = Polygon(points)
        case tool:
            words = f"nothing is drawn by {tool!r} with {len(points)} points"
            raise InputError(f"{words}; use a tool of the page")
    if shape.work > _MOST_PIXELS:
        raise InputError("the stroke is too long for a brush of this size; draw it in parts")
    return shape


def _points(plain: Any) -> tuple[Point, ...]:
    """Places of a request."""
    if not isinstance(plain, list) or not 1 <= len(plain) <= _MOST_POINTS:
        raise InputError(f"a stroke has 1 to {_MOST_POINTS} points; draw it in parts")
    return tuple(_point(point) for point in plain)


def _point(plain: Any) -> Point:
    """A place of a request."""
    is_pair = isinstance(plain, list) and len(plain) == 2
    if not is_pair or not all(isinstance(each, int | float) and abs(each) <= _FARTHEST for each in plain):
        raise InputError("a point is two numbers; draw it again")
    return float(plain[0]), float(plain[1])


def _radius(plain: Any) -> float:
    """The radius of a brush in a request."""
    if not isinstance(plain, int | float) or not 0 < plain <= _LARGEST_RADIUS:
        raise InputError(f"a brush has a radius of up to {_LARGEST_RADIUS:g} pixels; choose another")
    return float(plain)


def _around(points: tuple[Point, ...], reach: float) -> PixelBox:
    """The pixels no farther than this from points."""
    columns, rows = zip(*points, strict=True)
    return PixelBox(
        floor(min(rows) - reach),
        floor(max(rows) + reach) + 1,
        floor(min(columns) - reach),
        floor(max(columns) + reach) + 1,
    )


def _is_near(box: PixelBox, start: Point, end: Point, radius: float) -> Flags:
    """Which pixels of a box lie within the radius of a straight line.

    With the line from a to b and a pixel's middle p, the closest place is a + t (b - a), where
    t = (p - a)·(b - a) / |b - a|², held to 0 … 1.
    """
    x = np.arange(box.left, box.right, dtype=np.float32)[None, :] + np.float32(0.5 - start[0])
    y = np.arange(box.top, box.bottom, dtype=np.float32)[:, None] + np.float32(0.5 - start[1])
    right, down = np.float32(end[0] - start[0]), np.float32(end[1] - start[1])
    squared = float(right) ** 2 + float(down) ** 2
    if squared == 0:
        return np.asarray(x * x + y * y <= np.float32(radius) ** 2)
    along = np.clip((x * right + y * down) / np.float32(squared), 0, 1)
    return np.asarray((x - along * right) ** 2 + (y - along * down) ** 2 <= np.float32(radius) ** 2)
