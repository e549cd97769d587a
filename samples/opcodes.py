"""Opcode lists as DNGs store them (DNG specification 1.4, chapter 7), packed from opcodes."""

import struct
from collections.abc import Callable
from dataclasses import astuple
from typing import Any

import numpy as np

from demosaic_ntc.io.tiff_tags import OPCODE_LISTS, UNDEFINED, Field
from demosaic_ntc.raw.opcodes.lists import StoredOpcode, join_opcodes
from demosaic_ntc.raw.opcodes.parameters import READERS, Opcode

_NUMBERS = {name: code for code, (name, _) in READERS.items()}
_VERSION = 0x01030000


def opcode_fields(**lists: tuple[Opcode, ...]) -> dict[int, Field]:
    """Tags of opcode lists, called ``stored``, ``linear`` and ``pixels``."""
    tags = dict(zip(("stored", "linear", "pixels"), OPCODE_LISTS, strict=True))
    return {tags[name]: Field(UNDEFINED, pack_list(*opcodes)) for name, opcodes in lists.items()}


def pack_list(*opcodes: Opcode) -> bytes:
    """A list of opcodes, none of them optional."""
    return pack_parts(*((_NUMBERS[each.name], 0, pack_parameters(each)) for each in opcodes))


def pack_parts(*parts: tuple[int, int, bytes]) -> bytes:
    """A list of opcodes given by their numbers, flags and parameters, which may make no sense."""
    return join_opcodes([StoredOpcode(code, _VERSION, flags, data) for code, flags, data in parts])


def pack_parameters(opcode: Opcode) -> bytes:
    """The parameters of an opcode."""
    return _PACKERS[opcode.name](opcode)


def _area(opcode: Any) -> bytes:
    return struct.pack(">8L", *astuple(opcode.area))


def _doubles(*values: float) -> bytes:
    return struct.pack(f">{len(values)}d", *values)


def _gain_map(opcode: Any) -> bytes:
    down, across, planes = opcode.gains.shape
    head = _area(opcode) + struct.pack(">2L", down, across) + _doubles(*opcode.spacing, *opcode.origin)
    return head + struct.pack(">L", planes) + bytes(opcode.gains.astype(">f4").tobytes())


def _warp(opcode: Any) -> bytes:
    terms = (term for plane in opcode.planes for term in plane)
    return struct.pack(">L", len(opcode.planes)) + _doubles(*terms, *opcode.centre)


def _bad_list(opcode: Any) -> bytes:
    counts = struct.pack(">3L", 0, len(opcode.points), len(opcode.rectangles))
    return counts + b"".join(
        bytes(each.astype(">u4").tobytes()) for each in (opcode.points, opcode.rectangles)
    )


def _numbers(opcode: Any, values: Any, kind: str) -> bytes:
    return _area(opcode) + struct.pack(">L", len(values)) + np.asarray(values).astype(kind).tobytes()


_PACKERS: dict[str, Callable[[Any], bytes]] = {
    "WarpRectilinear": _warp,
    "WarpFisheye": _warp,
    "FixVignetteRadial": lambda opcode: _doubles(*opcode.coefficients, *opcode.centre),
    "FixBadPixelsConstant": lambda opcode: struct.pack(">2L", opcode.constant, 0),
    "FixBadPixelsList": _bad_list,
    "TrimBounds": lambda opcode: struct.pack(">4L", *astuple(opcode)),
    "MapTable": lambda opcode: _numbers(opcode, opcode.table, ">u2"),
    "MapPolynomial": lambda opcode: (
        _area(opcode) + struct.pack(">L", len(opcode.coefficients) - 1) + _doubles(*opcode.coefficients)
    ),
    "GainMap": _gain_map,
    "DeltaPerRow": lambda opcode: _numbers(opcode, opcode.rows, ">f4"),
    "DeltaPerColumn": lambda opcode: _numbers(opcode, opcode.columns, ">f4"),
    "ScalePerRow": lambda opcode: _numbers(opcode, opcode.rows, ">f4"),
    "ScalePerColumn": lambda opcode: _numbers(opcode, opcode.columns, ">f4"),
}
