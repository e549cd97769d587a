"""Opcode lists, whole and damaged in every way: what makes no sense is left out by name, and nothing else."""

import struct
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demosaic_ntc.raw.opcodes.area import Area, Window
from demosaic_ntc.raw.opcodes.lists import OpcodeList, read_opcodes
from demosaic_ntc.raw.opcodes.parameters import READERS, Opcode
from demosaic_ntc.raw.opcodes.pixel_opcodes import (
    DeltaPerColumn,
    DeltaPerRow,
    FixVignetteRadial,
    GainMap,
    MapPolynomial,
    MapTable,
    ScalePerColumn,
    ScalePerRow,
)
from demosaic_ntc.raw.opcodes.sensor_opcodes import FixBadPixelsConstant, FixBadPixelsList, TrimBounds
from demosaic_ntc.raw.opcodes.warps import WarpFisheye, WarpRectilinear
from samples.opcodes import pack_list, pack_parameters, pack_parts

SIZE = (20, 30)
AREA = Area(0, 0, 20, 30, 0, 1, 1, 1)
ROWS, COLUMNS = np.linspace(0.5, 1.5, 20, dtype=np.float32), np.linspace(0.5, 1.5, 30, dtype=np.float32)
GAINS = np.linspace(1, 2, 12, dtype=np.float32).reshape(3, 4, 1)
EVERY: tuple[Opcode, ...] = (
    WarpRectilinear(((1.0, 0.1, 0.0, 0.0, 0.01, 0.02),), (0.5, 0.5)),
    WarpFisheye(((1.0, 0.1, 0.0, 0.0),), (0.5, 0.5)),
    FixVignetteRadial((0.5, 0.1, 0.0, 0.0, 0.0), (0.5, 0.4)),
    FixBadPixelsConstant(7),
    FixBadPixelsList(np.array([[3, 4]], np.uint32), np.array([[1, 2, 3, 4]], np.uint32)),
    TrimBounds(1, 2, 18, 27),
    MapTable(AREA, np.arange(0, 65536, 257, dtype=np.uint16)),
    MapPolynomial(AREA, (0.0, 0.5, 0.5)),
    GainMap(AREA, (0.5, 1 / 3), (0.0, 0.0), GAINS),
    DeltaPerRow(AREA, ROWS),
    DeltaPerColumn(AREA, COLUMNS),
    ScalePerRow(AREA, ROWS),
    ScalePerColumn(AREA, COLUMNS),
)


def _read(data: bytes, planes: int = 1) -> OpcodeList:
    return read_opcodes(data, 2, SIZE, planes)


def test_every_opcode_of_the_specification_is_read_as_it_was_packed() -> None:
    found = _read(pack_list(*EVERY))
    assert found.names == tuple(name for name, _ in READERS.values())
    assert (found.notices, found.is_whole) == ((), True)
    assert [pack_parameters(each) for each in found.opcodes] == [pack_parameters(each) for each in EVERY]


def test_an_empty_list_has_no_opcodes() -> None:
    assert _read(pack_list()) == OpcodeList()


def test_unknown_opcodes_are_told_of_unless_they_are_optional() -> None:
    found = _read(pack_parts((99, 0, b"abc"), (98, 1, b""), (4, 0, struct.pack(">2L", 7, 0))))
    assert found.notices == ("opcode 99 of list 2 is not known; the picture lacks it",)
    assert found.names == ("FixBadPixelsConstant",)


def _area(*values: int) -> bytes:
    return struct.pack(">8L", *values)


