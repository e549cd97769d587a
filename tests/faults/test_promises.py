"""What an attack once found, each as a small case: the promise that was broken, and is kept now."""

import os
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import tifffile
from PIL import Image
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.errors import InputError
from demosaic_ntc.images.png_writing import chunk
from demosaic_ntc.images.reading import read_picture
from demosaic_ntc.io.header import InputLimits
from tests.batch.batches import REPORT, injected, is_over, until
from tests.faults.memory import peak_of
from tests.images.picture_files import write_mask

pytestmark = pytest.mark.fault
ROOT = Path(__file__).resolve().parents[2]
Start = Callable[..., Any]
SIDE = 24


def run(*words: object) -> Any:
    return CliRunner().invoke(app, list(map(str, words)))


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    """A small picture, beside its mask."""
    missing = np.zeros((SIDE, SIDE), np.bool_)
    missing[4:6, 4:9] = True
    write_mask(tmp_path / "a.mask.png", missing)
    pixels = np.random.default_rng(0).integers(256, size=(SIDE, SIDE, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    (tmp_path / "out").mkdir()
    return tmp_path / "a.png"


def with_chunk(path: Path, name: bytes, data: bytes) -> None:
    """Put a chunk behind the header of a PNG."""
    whole = path.read_bytes()
    path.write_bytes(whole[:33] + chunk(name, data) + whole[33:])


LARGE = zlib.compress(np.random.default_rng(0).integers(4, size=1_300_000, dtype=np.uint8).tobytes())


@pytest.mark.parametrize(
    ("name", "data"), [(b"iCCP", b"large\0\0" + LARGE), (b"zTXt", b"Comment\0\0" + LARGE)]
)
def test_large_profile_or_text_is_no_damage(picture: Path, name: bytes, data: bytes) -> None:
    """Rows 2 and 3: such a picture is repaired, and planned, as any other."""
    with_chunk(picture, name, data)
    target = picture.with_name("o.png")
    result = run("inpaint", picture, picture.with_name("a.mask.png"), target, "--method", "biharmonic")
    assert result.exit_code == 0, result.output
    assert name in target.read_bytes()
    Image.open(picture.with_name("a.mask.png")).save(picture.with_name("b.mask.png"))
    picture.with_name("b.png").write_bytes(target.read_bytes())
    folder = picture.parent
    result = run(
        "batch",
        folder / "a.png",
        folder / "b.png",
        "-o",
        folder / "out",
        "--inpaint",
        "--method",
        "biharmonic",
    )
    assert result.exit_code == 0, result.output
    assert "done          2" in result.stdout


def test_profile_that_unfolds_to_gigabytes_costs_nothing(picture: Path) -> None:
    with_chunk(picture, b"zTXt", b"Comment\0\0" + zlib.compress(bytes(300_000_000), 9))
    assert read_picture(picture, InputLimits()).size == (SIDE, SIDE)
    words = (picture, picture.with_name("a.mask.png"), picture.with_name("o.png"))
    assert peak_of("inpaint", *words, "--method", "biharmonic", "--overwrite") < 150e6


@pytest.mark.parametrize("length", [0xFFFFFFF0, 0x7FFFFFFF, 0xFFFFFFFF])
def test_chunk_that_claims_gigabytes_is_damage(picture: Path, length: int) -> None:
    """Row 21: it is refused, and no memory is asked for."""
    whole = picture.read_bytes()
    picture.write_bytes(whole[:33] + struct.pack(">L4s", length, b"tEXt") + whole[33:])
    with pytest.raises(InputError, match="damaged PNG"):
        read_picture(picture, InputLimits())


@pytest.mark.parametrize("filling", [b"\xff\xd0", b"\xff", b"\xff\xe0\x00\x02", b"\xff\x01"])
def test_jpeg_of_nothing_but_markers_is_refused_quickly(tmp_path: Path, filling: bytes) -> None:
    """Row 21: whatever its size, in a moment."""
    path = tmp_path / "a.jpg"
    path.write_bytes(b"\xff\xd8" + filling * (40_000_000 // len(filling)))
    start = time.thread_time()
    with pytest.raises(InputError, match="damaged JPEG"):
        read_picture(path, InputLimits())
    assert time.thread_time() - start < 2.0


def test_png_in_a_million_pieces_is_refused_quickly(picture: Path) -> None:
    whole = picture.read_bytes()
    picture.write_bytes(whole[:33] + chunk(b"teXt", b"") * 1_000_000 + whole[33:])
    start = time.thread_time()
    with pytest.raises(InputError, match="chunks"):
        read_picture(picture, InputLimits())
    assert time.thread_time() - start < 20.0


def test_pixels_in_many_pieces_are_read(tmp_path: Path) -> None:
    pixels = np.random.default_rng(1).integers(256, size=(64, 64, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    whole = (tmp_path / "a.png").read_bytes()
    place = whole.index(b"IDAT") - 4
    length = int.from_bytes(whole[place : place + 4], "big")
    data = whole[place + 8 : place + 8 + length]
    pieces = b"".join(chunk(b"IDAT", data[start : start + 3]) for start in range(0, length, 3))
    (tmp_path / "a.png").write_bytes(whole[:place] + pieces + whole[place + 12 + length :])
    np.testing.assert_array_equal(read_picture(tmp_path / "a.png", InputLimits()).colours, pixels)


def _tiles(path: Path) -> None:
    pixels = np.random.default_rng(0).integers(1, 256, size=(32, 32, 3), dtype=np.uint8)
    tifffile.imwrite(path, pixels, tile=(16, 16), photometric="rgb")


@pytest.mark.parametrize("tag", ["TileByteCounts", "TileOffsets"])
def test_tile_that_is_not_there_is_not_black(tmp_path: Path, tag: str) -> None:
    """Row 11."""
    _tiles(tmp_path / "a.tif")
    with tifffile.TiffFile(tmp_path / "a.tif", mode="r+") as tiff:
        values = list(tiff.pages.first.tags[tag].value)
        tiff.pages.first.tags[tag].overwrite([*values[:2], 0, *values[3:]])
    with pytest.raises(InputError, match="1 of 4 blocks are missing"):
        read_picture(tmp_path / "a.tif", InputLimits())
    result = run("convert", tmp_path / "a.tif", tmp_path / "o.png", "--cfa", "RGGB")
    assert result.exit_code == 3, result.output


@pytest.mark.parametrize("letters", [252, 256, 300, 5000])
def test_name_that_is_too_long_is_an_output_error(tmp_path: Path, small: Path, letters: int) -> None:
    """Row 14."""
    target = tmp_path / f"{'n' * letters}.png"
    result = run("convert", small, target, "--method", "bilinear")
    assert result.exit_code == 4, result.output
    assert "too long" in result.stderr


def test_compare_into_what_is_no_folder(tmp_path: Path, small: Path) -> None:
    """Row 15."""
    (tmp_path / "file").write_bytes(b"")
    for place in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/nothing")):
        result = run("compare", small, "-o", place)
        assert result.exit_code == 4, (place, result.output)
        assert "please report" not in result.output


def test_compare_of_a_name_that_is_no_text(tmp_path: Path, small: Path) -> None:
    """Row 15."""
    source = tmp_path / os.fsdecode(b"not\xffutf8.dng")
    source.write_bytes(small.read_bytes())
    words = ("--methods", "bilinear,malvar", "--crops", 1, "--crop-size", 32)
    result = run("compare", source, "-o", tmp_path / "page", *words)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "page" / "index.html").stat().st_size > 0


@pytest.mark.parametrize("name", ["{stem:d}", "{stem!x}", "{stem!r}", "{stem:>99999999}", "{stem}{ext:9}"])
def test_names_are_made_of_fields_alone(tmp_path: Path, small: Path, name: str) -> None:
    """Row 16."""
    result = run("batch", small, "-o", tmp_path, "--name", name)
    assert result.exit_code == 2, result.output


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("--white", value) for value in ("inf", "nan", "-inf", "1e300", "0", "-5")),
        *(("--wb", value) for value in ("1e300,1,1", "nan,1,1", "inf,1,1", "1,0,1", "1,1e-300,1")),
        *(("--black", value) for value in ("nan", "inf", "1e300")),
        *(("--exposure", value) for value in ("nan", "inf")),
        *(("--denoise", value) for value in ("nan", "inf")),
        *(("--time-limit", value) for value in ("nan", "inf")),
    ],
)
def test_numbers_that_are_none_are_wrong_usage(tmp_path: Path, small: Path, option: str, value: str) -> None:
    """Row 23."""
    result = run("convert", small, tmp_path / "o.png", option, value, "--method", "bilinear")
    assert result.exit_code == 2, result.output
    assert not (tmp_path / "o.png").exists()


@pytest.mark.parametrize("option", ["--timeout", "--memory"])
@pytest.mark.parametrize("value", ["nan", "inf"])
def test_limits_that_are_none_are_wrong_usage(tmp_path: Path, small: Path, option: str, value: str) -> None:
    assert run("batch", small, "-o", tmp_path, option, value).exit_code == 2


def test_kinds_of_tiff_that_are_not_read_are_named(tmp_path: Path, picture: Path) -> None:
    """Row 24."""
    pixels, mask = np.zeros((SIDE, SIDE), np.uint8), picture.with_name("a.mask.png")
    tifffile.imwrite(tmp_path / "big.tif", pixels, bigtiff=True)
    tifffile.imwrite(
        tmp_path / "volume.tif",
        np.zeros((4, 16, 16), np.uint8),
        volumetric=True,
        photometric="minisblack",
        tile=(4, 16, 16),
    )
    for name, words in (("big.tif", "BigTIFF"), ("volume.tif", "volume TIFF")):
        result = run("inpaint", tmp_path / name, mask, tmp_path / "o.tif")
        assert result.exit_code == 3, result.output
        assert words in result.stderr
    result = run("convert", tmp_path / "big.tif", tmp_path / "o.png", "--cfa", "RGGB")
    assert result.exit_code == 3
    assert "BigTIFF" in result.stderr


def test_jpeg_is_no_mosaic_whatever_is_said_of_it(tmp_path: Path) -> None:
    """Row 24: no advice to give what was given."""
    Image.fromarray(np.zeros((SIDE, SIDE), np.uint8)).save(tmp_path / "a.jpg")
    result = run("convert", tmp_path / "a.jpg", tmp_path / "o.png", "--cfa", "RGGB")
    assert result.exit_code == 3
    assert "a mosaic does not survive JPEG" in result.stderr
    assert "give --cfa" not in result.stderr


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_levels_counted_from_white_stay_as_they_are(tmp_path: Path, picture: Path, dtype: Any) -> None:
    """Row 24: known pixels bit by bit, with the same meaning of zero."""
    top = np.iinfo(dtype).max
    levels = np.random.default_rng(0).integers(0, top, (SIDE, SIDE), dtype=dtype)
    tifffile.imwrite(tmp_path / "w.tif", levels, photometric="miniswhite")
    mask = picture.with_name("a.mask.png")
    result = run("inpaint", tmp_path / "w.tif", mask, tmp_path / "o.tif", "--method", "biharmonic")
    assert result.exit_code == 0, result.output
    known = np.asarray(Image.open(mask)) == 0
    with tifffile.TiffFile(tmp_path / "o.tif") as tiff:
        assert int(tiff.pages.first.photometric) == 0
        np.testing.assert_array_equal(tiff.pages.first.asarray()[known], levels[known])


@pytest.mark.parametrize("wait", [0.0, 0.05, 0.1, 0.2, 0.3, 0.6])
def test_workers_are_gone_after_their_parent_whenever_it_is_killed(
    tmp_path: Path, start: Start, wait: float
) -> None:
    """Row 19: even if it is gone before they have asked to go with it; their work would take longer."""
    (tmp_path / "out").mkdir()
    for name in "abcd":
        (tmp_path / f"{name}.dng").write_bytes(b"raw")
    code = injected({"*": "sleep"})
    process = start("batch", *tmp_path.glob("*.dng"), "-o", tmp_path / "out", "--jobs", 2, code=code)
    parent = psutil.Process(process.pid)
    until(lambda: len(parent.children()) == 2)
    time.sleep(wait)
    children = parent.children(recursive=True)
    process.kill()
    process.communicate()
    until(lambda: all(map(is_over, children)))


def test_time_that_ran_out_is_told_and_nothing_is_proven(tmp_path: Path, samples: Path) -> None:
    import json

    words = (samples / "scene_rggb.dng", tmp_path / "o.png", "--time-limit", 0.01)
    result = run("convert", *words, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["certificate"] is None
    assert any("time ran out" in notice for notice in told["notices"])
    result = run("convert", *words, "--overwrite")
    assert "completed:" not in result.stdout
    assert "time ran out" in result.stderr


@pytest.mark.parametrize("scale", [1e-300, 1e39, 1e300])
def test_float_pictures_of_any_range(tmp_path: Path, picture: Path, scale: float) -> None:
    """Row 9."""
    pixels = np.random.default_rng(0).random((SIDE, SIDE, 3)) * scale
    tifffile.imwrite(tmp_path / "f.tif", pixels, photometric="rgb")
    result = run("inpaint", tmp_path / "f.tif", picture.with_name("a.mask.png"), tmp_path / "o.tif")
    assert result.exit_code == 0, result.output
    repaired = tifffile.imread(tmp_path / "o.tif")
    assert np.isfinite(repaired).all()
    assert pixels.min() <= repaired.min() <= repaired.max() <= pixels.max()


def test_kill_at_random_moments_leaves_whole_pictures_or_none(tmp_path: Path, small: Path) -> None:
    """What was begun is finished by the next run, whenever the first one was killed."""
    (tmp_path / "in").mkdir()
    for name in "abcd":
        (tmp_path / "in" / f"{name}.dng").write_bytes(small.read_bytes())
    code = "from cli.app import app; app()"
    words = [sys.executable, "-c", code, "batch", str(tmp_path / "in"), "--method", "bilinear", "--resume"]
    moments = [*np.random.default_rng(0).uniform(0.0, 0.3, 2), *np.random.default_rng(1).uniform(0.3, 4.0, 4)]
    begun = []
    for number in range(len(moments)):
        (tmp_path / f"out{number}").mkdir()
        command = [*words, "-o", str(tmp_path / f"out{number}")]
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        begun.append((time.monotonic(), process))
    for moment, (start, process) in sorted(zip(moments, begun, strict=True)):
        time.sleep(max(start + moment - time.monotonic(), 0.0))
        process.kill()
        process.wait()
    for number, moment in enumerate(moments):
        out = tmp_path / f"out{number}"
        for path in out.glob("*.png"):
            assert path.read_bytes().endswith(b"IEND\xaeB`\x82"), moment
        result = run(*words[3:], "-o", out)
        assert result.exit_code == 0, (moment, result.output)
        assert sorted(os.listdir(out)) == ["a.png", "b.png", "c.png", "d.png", REPORT], moment
