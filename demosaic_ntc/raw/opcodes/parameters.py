"""The parameters of each opcode, read and checked (DNG specification 1.4, chapter 7)."""

import struct
from collections.abc import Callable
from math import isfinite
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.raw.opcodes.area import Area
from demosaic_ntc.raw.opcodes.pixel_opcodes import (
    DeltaPerColumn,
    DeltaPerRow,
    FixVignetteRadial,
    GainMap,
    MapPolynomial,
    MapTable,
    PixelOpcode,
    ScalePerColumn,
    ScalePerRow,
)
from demosaic_ntc.raw.opcodes.sensor_opcodes import (
    BadPixelOpcode,
    FixBadPixelsConstant,
    FixBadPixelsList,
    TrimBounds,
)
from demosaic_ntc.raw.opcodes.warps import Warp, WarpFisheye, WarpRectilinear

Opcode: TypeAlias = PixelOpcode | BadPixelOpcode | TrimBounds | Warp

_MOST_POINTS = 1 << 20  # of a map
_MOST_BAD = 1 << 20
_LARGEST_GAIN = 64.0
_LARGEST_DEGREE = 8
_FARTHEST = 8.0  # widths or heights that a centre may lie off, and the largest term of a warp
_MOST_PLANES = 4
_TABLE = 65536


class DamagedOpcode(ValueError):
    """Parameters that make no sense."""


class Parameters:
    """The parameters of an opcode, read one after the other, and the image that it is for."""

    def __init__(self, data: bytes, size: tuple[int, int], planes: int) -> None:
        self._data, self._place = data, 0
        self.size, self.planes = size, planes

    def take(self, form: str) -> tuple[int, ...]:
        """The next whole numbers."""
        values = struct.unpack_from(">" + form, self._data, self._place)
        self._place += struct.calcsize(">" + form)
        return values

    def numbers(self, count: int) -> tuple[float, ...]:
        """The next finite numbers of double precision."""
        values = struct.unpack_from(f">{count}d", self._data, self._place)
        self._place += 8 * count
        if not all(map(isfinite, values)):
            raise DamagedOpcode("it holds numbers that are not finite")
        return values

    def array(self, kind: str, count: int) -> NDArray[np.float64]:
        """The next numbers of a kind, so many; none is made room for that is not there."""
        length = np.dtype(kind).itemsize * count
        if length > len(self._data) - self._place:
            raise struct.error("too short")
        values = np.frombuffer(self._data, kind, count, self._place)
        self._place += length
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise DamagedOpcode("it holds numbers that are not finite")
        return values.astype(values.dtype.newbyteorder("="))

    def area(self) -> Area:
        """The next area; one that lies outside of the image, or names planes it has not, makes no sense."""
        top, left, bottom, right, plane, planes, *pitches = self.take("8L")
        height, width = self.size
        bottom, right = min(bottom, height), min(right, width)
        if not (top < bottom and left < right):
            raise DamagedOpcode("its area lies outside of the image")
        if plane >= self.planes or planes == 0:
            raise DamagedOpcode(f"plane {plane} does not exist")
        if min(pitches) == 0:
            raise DamagedOpcode("its pitch is 0")
        rows, columns = (min(pitch, side) for pitch, side in zip(pitches, self.size, strict=True))
        return Area(top, left, bottom, right, plane, min(planes, self.planes - plane), rows, columns)

    def centre(self) -> tuple[float, float]:
        """The next centre, x and y, in widths and heights."""
        x, y = self.numbers(2)
        if max(abs(x), abs(y)) > _FARTHEST:
            raise DamagedOpcode(f"its centre {x:g}, {y:g} lies far outside")
        return x, y


def _read_gain_map(given: Parameters) -> GainMap:
    area = given.area()
    down, across = given.take("2L")
    spacing_v, spacing_h, origin_v, origin_h = given.numbers(4)
    (planes,) = given.take("L")
    if not (0 < down * across * planes <= _MOST_POINTS):
        raise DamagedOpcode(f"its map of {down} × {across} points and {planes} planes is not believed")
    if (down > 1 and spacing_v <= 0) or (across > 1 and spacing_h <= 0):
        raise DamagedOpcode("its points have no distance")
    gains = given.array(">f4", down * across * planes).astype(np.float32)
    if gains.min() < 0 or gains.max() > _LARGEST_GAIN or gains.max() == 0:
        raise DamagedOpcode(f"gains from {gains.min():g} to {gains.max():g} are not believed")
    spacing = (spacing_v or 1.0, spacing_h or 1.0)
    return GainMap(area, spacing, (origin_v, origin_h), gains.reshape(down, across, planes))