WHOLE = _area(0, 0, 20, 30, 0, 1, 1, 1)
DAMAGED: dict[str, tuple[int, bytes, str]] = {
    "gains that are no numbers": (
        9,
        WHOLE + struct.pack(">2L4dLf", 1, 1, 1, 1, 0, 0, 1, float("nan")),
        "not finite",
    ),
    "infinite gains": (9, WHOLE + struct.pack(">2L4dLf", 1, 1, 1, 1, 0, 0, 1, float("inf")), "not finite"),
    "gains below zero": (9, WHOLE + struct.pack(">2L4dLf", 1, 1, 1, 1, 0, 0, 1, -1.0), "not believed"),
    "enormous gains": (9, WHOLE + struct.pack(">2L4dLf", 1, 1, 1, 1, 0, 0, 1, 1e9), "not believed"),
    "no points": (9, WHOLE + struct.pack(">2L4dL", 0, 5, 1, 1, 0, 0, 1), "0 × 5 points"),
    "points for all memory": (9, WHOLE + struct.pack(">2L4dL", 2**31, 2**31, 1, 1, 0, 0, 9), "not believed"),
    "points that are not there": (9, WHOLE + struct.pack(">2L4dL", 999, 999, 1, 1, 0, 0, 1), "break off"),
    "points at one place": (
        9,
        WHOLE + struct.pack(">2L4dL4f", 2, 2, 0, 0, 0, 0, 1, 1, 1, 1, 1),
        "no distance",
    ),
    "a plane that does not exist": (7, _area(0, 0, 20, 30, 3, 1, 1, 1) + bytes(6), "plane 3 does not exist"),
    "no planes": (7, _area(0, 0, 20, 30, 0, 0, 1, 1) + bytes(6), "does not exist"),
    "an area outside": (7, _area(20, 0, 40, 30, 0, 1, 1, 1) + bytes(6), "outside"),
    "an area turned over": (7, _area(9, 0, 3, 30, 0, 1, 1, 1) + bytes(6), "outside"),
    "a pitch of nothing": (7, _area(0, 0, 20, 30, 0, 1, 0, 1) + bytes(6), "pitch"),
    "an empty table": (7, WHOLE + struct.pack(">L", 0), "table of 0"),
    "a table of any length": (7, WHOLE + struct.pack(">L", 2**32 - 1), "not believed"),
    "a polynomial of any degree": (8, WHOLE + struct.pack(">L", 2**32 - 1), "degree"),
    "terms that are no numbers": (8, WHOLE + struct.pack(">L2d", 1, 0, float("nan")), "not finite"),
    "too few rows": (10, WHOLE + struct.pack(">L19f", 19, *range(19)), "19 numbers for 20"),
    "too few columns": (13, WHOLE + struct.pack(">L2f", 2, 1, 1), "2 numbers for 30"),
    "more planes than there can be": (1, struct.pack(">L", 2**32 - 1), "planes"),
    "a warp to nowhere": (1, struct.pack(">L8d", 1, 1e300, 0, 0, 0, 0, 0, 0.5, 0.5), "not believed"),
    "a warp that turns over": (1, struct.pack(">L8d", 1, -1, 0, 0, 0, 0, 0, 0.5, 0.5), "not believed"),
    "a fisheye without terms": (2, struct.pack(">L", 1), "break off"),
    "a centre far off": (3, struct.pack(">7d", 0, 0, 0, 0, 0, 1e9, 0.5), "far outside"),
    "a gain below zero": (3, struct.pack(">7d", -2, 0, 0, 0, 0, 0.5, 0.5), "not believed"),
    "points without end": (5, struct.pack(">3L", 0, 2**32 - 1, 0), "not believed"),
    "rectangles that are not there": (5, struct.pack(">3L", 0, 0, 9), "break off"),
    "bounds around nothing": (6, struct.pack(">4L", 5, 5, 5, 9), "nothing"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_what_makes_no_sense_is_left_out_by_its_name(case: str) -> None:
    code, parameters, reason = DAMAGED[case]
    found = _read(pack_parts((code, 0, parameters), (4, 0, struct.pack(">2L", 7, 0))))
    name = READERS[code][0]
    assert found.names == ("FixBadPixelsConstant",)
    assert found.left_out == (name,)
    (notice,) = found.notices
    assert notice.startswith(f"{name} of list 2 is left out: ")
    assert reason in notice


def test_a_list_that_breaks_off_keeps_what_came_before() -> None:
    whole = pack_list(*EVERY)
    for length in range(4, len(whole), 7):
        found = _read(whole[:length])
        assert not found.is_whole
        assert found.notices == ("opcode list 2 breaks off; what follows is left out",)
        assert found.names == tuple(each.name for each in EVERY)[: len(found.names)]


def test_a_map_of_a_million_points_is_read_and_used_in_no_time() -> None:
    gains = np.full((1000, 1000, 1), 2, np.float32)
    start = time.process_time()
    (found,) = _read(pack_list(GainMap(AREA, (0.001, 0.001), (0.0, 0.0), gains))).opcodes
    assert isinstance(found, GainMap)
    assert np.allclose(found.interpolate(np.array([0.5]), np.array([0.5]), SIZE), 2)
    assert time.process_time() - start < 2


def test_the_areas_of_damaged_lists_keep_within_the_image() -> None:
    wide = MapPolynomial(Area(0, 0, 2**32 - 1, 2**32 - 1, 0, 2**32 - 1, 2**32 - 1, 1), (0.0, 1.0))
    (found,) = _read(pack_list(wide)).opcodes
    assert isinstance(found, MapPolynomial)
    assert found.area == Area(0, 0, 20, 30, 0, 1, 20, 1)


@given(st.binary(max_size=200), st.integers(1, 3))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_a_list_or_a_notice(data: bytes, planes: int) -> None:
    found = _read(data, planes)
    assert found.is_whole or found.notices


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_mutated_lists_never_fail(data: st.DataObject) -> None:
    packed = bytearray(pack_list(*data.draw(st.lists(st.sampled_from(EVERY), max_size=4))))
    for _ in range(data.draw(st.integers(1, 6))):
        packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    found = _read(bytes(packed))
    values = np.full((20, 30, 1), 0.5, np.float32)
    for opcode in found.opcodes:
        if hasattr(opcode, "apply"):
            opcode.apply(values, Window.whole(SIZE))
