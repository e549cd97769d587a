"""Linear DNGs opened by the programs that people go on with, whose answers are compared with our pictures."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tifffile
from numpy.typing import NDArray
from PIL import Image

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.choices import Compression
from demosaic_ntc.developing.settings import Development, Engine, Output, Settings
from demosaic_ntc.workflows.conversion import convert_file
from samples.dng import Camera, exposed, write_dng
from samples.make_samples import EXIF, light_of
from tests.developing.raw_readers import by_darktable, by_rawtherapee, findings, program

Reader = Callable[[Path, Path], NDArray[np.float64]]
READERS = [pytest.param(by_rawtherapee, id="rawtherapee"), pytest.param(by_darktable, id="darktable")]
PLAIN = Development(denoise="off", look="neutral", rotate=False)


def _settings(*, compress: Compression | None = None) -> Settings:
    return Settings(development=PLAIN, engine=Engine(method="bilinear"), output=Output(compress=compress))


@pytest.mark.parametrize("compress", [None, "jpeg"])
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.slow
def test_readers_show_our_own_picture(
    tmp_path: Path, samples: Path, reader: Reader, compress: Compression | None
) -> None:
    """The sample has clipped highlights, vivid colours and darks."""
    source, target = samples / "scene_rggb.dng", tmp_path / "linear.dng"
    convert_file(source, target, _settings(compress=compress))
    convert_file(source, tmp_path / "own.tif", _settings())
    own = tifffile.imread(tmp_path / "own.tif") / 65535
    assert np.abs(reader(target, tmp_path) - own).mean() < 0.0002


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.slow
def test_readers_show_clipped_highlights_white(tmp_path: Path, samples: Path, reader: Reader) -> None:
    """RawTherapee takes no files below 100 kB for raws, so this is not smaller."""
    cfa, camera = Cfa.from_name("RGGB"), Camera()
    light = 3 * light_of(np.asarray(Image.open(samples / "scene.png")))
    write_dng(tmp_path / "a.dng", exposed(light, cfa, camera), cfa, camera, exif=EXIF)
    convert_file(tmp_path / "a.dng", tmp_path / "linear.dng", _settings())
    convert_file(tmp_path / "a.dng", tmp_path / "own.tif", _settings())
    white = (tifffile.imread(tmp_path / "own.tif") == 65535).all(axis=2)
    shown = reader(tmp_path / "linear.dng", tmp_path)[white]
    assert len(shown) > 5000
    assert np.ptp(shown, axis=1).max() < 0.01


@pytest.mark.data
@pytest.mark.parametrize("reader", READERS)
def test_readers_show_the_colours_of_the_original(tmp_path: Path, data: Path, reader: Reader) -> None:
    """Means over 16×16 pixels: what is left are other ways to demosaic, and noise below black."""
    source = data / "raw" / "colorchart_tinydng.dng"
    convert_file(source, tmp_path / "linear.dng", _settings(compress="jpeg"))
    ours, theirs = reader(tmp_path / "linear.dng", tmp_path), reader(source, tmp_path)
    height, width = (min(sides) // 16 * 16 for sides in zip(ours.shape[:2], theirs.shape[:2], strict=True))
    means = [
        _centre(picture, height, width).reshape(height // 16, 16, width // 16, 16, 3).mean((1, 3))
        for picture in (ours, theirs)
    ]
    assert np.abs(means[0] - means[1]).mean() < 0.005


def _centre(picture: NDArray[np.float64], height: int, width: int) -> NDArray[np.float64]:
    """The middle of a picture: RawTherapee leaves out a border of four pixels of mosaics."""
    top, left = (picture.shape[0] - height) // 2, (picture.shape[1] - width) // 2
    return picture[top : top + height, left : left + width]


@pytest.mark.parametrize("compress", [None, "jpeg", "jxl"])
def test_exiftool_finds_nothing_wrong(tmp_path: Path, samples: Path, compress: Compression | None) -> None:
    program("exiftool")
    convert_file(samples / "scene_rggb.dng", tmp_path / "linear.dng", _settings(compress=compress))
    found = findings(tmp_path / "linear.dng")
    if compress == "jxl":  # some versions do not know JPEG XL in a DNG by name, and say so
        found = [each for each in found if not re.search(r"\[minor\] Unknown|Warnings \(all minor\)", each)]
    assert found == []


@pytest.mark.data
def test_exiftool_finds_nothing_wrong_with_what_raws_become(tmp_path: Path, raws: list[Path]) -> None:
    program("exiftool")
    for source in raws:
        convert_file(source, tmp_path / f"{source.stem}.dng", _settings())
        assert findings(tmp_path / f"{source.stem}.dng") == [], source.name