def _read_vignette(given: Parameters) -> FixVignetteRadial:
    opcode = FixVignetteRadial(given.numbers(5), given.centre())
    low, high = opcode.extremes
    if low <= 0 or high > _LARGEST_GAIN:
        raise DamagedOpcode(f"gains from {low:g} to {high:g} are not believed")
    return opcode


def _read_warp(given: Parameters, kind: type[Warp], terms: int) -> Warp:
    (count,) = given.take("L")
    if not 1 <= count <= _MOST_PLANES:
        raise DamagedOpcode(f"{count} planes are not believed")
    if count > 1 and count < given.planes:
        raise DamagedOpcode(f"it has {count} planes, the image {given.planes}")
    planes = tuple(given.numbers(terms) for _ in range(count))
    if max(abs(term) for plane in planes for term in plane) > _FARTHEST or not all(p[0] > 0 for p in planes):
        raise DamagedOpcode("its terms are not believed")
    return kind(planes, given.centre())


def _read_table(given: Parameters) -> MapTable:
    area, (count,) = given.area(), given.take("L")
    if not 1 <= count <= _TABLE:
        raise DamagedOpcode(f"a table of {count} entries is not believed")
    return MapTable(area, given.array(">u2", count).astype(np.uint16))


def _read_polynomial(given: Parameters) -> MapPolynomial:
    area, (degree,) = given.area(), given.take("L")
    if degree > _LARGEST_DEGREE:
        raise DamagedOpcode(f"a polynomial of degree {degree} is not believed")
    return MapPolynomial(area, given.numbers(degree + 1))


def _read_lines(given: Parameters, kind: Callable[[Area, NDArray[np.float32]], Opcode], axis: int) -> Opcode:
    """Numbers of rows or columns: as many as the area has."""
    area, (count,) = given.area(), given.take("L")
    if count < area.shape[axis] or count > _MOST_POINTS:
        raise DamagedOpcode(f"it has {count} numbers for {area.shape[axis]} rows or columns")
    values = given.array(">f4", count).astype(np.float32)
    if np.abs(values).max() > _LARGEST_GAIN:
        raise DamagedOpcode("its numbers are not believed")
    return kind(area, values)


def _read_constant(given: Parameters) -> FixBadPixelsConstant:
    constant, _phase = given.take("2L")
    return FixBadPixelsConstant(constant)


def _read_list(given: Parameters) -> FixBadPixelsList:
    _phase, points, rectangles = given.take("3L")
    if max(points, rectangles) > _MOST_BAD:
        raise DamagedOpcode(f"{points} points and {rectangles} rectangles are not believed")
    places = given.array(">u4", 2 * points).astype(np.uint32).reshape(-1, 2)
    return FixBadPixelsList(places, given.array(">u4", 4 * rectangles).astype(np.uint32).reshape(-1, 4))


def _read_bounds(given: Parameters) -> TrimBounds:
    top, left, bottom, right = given.take("4L")
    bottom, right = min(bottom, given.size[0]), min(right, given.size[1])
    if not (top < bottom and left < right):
        raise DamagedOpcode("it leaves nothing of the image")
    return TrimBounds(top, left, bottom, right)


#: How each opcode is called and read, by its number.
READERS: dict[int, tuple[str, Callable[[Parameters], Opcode]]] = {
    1: ("WarpRectilinear", lambda given: _read_warp(given, WarpRectilinear, 6)),
    2: ("WarpFisheye", lambda given: _read_warp(given, WarpFisheye, 4)),
    3: ("FixVignetteRadial", _read_vignette),
    4: ("FixBadPixelsConstant", _read_constant),
    5: ("FixBadPixelsList", _read_list),
    6: ("TrimBounds", _read_bounds),
    7: ("MapTable", _read_table),
    8: ("MapPolynomial", _read_polynomial),
    9: ("GainMap", _read_gain_map),
    10: ("DeltaPerRow", lambda given: _read_lines(given, DeltaPerRow, 0)),
    11: ("DeltaPerColumn", lambda given: _read_lines(given, DeltaPerColumn, 1)),
    12: ("ScalePerRow", lambda given: _read_lines(given, ScalePerRow, 0)),
    13: ("ScalePerColumn", lambda given: _read_lines(given, ScalePerColumn, 1)),
}
