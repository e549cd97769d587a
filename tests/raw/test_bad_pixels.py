"""Bad pixels of photos: found unless told otherwise, replaced, told; and lists made from dark frames."""

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.batch.operations import Convert
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.developing.preprocess import prepare
from demosaic_ntc.developing.settings import Development, Engine, Settings
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.formats import Layout
from demosaic_ntc.raw.bad_pixels import hot_pixels, read_bad_pixels
from demosaic_ntc.raw.reading import read_photo
from samples.dng import Camera, write_dng

RGGB = Cfa.from_name("RGGB")
HOT = ((20, 31), (45, 60), (70, 11))


def _mosaic(seed: int = 0, level: float = 3000, hot: Any = HOT) -> NDArray[np.uint16]:
    samples = np.random.default_rng(seed).normal(level, 20, (96, 128))
    for row, column in hot:
        samples[row, column] += 4000
    return np.round(samples).astype(np.uint16)


def _raw(path: Path, mosaic: NDArray[np.uint16]) -> Path:
    write_dng(path, mosaic, RGGB, Camera())
    return path


def _settings(**development: Any) -> Settings:
    return Settings(development=Development(**development), engine=Engine(method="bilinear"))


def test_raws_are_searched_unless_told_otherwise(tmp_path: Path) -> None:
    source = _raw(tmp_path / "a.dng", _mosaic())
    ready = prepare(source, _settings())
    assert ready.missing is not None
    assert np.argwhere(ready.missing).tolist() == [list(place) for place in HOT]
    assert abs(int(ready.photo.mosaic[HOT[0]]) - 3000) < 100
    assert any("3 hot or dead pixels were found" in notice for notice in ready.photo.notices)
    left = prepare(source, _settings(bad_pixels="off"))
    assert left.missing is None
    assert left.photo.mosaic[HOT[0]] > 6000


def test_mosaics_without_a_camera_are_searched_only_if_asked(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "a.png"), _mosaic())
    settings = Settings(layout=Layout(cfa=RGGB), engine=Engine(method="bilinear"))
    assert prepare(tmp_path / "a.png", settings).missing is None
    asked = Settings(Layout(cfa=RGGB), development=Development(bad_pixels="auto"), engine=settings.engine)
    found = prepare(tmp_path / "a.png", asked).missing
    assert found is not None
    assert found.sum() == len(HOT)


def test_more_than_a_sensor_has_are_not_believed(tmp_path: Path) -> None:
    places = [(row, column) for row in range(3, 96, 18) for column in range(4, 128, 19)]
    ready = prepare(_raw(tmp_path / "a.dng", _mosaic(hot=places)), _settings())
    assert ready.missing is None
    assert any("too many to be true" in notice for notice in ready.photo.notices)


def test_rules_have_names_of_their_own_in_batches(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("1 2\n")
    names = {
        Convert(_settings(bad_pixels=rule)).fingerprint
        for rule in (None, "off", "auto", tmp_path / "list.txt")
    }
    assert len(names) == 4


def test_lists_from_dark_frames_name_what_stands_out_in_most(tmp_path: Path) -> None:
    frames = [_mosaic(seed, 520, hot=HOT[: 3 if seed < 2 else 2]) for seed in range(3)]
    frames[0][5, 5] = 9000  # a cosmic ray, once
    paths = [_raw(tmp_path / f"{k}.dng", frame) for k, frame in enumerate(frames)]
    target = tmp_path / "list.txt"
    command = ["bad-pixels", *map(str, paths), "-o", str(target)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert "3 bad pixels" in result.output
    assert np.argwhere(read_bad_pixels(target, (96, 128))).tolist() == [list(place) for place in HOT]
    assert CliRunner().invoke(app, command).exit_code == 4
    assert CliRunner().invoke(app, [*command, "--overwrite", "-q"]).output == ""


def test_frames_that_are_not_dark_or_of_another_size_are_refused(tmp_path: Path) -> None:
    dark, bright = _raw(tmp_path / "a.dng", _mosaic(level=520)), _raw(tmp_path / "b.dng", _mosaic(level=9000))
    small = _raw(tmp_path / "c.dng", _mosaic(level=520)[:64])
    for path, reason in ((bright, "is not dark"), (small, "as the first")):
        with pytest.raises(InputError, match=reason):
            hot_pixels((each, read_photo(each)) for each in (dark, path))
