"""Raws in containers that are no TIFF, whole, cut, damaged: converted or refused in a line, never a crash."""

from collections.abc import Callable
from pathlib import Path
from subprocess import Popen

import pytest
from PIL import Image

from tests.made_raws import MADE, made

pytestmark = pytest.mark.fault
Start = Callable[..., "Popen[bytes]"]

PATIENCE = 120  # seconds, for a machine that does other things as well

FRAGMENTS = (
    *("Exiv2_exiv2-canon-powershot-s40.crw", "Exiv2_issue_1530_poc.crw", "Exiv2_issue_839_poc.rw2"),
    *("Exiv2_issue_857_poc.raf", "canon_r6.CR3", "exiftool_CanonRaw.cr3", "exiftool_CanonRaw.crw"),
    *("exiftool_DNG.dng", "exiftool_FujiFilm.raf", "exiftool_Minolta.mrw", "exiftool_Nikon.nef"),
    *("exiftool_Panasonic.rw2", "exiftool_PhaseOne.iiq", "exiftool_Sigma.x3f", "iphone12pro_proraw.dng"),
    *("sindresorhus_fixture-Leica-M10.dng", "sindresorhus_fixture-sony-zv-e10.arw"),
    "sindresorhus_fixture.cr3",
)


def _convert(start: Start, source: Path, target: Path) -> tuple[int, str]:
    """What a process of the program says that converts a file."""
    process = start("convert", "--method", "bilinear", "--quiet", source, target)
    _, said = process.communicate(timeout=PATIENCE)
    return process.returncode, said.decode()


@pytest.mark.parametrize("name", MADE)
def test_made_raws_are_converted(tmp_path: Path, start: Start, name: str) -> None:
    (tmp_path / name).write_bytes(made(name).content)
    code, said = _convert(start, tmp_path / name, tmp_path / "o.png")
    assert (code, said) == (0, "")
    with Image.open(tmp_path / "o.png") as picture:
        exif = picture.getexif()
        assert picture.size == (120, 96)
        assert exif[272] == MADE[name][1]
        assert exif.get_ifd(0x8769)[36867] == "2012:05:06 07:08:09"


@pytest.mark.parametrize("kept", [40, 150, 0.3, 0.9, -240])
@pytest.mark.parametrize("name", MADE)
def test_made_raws_that_are_cut_are_refused(tmp_path: Path, start: Start, name: str, kept: float) -> None:
    whole = made(name).content
    (tmp_path / name).write_bytes(whole[: int(kept * len(whole)) if isinstance(kept, float) else kept])
    _assert_refused(start, tmp_path / name, tmp_path / "o.png")


def _assert_refused(start: Start, source: Path, target: Path) -> None:
    code, said = _convert(start, source, target)
    assert code == 3, said
    assert len(said.splitlines()) == 1, said
    assert said.startswith(f"demosaic-ntc: {source}: ")
    assert not target.exists()


@pytest.mark.data
@pytest.mark.parametrize("name", FRAGMENTS)
def test_fragments(tmp_path: Path, start: Start, data: Path, name: str) -> None:
    _assert_refused(start, data / "raw_more" / "fragments" / name, tmp_path / "o.png")


@pytest.mark.data
def test_every_fragment_is_tried(data: Path) -> None:
    assert set(FRAGMENTS) == {path.name for path in (data / "raw_more" / "fragments").iterdir()}


@pytest.mark.data
def test_crw(tmp_path: Path, start: Start, data: Path) -> None:
    code, said = _convert(start, data / "raw_more" / "canon_d30.CRW", tmp_path / "o.png")
    assert (code, said) == (0, "")
    with Image.open(tmp_path / "o.png") as picture:
        exif = picture.getexif()
        assert (exif[271], exif[272]) == ("Canon", "Canon EOS D30")
        assert exif.get_ifd(0x8769)[36867] == "2002:11:24 15:11:22"
