"""Opcode lists read from their bytes (DNG specification 1.4, chapter 7), which may say anything.

A list is big-endian whatever the file is: the number of opcodes, then for each its number, the version of
DNG, flags and the length of its parameters. An opcode that makes no sense is left out and told of by its
name; where a list breaks off, what came before it stays.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import get_args

from demosaic_ntc.io.tiff_tags import OPCODE_LISTS, Directory, Number, numbers
from demosaic_ntc.raw.opcodes.parameters import READERS, DamagedOpcode, Opcode, Parameters
from demosaic_ntc.raw.opcodes.pixel_opcodes import Curve
from demosaic_ntc.raw.opcodes.sensor_opcodes import FixBadPixelsConstant

_LINEARISATION = 50712  # a table that stored samples go through as they are decoded
_OPTIONAL = 1  # a flag: readers may pass over such an opcode
_MOST_OPCODES = 1000


@dataclass(frozen=True, slots=True)
class StoredOpcode:
    """An opcode as it is stored."""

    code: int
    version: int  # of DNG
    flags: int
    parameters: bytes

    @property
    def is_optional(self) -> bool:
        """Whether readers may pass over it."""
        return bool(self.flags & _OPTIONAL)


@dataclass(frozen=True, slots=True)
class OpcodeList:
    """The opcodes of a list that make sense, in their order, and what is to be told of the others."""

    opcodes: tuple[Opcode, ...] = ()
    notices: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()  # names of opcodes that make no sense
    is_whole: bool = True  # it did not break off
    data: bytes = field(default=b"", compare=False)  # all of it as it is stored

    @property
    def names(self) -> tuple[str, ...]:
        """What its opcodes are called."""
        return tuple(opcode.name for opcode in self.opcodes)

    def plane_curves(self, size: tuple[int, int]) -> tuple[Curve, ...]:
        """The curves that it begins with and that hold for whole planes: how samples are stored."""

        def is_curve(opcode: Opcode) -> bool:
            return isinstance(opcode, get_args(Curve)) and opcode.area.covers(size, (1, 1))

        return tuple(takewhile(is_curve, self.opcodes))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class StatedOpcodes:
    """What a file asks for: of its samples as stored, of linear ones, and of demosaiced pixels.

    The first list counts rows and columns of the stored image, the others those of its visible area.
    """

    stored: OpcodeList = OpcodeList()
    linear: OpcodeList = OpcodeList()
    pixels: OpcodeList = OpcodeList()
    stored_size: tuple[int, int] = (0, 0)
    margins: tuple[int, int] = (0, 0)  # stored rows and columns above and left of the visible area
    is_stored: bool = True  # samples are the numbers that are stored

    @property
    def notices(self) -> tuple[str, ...]:
        """What is to be told of opcodes that are not done."""
        return self.stored.notices + self.linear.notices + self.pixels.notices

    def without_curves(self, size: tuple[int, int]) -> "StatedOpcodes":
        """The same, once samples went through the curves that the second list begins with."""
        begun = len(self.linear.plane_curves(size))
        return replace(self, linear=replace(self.linear, opcodes=self.linear.opcodes[begun:]))


def read_stated(
    tags: Directory,
    stored_size: tuple[int, int],
    margins: tuple[int, int],
    size: tuple[int, int],
    planes: int,
) -> StatedOpcodes:
    """Read the three lists of an image of so many planes per sample, of which a part is visible."""
    shapes = ((stored_size, planes), (size, planes), (size, 3))
    stored, linear, pixels = (
        read_opcodes(_as_bytes(tags, tag), number, *shape) if tag in tags else OpcodeList()
        for number, (tag, shape) in enumerate(zip(OPCODE_LISTS, shapes, strict=True), 1)
    )
    table = numbers(tags, _LINEARISATION)
    stored = _through_table(stored, table) if table else stored
    return StatedOpcodes(stored, linear, pixels, stored_size, margins, is_stored=not table)


def _through_table(stored: OpcodeList, table: tuple[Number, ...]) -> OpcodeList:
    """List 1 of samples that went through a table: the value of bad ones is what became of it.

    Where other values became the same, good samples would seem bad, and it is left out.
    """
    kept, notices = list[Opcode](), list(stored.notices)
    for opcode in stored.opcodes:
        if not isinstance(opcode, FixBadPixelsConstant):
            kept.append(opcode)
            continue
        value = table[min(opcode.constant, len(table) - 1)]
        if table.count(value) == 1 and opcode.constant < len(table):
            kept.append(FixBadPixelsConstant(int(value)))
        else:
            notices.append(f"{opcode.name} of list 1 is left out: the linearisation table hides its value")
    return replace(stored, opcodes=tuple(kept), notices=tuple(notices))


def _as_bytes(tags: Directory, tag: int) -> bytes:
    """The bytes of a list, which is stored as such or as numbers of them."""
    data = tags[tag]
    if isinstance(data, bytes):
        return data
    return bytes(int(value) for value in data if 0 <= value < 256)


def read_opcodes(data: bytes, number: int, size: tuple[int, int], planes: int) -> OpcodeList:
    """Read list 1, 2 or 3 of an image of this height, width and number of planes."""
    if not data:
        remark = f"opcode list {number} is too long or outside of the file; it is left out"
        return OpcodeList(notices=(remark,), is_whole=False)
    found, notices, left_out = list[Opcode](), list[str](), list[str]()
    try:
        for stored in split_opcodes(data):
            try:
                found.append(read_opcode(stored, size, planes))
            except UnknownOpcode:
                if not stored.is_optional:
                    notices.append(
                        f"opcode {stored.code} of list {number} is not known; the picture lacks it"
                    )
            except (DamagedOpcode, struct.error) as error:
                left_out.append(READERS[stored.code][0])
                notices.append(f"{left_out[-1]} of list {number} is left out: {_reason(error)}")
    except struct.error:
        notices.append(f"opcode list {number} breaks off; what follows is left out")
        whole = False
    else:
        whole = True
    return OpcodeList(tuple(found), tuple(dict.fromkeys(notices)), tuple(left_out), whole, data)


class UnknownOpcode(Exception):
    """An opcode of another number."""


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, DamagedOpcode) else "its parameters break off"


def split_opcodes(data: bytes) -> Iterator[StoredOpcode]:
    """The opcodes of a list, as they are stored; `struct.error` where it breaks off."""
    (count,), place = struct.unpack_from(">L", data), 4
    for _ in range(min(count, _MOST_OPCODES)):
        code, version, flags, length = struct.unpack_from(">4L", data, place)
        place += 16
        if length > len(data) - place:
            raise struct.error("longer than the list")
        yield StoredOpcode(code, version, flags, data[place : place + length])
        place += length


def join_opcodes(opcodes: Sequence[StoredOpcode]) -> bytes:
    """A list of opcodes as DNGs store it."""
    packed = (
        struct.pack(">4L", each.code, each.version, each.flags, len(each.parameters)) + each.parameters
        for each in opcodes
    )
    return struct.pack(">L", len(opcodes)) + b"".join(packed)


def read_opcode(stored: StoredOpcode, size: tuple[int, int], planes: int) -> Opcode:
    """One opcode of an image of this height, width and number of planes, checked."""
    if stored.code not in READERS:
        raise UnknownOpcode
    return READERS[stored.code][1](Parameters(stored.parameters, size, planes))
