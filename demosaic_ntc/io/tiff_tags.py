"""The tag directories of TIFF, which most raw formats, EXIF blocks and our own TIFF files are made of.

Layout as in the TIFF 6.0 specification, section 2: an 8-byte header (byte order, 42, offset), then
directories of 12-byte entries (tag, type, count, value or its offset). The reader trusts nothing: counts,
offsets and chains are bounded, and what lies outside the file is left out.
"""

import io
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import isfinite
from typing import BinaryIO, TypeAlias

# Number types by their code: (struct letter, bytes). Rationals are two numbers.
_TYPES = {1: "B", 2: "s", 3: "H", 4: "L", 5: "LL", 6: "b", 7: "s", 8: "h", 9: "l", 10: "ll", 11: "f", 12: "d"}

BYTE, ASCII, SHORT, LONG, RATIONAL, UNDEFINED, SRATIONAL, FLOAT, DOUBLE = 1, 2, 3, 4, 5, 7, 10, 11, 12

SUB_DIRECTORIES, EXIF_DIRECTORY, GPS_DIRECTORY = 330, 34665, 34853
XMP = 700

_MOST_DIRECTORIES = 64
_MOST_ENTRIES = 2000
_LARGEST_VALUE = 1 << 16
_LARGEST_OFFSET = 2**32 - 1  # pointers have 32 bits

# What may be larger: XMP, and tables of DNGs: linearisation, and the maps and curves of lists of opcodes.
#: Lists of opcodes: for stored samples, linear samples, and demosaiced pixels.
OPCODE_LISTS = (51008, 51009, 51022)
_LARGEST_VALUES = {XMP: 1 << 20, 50712: 1 << 18, **dict.fromkeys(OPCODE_LISTS, 1 << 25)}

# Olympus and Panasonic write TIFF under numbers of their own.
_MAGICS = {42, 0x55, 0x4F52, 0x5352}

Number: TypeAlias = int | float | Fraction
Values: TypeAlias = bytes | tuple[Number, ...]
Directory: TypeAlias = dict[int, Values]


@dataclass(frozen=True, slots=True)
class Field:
    """One value to write: its type code and its numbers, or its bytes."""

    kind: int
    values: Values


class TagReader:
    """Reads the directories of a TIFF-like file, each once; a file that is none has no directories."""

    def __init__(self, file: BinaryIO) -> None:
        file.seek(0)
        header = file.read(8)
        order = {b"II": "<", b"MM": ">"}.get(header[:2])
        self._file = file
        self._order = order or "<"
        self._first = 0
        if order is not None and len(header) == 8:
            magic, first = struct.unpack(order + "HL", header[2:])
            self._first = first if magic in _MAGICS else 0
        self._at = cache(self._read)

    def directories(self) -> Iterator[Directory]:
        """All image directories, chained and nested ones included, each once."""
        waiting, seen = [self._first], set[int]()
        while waiting and len(seen) < _MOST_DIRECTORIES:
            offset = waiting.pop(0)
            if offset in seen or offset == 0:
                continue
            seen.add(offset)
            directory, following = self._at(offset)
            nested = [int(place) for place in numbers(directory, SUB_DIRECTORIES)]
            waiting += [*nested, following]
            yield directory

    def first(self) -> Directory:
        """The first directory; empty where there is none."""
        return self.directory(self._first)

    def directory(self, offset: int) -> Directory:
        """The directory at an offset that another one gave; empty for the offset 0."""
        return self._at(offset)[0] if offset else {}

    def _read(self, offset: int) -> tuple[Directory, int]:
        """One directory and the offset of the next (0: none)."""
        if not 0 <= offset <= _LARGEST_OFFSET:  # given by a tag of another type than pointers have
            return {}, 0
        self._file.seek(offset)
        head = self._file.read(2)
        if len(head) < 2:
            return {}, 0
        count = min(struct.unpack(self._order + "H", head)[0], _MOST_ENTRIES)
        block = self._file.read(12 * count + 4)
        entries, tail = block[: 12 * count], block[12 * count :]
        directory = {}
        for place in range(0, len(entries) - 11, 12):
            tag, kind, amount = struct.unpack_from(self._order + "HHL", entries, place)
            largest = _LARGEST_VALUES.get(tag, _LARGEST_VALUE)
            values = self._values(kind, amount, entries[place + 8 : place + 12], largest)
            if values is not None:
                directory[tag] = values
            elif tag in OPCODE_LISTS:  # it is there, which is told, and says nothing
                directory[tag] = b""
        return directory, struct.unpack(self._order + "L", tail)[0] if len(tail) == 4 else 0

    def _values(self, kind: int, amount: int, inline: bytes, largest: int) -> Values | None:
        """The values of an entry; text and opaque data as bytes; None where they cannot be read.

        Numbers that are none (NaN, infinity) leave the entry empty: it was there and says nothing.
        """
        letters = _TYPES.get(kind, "")
        size = struct.calcsize("=" + letters) * amount
        if not letters or size > largest:
            return None
        data = inline[:size]
        if size > 4:
            self._file.seek(struct.unpack(self._order + "L", inline)[0])
            data = self._file.read(size)
        if len(data) < size:
            return None
        if letters == "s":
            return data
        flat = struct.unpack(self._order + letters * amount, data)
        if len(letters) == 2:
            pairs = list(zip(flat[::2], flat[1::2], strict=True))
            is_defined = all(bottom != 0 for _, bottom in pairs)
            return tuple(Fraction(*pair) for pair in pairs) if is_defined else None
        return flat if all(map(isfinite, flat)) else ()


def read_block(block: bytes) -> TagReader:
    """The directories of a block of EXIF, which is a TIFF without a picture."""
    return TagReader(io.BytesIO(block))


def numbers(directory: Mapping[int, Values], tag: int) -> tuple[Number, ...]:
    """The numbers of a tag; opaque bytes count as numbers; empty when the tag is absent."""
    return tuple(directory.get(tag, ()))


def number(directory: Mapping[int, Values], tag: int, default: int = 0) -> int:
    """The first number of a tag."""
    return int(next(iter(numbers(directory, tag)), default))


def write_directory(fields: Mapping[int, Field], offset: int) -> bytes:
    """A little-endian directory for position `offset` of a file, its larger values right behind it."""
    entries, behind = bytearray(), bytearray()
    start = offset + 2 + 12 * len(fields) + 4
    for tag in sorted(fields):
        data, number = _pack_values(fields[tag])
        entries += struct.pack("<HHL", tag, fields[tag].kind, number)
        if len(data) <= 4:
            entries += data.ljust(4, b"\0")
        else:
            entries += struct.pack("<L", start + len(behind))
            behind += data + b"\0" * (len(data) % 2)
    return struct.pack("<H", len(fields)) + bytes(entries) + bytes(4) + bytes(behind)


def _pack_values(field: Field) -> tuple[bytes, int]:
    """The bytes of a field's values and their number."""
    if isinstance(field.values, bytes):
        return field.values, len(field.values)
    letters = _TYPES[field.kind]
    flat = list(field.values)
    if len(letters) == 2:
        flat = [part for value in field.values for part in Fraction(value).as_integer_ratio()]
    return struct.pack("<" + letters * len(field.values), *flat), len(field.values)


def fits(field: Field) -> bool:
    """Whether the values of a field are within the range of its type."""
    try:
        _pack_values(field)
    except struct.error:
        return False
    return True
