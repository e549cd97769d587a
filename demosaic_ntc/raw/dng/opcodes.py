"""The curves that a DNG applies to its samples by opcodes (DNG specification 1.4, chapter 7).

Lossy DNGs store samples under a curve and state its inverse as MapTable or MapPolynomial in OpcodeList2: that
is part of how samples are stored. All other opcodes correct a lens or a sensor, and are passed over here.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from demosaic_ntc.arrays import Float64
from demosaic_ntc.errors import Truncated

OPCODE_LIST_2 = 51009

_MAP_TABLE, _MAP_POLYNOMIAL = 7, 8
_AREA = struct.Struct(">8L")  # top, left, bottom, right, plane, planes, row pitch, column pitch
_LARGEST_DEGREE = 8
_WHITE = 65535

Curve = Callable[[Float64], Float64]


@dataclass(frozen=True, slots=True)
class PlaneCurve:
    """A curve from 0 … 1 to 0 … 1 of all samples of some planes."""

    planes: range
    curve: Curve


def plane_curves(data: bytes, size: tuple[int, int]) -> list[PlaneCurve]:
    """The curves in an opcode list that hold for whole planes of this height and width, in their order."""
    try:
        return list(_curves(data, size))
    except struct.error as error:
        raise Truncated("truncated or damaged opcode list; copy it again from its source") from error


def _curves(data: bytes, size: tuple[int, int]) -> Iterator[PlaneCurve]:
    """Read opcode by opcode: each has a number, a version, flags and the length of its parameters."""
    (count,), place = struct.unpack_from(">L", data), 4
    for _ in range(count):
        opcode, _, _, length = struct.unpack_from(">4L", data, place)
        parameters = data[place + 16 : place + 16 + length]
        place += 16 + length
        if opcode not in (_MAP_TABLE, _MAP_POLYNOMIAL):
            continue
        top, left, bottom, right, plane, planes, *pitches = _AREA.unpack_from(parameters)
        is_whole = top == left == 0 and bottom >= size[0] and right >= size[1] and pitches == [1, 1]
        if is_whole:
            read = _table if opcode == _MAP_TABLE else _polynomial
            yield PlaneCurve(range(plane, plane + planes), read(parameters[_AREA.size :]))


def _table(parameters: bytes) -> Curve:
    """A table of 16-bit values; beyond its end the last one holds."""
    (count,) = struct.unpack_from(">L", parameters)
    values = np.array(struct.unpack_from(f">{count}H", parameters, 4), np.float64) / _WHITE
    if not count:
        raise struct.error("an empty table")
    return lambda light: values[np.minimum(np.rint(light * _WHITE), count - 1).astype(np.intp)]


def _polynomial(parameters: bytes) -> Curve:
    """A polynomial, the constant first."""
    (degree,) = struct.unpack_from(">L", parameters)
    if degree > _LARGEST_DEGREE:
        raise struct.error(f"a polynomial of degree {degree}")
    coefficients = np.array(struct.unpack_from(f">{degree + 1}d", parameters, 4))
    if not np.isfinite(coefficients).all():
        raise struct.error("coefficients that are no numbers")
    return lambda light: np.clip(np.polynomial.polynomial.polyval(light, coefficients), 0, 1)
