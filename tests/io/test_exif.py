"""EXIF is kept where it means something, and other programs read it."""

import io
import json
import shutil
import subprocess
from fractions import Fraction
from math import inf, nan
from pathlib import Path

import pytest
from PIL import Image

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.developing.settings import Development, Engine, Output, Settings
from demosaic_ntc.io.exif import Exif, exif_block, finish_metadata, photo_fields, read_exif, read_jpeg_exif
from demosaic_ntc.io.tiff_tags import ASCII, RATIONAL, SHORT, UNDEFINED, Field, read_block
from demosaic_ntc.workflows.conversion import convert_file
from samples.dng import Camera, write_dng
from samples.make_samples import EXIF

FAST = Settings(engine=Engine(method="bilinear"))


def _done(exif: Exif) -> Exif:
    return finish_metadata(
        exif,
        size=(10, 20),
        orientation=1,
        srgb=True,
        parameters="quality=fast",
        hand_balanced=False,
        software="demosaic-ntc 1",
    )


def test_block_is_read_back_by_pillow() -> None:
    exif = Image.Exif()
    exif.load(exif_block(_done(EXIF)))
    photo = exif.get_ifd(0x8769)
    assert exif[271] == "demosaic-ntc"
    assert exif[274] == 1
    assert (photo[33434], photo[34855], photo[36867]) == (0.004, 200, "2024:05:17 10:30:00")
    assert exif.get_ifd(0x8825)[2] == (48.0, 12.0, 30.5)


def test_block_is_read_back_by_our_own_reader() -> None:
    read = read_exif(read_block(exif_block(_done(EXIF))))
    assert read.gps == EXIF.gps
    assert all(read.photo[tag] == field for tag, field in EXIF.photo.items())


def test_preview_of_a_raw_can_bring_the_metadata() -> None:
    jpeg = io.BytesIO()
    Image.new("RGB", (8, 8)).save(jpeg, "JPEG", exif=b"Exif\0\0" + exif_block(_done(EXIF)))
    assert read_jpeg_exif(jpeg.getvalue()).camera == "demosaic-ntc Synthetic camera"


def test_tags_that_describe_the_raw_itself_are_left_behind() -> None:
    raw = Exif(
        image={271: Field(ASCII, b"Maker\0"), 273: Field(SHORT, (8,)), 513: Field(SHORT, (9,))},
        photo={37500: Field(UNDEFINED, b"maker note"), 33434: Field(RATIONAL, (Fraction(1, 8),))},
    )
    read = read_exif(read_block(exif_block(raw)))
    assert set(read.image) == {271}
    assert set(read.photo) == {33434}


def test_blank_and_zero_fields_are_left_behind() -> None:
    raw = Exif(
        image={315: Field(ASCII, b"   \0")}, photo={33434: Field(RATIONAL, (0,)), 37385: Field(SHORT, (0,))}
    )
    read = read_exif(read_block(exif_block(raw)))
    assert read.image == {}
    assert set(read.photo) == {37385}, "no flash is a fact, an exposure of zero seconds is none"


def test_values_that_no_field_can_hold_are_left_out() -> None:
    fields = photo_fields(iso=1e9, exposure=inf, aperture=1e12, focal_length=nan, taken=None)
    assert fields == {34855: Field(SHORT, (65535,))}


def test_endless_texts_are_cut() -> None:
    read = read_exif(read_block(exif_block(Exif(image={270: Field(ASCII, b"x" * 60000 + b"\0")}))))
    assert read.image[270].values == b"x" * 2000 + b"\0"


def test_make_is_not_said_twice() -> None:
    image = {271: Field(ASCII, b"Canon\0"), 272: Field(ASCII, b"Canon EOS 30D\0")}
    assert Exif(image=image).camera == "Canon EOS 30D"


def _exiftool(path: Path) -> dict[str, object]:
    program = shutil.which("exiftool")
    if program is None:
        pytest.skip("exiftool is not installed")
    answer = subprocess.run(
        [program, "-json", "-n", "-all", "-validate", str(path)], capture_output=True, check=True
    )
    facts: dict[str, object] = json.loads(answer.stdout)[0]
    return facts


@pytest.mark.parametrize("suffix", [".png", ".tif", ".jpg"])
def test_exiftool_finds_everything_in_a_turned_photo(tmp_path: Path, samples: Path, suffix: str) -> None:
    from demosaic_ntc.raw.reading import read_photo

    source = tmp_path / "a.dng"
    write_dng(
        source,
        read_photo(samples / "small_rggb.dng").mosaic,
        Cfa.from_name("RGGB"),
        Camera(orientation=6),
        exif=EXIF,
    )
    convert_file(source, tmp_path / f"a{suffix}", FAST)
    facts = _exiftool(tmp_path / f"a{suffix}")
    assert (facts["Make"], facts["Model"]) == ("demosaic-ntc", "Synthetic camera")
    assert (facts["ExposureTime"], facts["FNumber"], facts["ISO"]) == (0.004, 5.6, 200)
    assert facts["DateTimeOriginal"] == "2024:05:17 10:30:00"
    assert facts["Orientation"] == 1
    assert (facts["ImageWidth"], facts["ImageHeight"]) == (36, 48)
    assert facts["GPSLatitude"] == pytest.approx(48 + 12 / 60 + 30.5 / 3600)
    assert facts["ProfileDescription"] == "sRGB"
    assert str(facts["Software"]).startswith("demosaic-ntc")
    assert "method=bilinear" in str(facts["UserComment"])
    assert str(facts["Validate"]).split()[0] == "0", "no errors"


def test_exiftool_finds_another_space_marked_as_such(tmp_path: Path, samples: Path) -> None:
    settings = Settings(engine=FAST.engine, development=Development(space="adobe"))
    convert_file(samples / "small_rggb.dng", tmp_path / "a.jpg", settings)
    facts = _exiftool(tmp_path / "a.jpg")
    assert facts["ColorSpace"] == 65535
    assert "Adobe RGB" in str(facts["ProfileDescription"])


@pytest.mark.parametrize("suffix", [".png", ".tif", ".jpg"])
def test_metadata_can_be_left_out_but_not_the_profile(tmp_path: Path, samples: Path, suffix: str) -> None:
    settings = Settings(engine=FAST.engine, output=Output(metadata=False))
    convert_file(samples / "small_rggb.dng", tmp_path / f"a{suffix}", settings)
    facts = _exiftool(tmp_path / f"a{suffix}")
    assert "Make" not in facts
    assert "GPSLatitude" not in facts
    assert facts["ProfileDescription"] == "sRGB"


@pytest.mark.data
@pytest.mark.parametrize("suffix", [".png", ".tif", ".jpg"])
def test_exiftool_finds_the_camera_of_a_real_photo(tmp_path: Path, raws: list[Path], suffix: str) -> None:
    (source,) = [raw for raw in raws if raw.name == "IMG_0848.CR2"]
    convert_file(source, tmp_path / f"a{suffix}", FAST)
    ours, theirs = _exiftool(tmp_path / f"a{suffix}"), _exiftool(source)
    for name in ("Make", "Model", "ISO", "ExposureTime", "FNumber", "DateTimeOriginal", "FocalLength"):
        assert ours[name] == pytest.approx(theirs[name]), name
    assert ours["Orientation"] == 1
