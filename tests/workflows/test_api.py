"""Raw files from Python: the picture of the command, the samples of the sensor."""

from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from conftest import Run
from demosaic_ntc import Developed, GreyPatch, Temperature, demosaic, develop, read_mosaic
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.errors import Exists, InputError
from samples.dng import Camera, exposed, write_dng


@pytest.fixture(scope="module")
def photo(samples: Path) -> Developed:
    return develop(samples / "small_rggb.dng", method="bilinear", bits=8)


def test_the_picture_is_that_of_the_command(
    tmp_path: Path, small: Path, convert: Run, photo: Developed
) -> None:
    assert convert(small, tmp_path / "a.png", "--bits", 8).exit_code == 0
    with Image.open(tmp_path / "a.png") as picture:
        assert np.array_equal(np.asarray(picture), photo.image)
    assert photo.save(tmp_path / "b.png").read_bytes() == (tmp_path / "a.png").read_bytes()


@pytest.mark.slow
def test_settings_are_those_of_the_command(tmp_path: Path, small: Path, convert: Run) -> None:
    """Each one, given in Python and on the command line, makes the same picture."""
    pairs: tuple[tuple[dict[str, Any], tuple[object, ...]], ...] = (
        ({"look": "neutral", "exposure": 0.5}, ("--look", "neutral", "--exposure", 0.5)),
        ({"contrast": 20, "saturation": -30}, ("--contrast", 20, "--saturation", -30)),
        ({"wb": 5000}, ("--wb", "5000K")),
        ({"wb": Temperature(5000, 12)}, ("--wb", "5000K,+12")),
        ({"wb": "shade"}, ("--wb", "shade")),
        ({"wb": (2.0, 1.0, 1.2)}, ("--wb", "2,1,1.2")),
        ({"wb": GreyPatch(20, 10, 4)}, ("--wb-from", "20,10,4")),
        ({"color_space": "p3", "linear": True}, ("--color-space", "p3", "--linear")),
        ({"resize": 30}, ("--resize", 30)),
        ({"half": True}, ("--half",)),
        ({"black": (600.0,), "white": 15000.0}, ("--black", 600, "--white", 15000)),
    )
    for given, options in pairs:
        assert convert(small, tmp_path / "a.png", "--bits", 8, "--overwrite", *options).exit_code == 0
        with Image.open(tmp_path / "a.png") as picture:
            expected = np.asarray(picture)
        assert np.array_equal(develop(small, method="bilinear", bits=8, **given).image, expected), given


def test_floats_are_the_sixteen_bits_from_zero_to_one(small: Path) -> None:
    codes = develop(small, method="bilinear").image
    floats = develop(small, method="bilinear", bits="float").image
    assert codes.dtype == np.uint16
    assert floats.dtype == np.float32
    assert floats == pytest.approx(codes / 65535, abs=1e-6)


def test_the_engine_certifies_and_reports(small: Path) -> None:
    stages = set()
    photo = develop(small, method="ntc", quality="fast", progress=lambda progress: stages.add(progress.stage))
    assert photo.certificate is not None
    assert "decoding" in stages


def test_metadata_are_plain_values(tmp_path: Path) -> None:
    from demosaic_ntc.io.exif import Exif, photo_fields

    taken = datetime(2024, 5, 6, 7, 8, 9)
    fields = photo_fields(
        iso=400, exposure=0.01, aperture=2.8, focal_length=50, taken=taken, lens_model="Fifty 1.8"
    )
    cfa = Cfa.from_name("RGGB")
    light = np.full((24, 24, 3), 0.3)
    write_dng(tmp_path / "a.dng", exposed(light, cfa, Camera()), cfa, Camera(), exif=Exif(photo=fields))
    known = develop(tmp_path / "a.dng", half=True).metadata
    assert (known["iso"], known["date"], known["lens"]) == (400, taken, "Fifty 1.8")
    assert known["exposure_seconds"] == pytest.approx(0.01)
    assert known["white_balance"]["source"] == "camera"
    assert known["look"] == "auto"


def test_results_show_themselves_shortly(photo: Developed, small: Path) -> None:
    assert repr(photo) == "Developed('small_rggb.dng', 36×48×3 uint8, auto look)"
    assert repr(read_mosaic(small)).startswith("RawPhoto(demosaic-ntc Synthetic camera, 48×36, RGGB")
    assert repr(demosaic(np.ones((8, 8)), method="bilinear")) == "Restored(8×8×3 float32)"
    assert photo._repr_png_() is not None
    assert "auto" in photo._repr_html_()


def test_an_existing_picture_is_not_replaced_unasked(tmp_path: Path, photo: Developed) -> None:
    photo.save(tmp_path / "a.jpg")
    with pytest.raises(Exists):
        photo.save(tmp_path / "a.jpg")
    photo.save(tmp_path / "a.jpg", overwrite=True, quality=50)


def test_sixteen_bits_do_not_fit_in_a_jpeg(tmp_path: Path, small: Path) -> None:
    photo = develop(small, half=True)
    with pytest.raises(InputError, match="bits=8"):
        photo.save(tmp_path / "a.jpg")
    assert not (tmp_path / "a.jpg").exists()


@pytest.mark.parametrize("wrong", [{"bits": 12}, {"wb": 100.0}, {"wb": "warm"}, {"resize": 0}, {"look": "x"}])
def test_what_makes_no_sense_is_refused(small: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        develop(small, half=True, **wrong)


def test_the_light_of_a_sensor_can_be_demosaiced(small: Path) -> None:
    photo = read_mosaic(small)
    assert photo.light.dtype == np.float32
    site = photo.light[1::2, 0::2]
    stored = photo.mosaic[1::2, 0::2].astype(np.float64)
    assert site == pytest.approx((stored - 512) / (photo.white - 512), abs=1e-6)
    assert photo.cfa is not None
    picture = demosaic(np.maximum(photo.light, 0), photo.cfa, method="bilinear").image
    assert picture.shape == (*photo.size, 3)


def test_headerless_data_is_read_with_its_size(tmp_path: Path) -> None:
    samples = np.arange(24 * 16, dtype="<u2").reshape(24, 16)
    (tmp_path / "a.raw").write_bytes(samples.tobytes())
    photo = read_mosaic(tmp_path / "a.raw", cfa="GRBG", width=16, height=24, bits=12)
    assert np.array_equal(photo.mosaic, samples)
    assert (photo.array_name, photo.white) == ("GRBG", 4095)


def test_the_version_is_told() -> None:
    from importlib.metadata import version

    import demosaic_ntc

    assert demosaic_ntc.__version__ == version("demosaic-ntc")
