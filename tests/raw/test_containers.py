"""Raws in containers that are no TIFF: samples and EXIF as written, as ExifTool tells, in spite of damage."""

import io
import struct
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demosaic_ntc.io.exif import Exif, exif_block
from demosaic_ntc.io.header import FileHeader, read_header
from demosaic_ntc.io.tiff_tags import ASCII, RATIONAL, Field, write_directory
from demosaic_ntc.raw.containers import read_raw_exif
from demosaic_ntc.raw.reading import read_facts, read_photo
from tests.made_raws import FUJI_BLACK, MADE, crw, heap, made, shorts, taken_with

TAKEN = datetime(2012, 5, 6, 7, 8, 9)
CANON = b"Canon\0Canon EOS D30\0".ljust(32, b"\0")
SECONDS = struct.pack("<LLL", 1038150682, 0, 0)  # 2002-11-24 15:11:22 by the camera's clock


def in_memory(content: bytes | bytearray) -> FileHeader:
    """The header of a file of these bytes."""
    return read_header(io.BytesIO(content))


@pytest.fixture(params=["UTC", "Asia/Tokyo"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Dates are those of the camera's clock, wherever this machine is."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("zone")
@pytest.mark.parametrize("name", MADE)
def test_made_raws_come_back_as_written(tmp_path: Path, name: str) -> None:
    path, written = tmp_path / name, made(name)
    path.write_bytes(written.content)
    photo = read_photo(path)
    assert np.array_equal(photo.mosaic, written.samples)
    assert photo.cfa == written.cfa
    assert photo.white == written.white
    assert set(photo.black.ravel()) == {FUJI_BLACK if name.endswith("raf") else 0}
    assert photo.camera_balance == pytest.approx(written.balance)
    assert photo.exif.image == written.exif.image
    assert photo.exif.photo == written.exif.photo
    assert read_facts(path) == photo.exif.facts
    assert photo.exif.facts["date"] == TAKEN


def test_camera_of_a_raf_without_preview(tmp_path: Path) -> None:
    content = bytearray(made("bayer.raf").content)
    content[84:92] = bytes(8)
    assert read_raw_exif(in_memory(content)).camera == "FUJIFILM X-A1"


def _crw(records: dict[int, bytes], deeper: bytes = b"") -> dict[str, Any]:
    return read_raw_exif(in_memory(crw(records, deeper))).facts


@pytest.mark.usefixtures("zone")
def test_crw_with_its_records_at_all_places() -> None:
    focal = struct.pack("<4H", 0, 800, 914, 610)
    shot = shorts(33, {1: 32, 2: 160, 21: 7 * 32 + 20, 22: 7 * 32 + 12})
    settings = shorts(46, {23: 1760, 24: 544, 25: 32})
    facts = _crw({0x080A: CANON, 0x180E: SECONDS, 0x5029: focal}, heap({0x102A: shot, 0x102D: settings}))
    assert facts.pop("exposure_seconds") == pytest.approx(2 ** -(7 + 1 / 3), rel=1e-4)
    assert facts.pop("f_number") == pytest.approx(2 ** ((7 + 2 / 3) / 2), rel=1e-4)
    assert facts == {
        "camera": "Canon EOS D30",
        "lens": "17.0-55.0 mm",
        "date": datetime(2002, 11, 24, 15, 11, 22),
        "iso": 200.0,
        "focal_length_mm": 25.0,
    }


def test_crw_that_tells_nothing() -> None:
    assert _crw({}) == {}
    assert _crw({0x080A: b"", 0x180E: b"", 0x1029: b"", 0x102A: b"\1", 0x102D: bytes(90)}) == {}


def test_heaps_that_contain_each_other_come_to_an_end() -> None:
    loop = struct.pack("<HHLL", 1, 0x300A, 16, 0) + struct.pack("<L", 0)
    assert len(loop) == 16, "a heap whose only record is itself"
    assert read_raw_exif(in_memory(b"II" + struct.pack("<L", 14) + b"HEAPCCDR" + loop)) == Exif()


def _box(kind: bytes, *contents: bytes) -> bytes:
    content = b"".join(contents)
    return struct.pack(">L4s", 8 + len(content), kind) + content


def _cr3(exif: Exif) -> bytes:
    """A Canon raw of the third generation without samples; the box of tags has its length in 64 bits."""
    blocks = {b"CMT1": exif.image, b"CMT2": exif.photo, b"CMT4": exif.gps}
    boxes = [_box(n, b"II*\0\x08\0\0\0" + write_directory(fields, 8)) for n, fields in blocks.items()]
    canon = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
    tags = _box(b"uuid", bytes(16)) + _box(b"uuid", canon, *boxes)
    moov = struct.pack(">L4sQ", 1, b"moov", 16 + len(tags)) + tags
    return _box(b"ftyp", b"crx \0\0\0\1") + _box(b"free", bytes(4)) + moov + _box(b"mdat")


def test_cr3() -> None:
    gps = {1: Field(ASCII, b"N\0"), 2: Field(RATIONAL, (48, 12, 30))}
    written = Exif(taken_with("Canon", "Canon EOS R").image, taken_with("Canon", "Canon EOS R").photo, gps)
    assert read_raw_exif(in_memory(_cr3(written))) == written
    cut = read_raw_exif(in_memory(_cr3(written)[:-60]))
    assert (cut.image, cut.photo, cut.gps != gps) == (written.image, written.photo, True)


@pytest.mark.parametrize("name", [*MADE, "a.cr3", "a.crw"])
def test_damage_gives_less_and_never_an_error(name: str) -> None:
    contents = {"a.cr3": _cr3(taken_with("Canon", "R")), "a.crw": crw({0x080A: CANON, 0x180E: SECONDS})}
    whole = contents.get(name) or made(name).content[:6000]
    draw = np.random.default_rng(3)
    for length in range(0, len(whole), max(len(whole) // 100, 1)):
        read_raw_exif(in_memory(whole[:length]))
    for _ in range(300):
        damaged = bytearray(whole)
        for place in draw.integers(len(whole), size=8):
            damaged[place] = draw.choice((0, 1, 127, 128, 255))
        read_raw_exif(in_memory(damaged))


# As ExifTool tells: camera, date, lens, seconds, f-number, ISO, focal length.
TOLD = {
    "canon_d30.CRW": ("Canon EOS D30", "2002-11-24 15:11:22", "100.0 mm", 1 / 203, 11.3, 100, 100),
    "fragments/Exiv2_exiv2-canon-powershot-s40.crw": (
        *("Canon PowerShot S40", "2005-04-23 17:54:36", "7.1-21.3 mm"),
        *(1 / 15, 2.9, 100, 7.094),
    ),
    "fragments/exiftool_CanonRaw.crw": (
        *("Canon EOS DIGITAL REBEL", "2003-11-10 17:39:26", "18.0-55.0 mm"),
        *(1 / 64, 3.56, 100, 24),
    ),
    "fragments/canon_r6.CR3": (
        *("Canon EOS R6", "2021-05-12 12:21:21", "RF70-200mm F2.8 L IS USM"),
        *(1 / 4, 25, 100, 200),
    ),
    "fragments/exiftool_CanonRaw.cr3": (
        *("Canon EOS M50", "2018-02-21 12:08:56", "EF-M15-45mm f/3.5-6.3 IS STM"),
        *(1 / 80, 3.5, 12800, 15),
    ),
    "fragments/sindresorhus_fixture.cr3": (
        *("Canon EOS R", "2019-12-05 13:32:49", "EF24-105mm f/4L IS USM"),
        *(1 / 125, 4, 100, 105),
    ),
    "fragments/exiftool_FujiFilm.raf": (
        *("FUJIFILM FinePix S5Pro", "2007-05-22 13:58:30", None),
        *(1 / 250, 8, 100, 70),
    ),
    "fragments/exiftool_Minolta.mrw": (
        *("Konica Minolta Camera, Inc. DiMAGE A2", "2004-11-18 23:14:58", None),
        *(1 / 5, 2.8, 64, 7.2),
    ),
}


@pytest.mark.data
@pytest.mark.usefixtures("zone")
@pytest.mark.parametrize("name", TOLD)
def test_cameras_tell_what_exiftool_tells(data: Path, name: str) -> None:
    camera, date, lens, *exposure = TOLD[name]
    facts = read_facts(data / "raw_more" / name)
    assert (facts["camera"], str(facts["date"]), facts.get("lens")) == (camera, date, lens)
    told = [facts[key] for key in ("exposure_seconds", "f_number", "iso", "focal_length_mm")]
    assert told == pytest.approx(exposure, rel=0.025)


@pytest.mark.data
def test_header_tells_what_pictures_will_tell(raws: list[Path]) -> None:
    for path in raws:
        assert read_facts(path) == read_photo(path).exif.facts, path


@pytest.mark.data
@pytest.mark.usefixtures("zone")
def test_crw_is_converted_with_what_its_header_tells(data: Path) -> None:
    path = data / "raw_more" / "canon_d30.CRW"
    photo = read_photo(path)
    assert photo.exif.facts == read_facts(path)
    assert (photo.size, photo.array_name, photo.notices) == ((1448, 2176), "RGGB", ())
    assert isinstance(photo.preview, bytes)
    assert photo.preview.startswith(b"\xff\xd8")


def test_exif_block_of_a_tiff_is_read_as_before() -> None:
    exif = taken_with("Maker", "Model")
    assert read_raw_exif(in_memory(exif_block(exif))) == exif
