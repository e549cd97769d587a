import io
import struct
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demosaic_ntc.io.exif import Exif, read_exif
from demosaic_ntc.io.tiff_tags import (
    ASCII,
    GPS_DIRECTORY,
    LONG,
    RATIONAL,
    SHORT,
    Field,
    TagReader,
    write_directory,
)


def _file(fields: dict[int, Field]) -> io.BytesIO:
    return io.BytesIO(b"II*\0\x08\0\0\0" + write_directory(fields, 8))


def test_what_is_written_is_read_back() -> None:
    fields = {
        256: Field(LONG, (70000,)),
        258: Field(SHORT, (8, 8, 8)),
        271: Field(ASCII, b"Maker of cameras\0"),
        33434: Field(RATIONAL, (Fraction(1, 250), Fraction(7, 2))),
    }
    (directory,) = TagReader(_file(fields)).directories()
    assert directory == {tag: field.values for tag, field in fields.items()}


def test_both_byte_orders_are_read() -> None:
    entry = struct.pack(">HHHLHH", 1, 256, SHORT, 1, 640, 0) + bytes(4)
    (directory,) = TagReader(io.BytesIO(b"MM\0*\0\0\0\x08" + entry)).directories()
    assert directory == {256: (640,)}


def test_directories_in_a_circle_are_visited_once() -> None:
    block = bytearray(write_directory({256: Field(SHORT, (5,))}, 8))
    block[-4:] = struct.pack("<L", 8)
    directories = list(TagReader(io.BytesIO(b"II*\0\x08\0\0\0" + bytes(block))).directories())
    assert directories == [{256: (5,)}]


def test_nested_directories_are_found() -> None:
    outer = write_directory({330: Field(LONG, (100,))}, 8)
    inner = write_directory({256: Field(SHORT, (7,))}, 100)
    data = (b"II*\0\x08\0\0\0" + outer).ljust(100, b"\0") + inner
    assert list(TagReader(io.BytesIO(data)).directories()) == [{330: (100,)}, {256: (7,)}]


def test_undefined_rationals_are_left_out() -> None:
    entry = struct.pack("<HHHLL", 1, 33434, RATIONAL, 1, 26) + bytes(4) + struct.pack("<LL", 1, 0)
    assert list(TagReader(io.BytesIO(b"II*\0\x08\0\0\0" + entry)).directories()) == [{}]


def test_absurd_counts_are_left_out() -> None:
    entry = struct.pack("<HHHLL", 1, 256, LONG, 2**32 - 1, 8) + bytes(4)
    assert list(TagReader(io.BytesIO(b"II*\0\x08\0\0\0" + entry)).directories()) == [{}]


@given(st.binary(max_size=300))
def test_no_bytes_can_break_the_reader(data: bytes) -> None:
    for directory in TagReader(io.BytesIO(b"II*\0\x08\0\0\0" + data)).directories():
        assert all(isinstance(tag, int) for tag in directory)


@pytest.mark.parametrize(("kind", "value"), [(9, struct.pack("<l", -5)), (11, struct.pack("<f", 3e38))])
def test_pointers_to_nowhere_lead_to_nothing(tmp_path: Path, kind: int, value: bytes) -> None:
    """A pointer may be a negative or a huge number; a file, unlike memory, is asked to go there."""
    path = tmp_path / "a.tif"
    gps = struct.pack("<HHL", GPS_DIRECTORY, kind, 1) + value
    path.write_bytes(b"II*\0\x08\0\0\0\x01\0" + gps + bytes(4))
    with path.open("rb") as file:
        tags = TagReader(file)
        assert GPS_DIRECTORY in tags.first()
        assert read_exif(tags) == Exif()
        assert tags.directory(int(tags.first()[GPS_DIRECTORY][0])) == {}
