"""Row and column noise of photos: removed with a notice, and clean raws left alone to the bit."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.developing.preprocess import prepare
from demosaic_ntc.developing.settings import Development, Engine, Settings
from demosaic_ntc.io.formats import Layout
from demosaic_ntc.raw.calibration import remove_banding
from demosaic_ntc.raw.reading import read_photo
from samples.dng import Camera, write_dng

RGGB = Cfa.from_name("RGGB")


def _mosaic(strength: float) -> NDArray[np.uint16]:
    generator = np.random.default_rng(9)
    samples = generator.normal(4000, 20, (320, 400)) + strength * generator.standard_normal((320, 1))
    return np.round(samples).astype(np.uint16)


@pytest.fixture
def banded(tmp_path: Path) -> Path:
    write_dng(tmp_path / "banded.dng", _mosaic(100), RGGB, Camera())
    return tmp_path / "banded.dng"


def _settings(**development: object) -> Settings:
    return Settings(development=Development(**development), engine=Engine(method="bilinear"))  # type: ignore[arg-type]


def test_a_conversion_removes_it_and_says_so(banded: Path) -> None:
    ready, kept = prepare(banded, _settings()), prepare(banded, _settings(banding="off"))
    assert any("banding was found and removed: rows by" in notice for notice in ready.photo.notices)
    assert not any("banding" in notice for notice in kept.photo.notices)
    before, after = (np.std(each.photo.mosaic.mean(axis=1)) for each in (kept, ready))
    assert after < 0.25 * before


def test_info_tells_how_strong_it_is(banded: Path) -> None:
    result = CliRunner().invoke(app, ["info", "--json", str(banded)])
    rows, columns = (json.loads(result.stdout)[0]["banding"][name] for name in ("rows", "columns"))
    span = Camera().white - Camera().black
    assert rows["removed"]
    assert rows["deviation"] == pytest.approx(255 * 100 / span, rel=0.2)
    assert not columns["removed"]
    shown = CliRunner().invoke(app, ["info", str(banded)]).stdout
    assert "banding        rows" in shown


def test_mosaics_without_a_camera_are_searched_only_if_asked(tmp_path: Path) -> None:
    _mosaic(100).tofile(tmp_path / "a.raw")
    photo = read_photo(tmp_path / "a.raw", Layout(RGGB, 400, 320, 16))
    assert remove_banding(photo, None) is photo
    assert remove_banding(photo, "auto") is not photo


@pytest.mark.data
@pytest.mark.slow
def test_clean_raws_stay_as_they_are(data: Path) -> None:
    layouts = {
        "1MCC_IMG_20181229_001526_1.raw": Layout(Cfa.from_name("BGGR"), 1920, 1080, 10),
        "DSC_1339_768x512_rggb.raw": Layout(RGGB, 768, 512, 14),
    }
    files = [
        path for name in ("raw", "raw_more") for path in sorted((data / name).iterdir()) if path.is_file()
    ]
    assert len(files) > 8
    for path in files:
        photo = read_photo(path, layouts.get(path.name, Layout()))
        assert remove_banding(photo, "auto") is photo, path.name
