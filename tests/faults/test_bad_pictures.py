"""Pictures and masks that are not what they seem: refused in a line that names the file, or done right."""

import os
import struct
import subprocess
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from PIL import Image
from typer.testing import CliRunner

from cli.app import app
from tests.images.picture_files import HEIGHT, KINDS, WIDTH, opened, rgb, scratch, write_mask

pytestmark = pytest.mark.fault
Refused = Callable[..., str]


def _run(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["inpaint", "--method", "biharmonic", *map(str, arguments)])


@pytest.fixture
def mask(tmp_path: Path) -> Path:
    return write_mask(tmp_path / "mask.png", scratch())


@pytest.fixture
def refused(tmp_path: Path) -> Refused:
    """What the program says of files that it must refuse, after checking that it left nothing behind."""

    def run(*arguments: object, blamed: str, code: int = 3) -> str:
        before = sorted(os.listdir(tmp_path))
        result = _run(*arguments)
        assert result.exit_code == code, result.output
        assert sorted(os.listdir(tmp_path)) == before
        message = str(result.stderr)
        assert blamed in message
        assert "; " in message, "what is wrong; what to do"
        assert "Traceback" not in message
        assert len(message.splitlines()) == 1
        return message

    return run


def test_13_everything_masked(tmp_path: Path, refused: Refused) -> None:
    KINDS["rgb8.png"](tmp_path / "a.png")
    everything = write_mask(tmp_path / "m.png", np.ones((HEIGHT, WIDTH), np.bool_))
    message = refused(tmp_path / "a.png", everything, tmp_path / "out.png", blamed="a.png")
    assert "nothing is known, cannot complete" in message


def test_14_nothing_masked(tmp_path: Path) -> None:
    KINDS["rgb8.jpg"](tmp_path / "a.jpg")
    nothing = write_mask(tmp_path / "m.png", np.zeros((HEIGHT, WIDTH), np.bool_))
    result = _run(tmp_path / "a.jpg", nothing, tmp_path / "out.jpg")
    assert result.exit_code == 0
    assert "nothing to do" in result.stderr
    assert (tmp_path / "out.jpg").read_bytes() == (tmp_path / "a.jpg").read_bytes()


def test_15_mask_of_another_shape(tmp_path: Path, refused: Refused) -> None:
    KINDS["rgb8.png"](tmp_path / "a.png")
    short = write_mask(tmp_path / "m.png", scratch()[:-1])
    message = refused(tmp_path / "a.png", short, tmp_path / "out.png", blamed="m.png")
    assert "the mask is 30×39, the picture 30×40" in message


def test_16_mask_with_nan(tmp_path: Path, refused: Refused) -> None:
    KINDS["rgb8.png"](tmp_path / "a.png")
    levels = scratch().astype(np.float32)
    levels[3, 4] = np.nan
    tifffile.imwrite(tmp_path / "m.tif", levels)
    message = refused(tmp_path / "a.png", tmp_path / "m.tif", tmp_path / "out.png", blamed="m.tif")
    assert "NaN or infinite: 1, the first at row 3, column 4" in message


def test_16_mask_with_a_ramp(tmp_path: Path, refused: Refused) -> None:
    KINDS["rgb8.png"](tmp_path / "a.png")
    ramp = np.tile(np.linspace(0, 255, WIDTH).astype(np.uint8), (HEIGHT, 1))
    Image.fromarray(ramp).save(tmp_path / "m.png")
    message = refused(tmp_path / "a.png", tmp_path / "m.png", tmp_path / "out.png", blamed="m.png")
    assert "the first at row 0, column 1 (value 8)" in message
    assert "--threshold" in message
    result = _run(tmp_path / "a.png", tmp_path / "m.png", tmp_path / "out.png", "--threshold", 0.7)
    assert result.exit_code == 0
    kept = ramp < 0.7 * 255
    before, after = np.asarray(rgb()), np.asarray(opened(tmp_path / "out.png"))
    assert np.array_equal(after[kept], before[kept])


@pytest.mark.parametrize(
    ("value", "what"), [(np.nan, "NaN or infinite"), (np.inf, "NaN or infinite"), (-0.5, "negative")]
)
def test_17_known_pixels_that_cannot_be(
    value: float, what: str, tmp_path: Path, mask: Path, refused: Refused
) -> None:
    KINDS["rgbf32.tif"](tmp_path / "a.tif")
    pixels = tifffile.imread(tmp_path / "a.tif")
    pixels[2, 3, 1] = pixels[30, 4, 0] = value
    tifffile.imwrite(tmp_path / "a.tif", pixels, photometric="rgb")
    message = refused(tmp_path / "a.tif", mask, tmp_path / "out.tif", blamed="a.tif")
    assert f"{what}: 2, the first at row 2, column 3, channel 1" in message


def test_18_nan_at_masked_pixels(tmp_path: Path, mask: Path) -> None:
    KINDS["rgbf32.tif"](tmp_path / "a.tif")
    pixels = tifffile.imread(tmp_path / "a.tif")
    pixels[scratch()] = np.nan
    tifffile.imwrite(tmp_path / "a.tif", pixels, photometric="rgb")
    result = _run(tmp_path / "a.tif", mask, tmp_path / "out.tif")
    assert result.exit_code == 0, result.stderr
    restored = tifffile.imread(tmp_path / "out.tif")
    assert np.isfinite(restored).all()
    assert np.array_equal(restored[~scratch()], pixels[~scratch()])


def test_19_a_masked_border_row(tmp_path: Path) -> None:
    KINDS["rgb16.png"](tmp_path / "a.png")
    missing = np.zeros((HEIGHT, WIDTH), np.bool_)
    missing[0] = missing[-1] = True
    assert (
        _run(tmp_path / "a.png", write_mask(tmp_path / "m.png", missing), tmp_path / "o.png").exit_code == 0
    )


def test_22_cmyk(tmp_path: Path, mask: Path, refused: Refused) -> None:
    for name in ("a.jpg", "a.tif"):
        rgb().convert("CMYK").save(tmp_path / name)
        assert "CMYK" in refused(tmp_path / name, mask, tmp_path / "out.png", blamed=name)


def test_22_animations_and_pages(tmp_path: Path, mask: Path, refused: Refused) -> None:
    frames = [rgb().point(lambda level, i=i: level // (i + 1)) for i in range(3)]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    frames[0].save(tmp_path / "a.png", save_all=True, append_images=frames[1:])
    frames[0].save(tmp_path / "a.tif", save_all=True, append_images=[*frames[1:], *frames[:2]])
    for name, count in (("a.gif", "3 frames"), ("a.png", "3 frames"), ("a.tif", "5 pages")):
        assert count in refused(tmp_path / name, mask, tmp_path / "out.png", blamed=name)


def test_22_postscript_named_png_starts_no_program(
    tmp_path: Path, mask: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    def started(*arguments: object, **options: object) -> None:
        raise AssertionError("a program was started")

    monkeypatch.setattr(subprocess, "Popen", started)
    (tmp_path / "a.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 30 40\nshowpage\n")
    assert "EPS" in refused(tmp_path / "a.png", mask, tmp_path / "out.png", blamed="a.png")


@pytest.mark.parametrize(
    ("suffix", "name"), [(".bmp", "BMP"), (".webp", "WebP"), (".gif", "a GIF"), (".pdf", "PDF")]
)
def test_22_other_kinds_by_name(suffix: str, name: str, tmp_path: Path, mask: Path, refused: Refused) -> None:
    rgb().save(tmp_path / f"a{suffix}")
    source = (tmp_path / f"a{suffix}").rename(tmp_path / "a.png")
    assert f"is {name}; convert it" in refused(source, mask, tmp_path / "out.png", blamed="a.png")


def test_a_raw_is_sent_to_convert(small: Path, tmp_path: Path, mask: Path, refused: Refused) -> None:
    assert "develop it with `demosaic-ntc convert`" in refused(
        small, mask, tmp_path / "out.png", blamed=small.name
    )


@pytest.mark.parametrize("name", ["rgb8.png", "rgb16.png", "la16.png", "rgb8.jpg", "rgb8.tif", "rgb16.tif"])
@pytest.mark.parametrize("kept", [0, 20, 0.5, 0.9])
def test_truncated_pictures(name: str, kept: float, tmp_path: Path, mask: Path, refused: Refused) -> None:
    KINDS[name](tmp_path / name)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: int(kept * len(content)) if 0 < kept < 1 else int(kept)])
    target = tmp_path / "out.png"
    message = refused(tmp_path / name, mask, target, blamed=name)
    assert any(word in message for word in ("truncated", "empty file", "is not a picture"))


@pytest.mark.parametrize(
    "name", ["rgb8.png", "rgb16.png", "rgb8.jpg", "rgb16.tif", "palette4.png", "bits1.tif"]
)
def test_damaged_pictures_never_crash(name: str, tmp_path: Path, mask: Path) -> None:
    KINDS[name](tmp_path / name)
    content = (tmp_path / name).read_bytes()
    generator = np.random.default_rng(0)
    for _ in range(60):
        mutant = bytearray(content)
        for place in generator.integers(0, len(mutant), 3):
            mutant[place] = generator.integers(0, 256)
        (tmp_path / name).write_bytes(mutant)
        result = _run(tmp_path / name, mask, tmp_path / f"out{Path(name).suffix}", "--overwrite")
        assert result.exit_code in (0, 3), result.output


def test_bombs_are_refused_before_decoding(tmp_path: Path, mask: Path, refused: Refused) -> None:
    header = b"IHDR" + struct.pack(">LLBBBBB", 50000, 50000, 8, 2, 0, 0, 0)
    chunk = struct.pack(">L", 13) + header + struct.pack(">L", zlib.crc32(header))
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk + bytes(100))
    start = time.thread_time()
    assert "too large: 50000×50000" in refused(tmp_path / "a.png", mask, tmp_path / "out.png", blamed="a.png")
    assert time.thread_time() - start < 10


@pytest.mark.parametrize("name", ["rgb8.png", "rgb8.jpg", "rgb16.tif"])
def test_the_limit_of_pixels_can_be_set(name: str, tmp_path: Path, mask: Path, refused: Refused) -> None:
    KINDS[name](tmp_path / name)
    message = refused(tmp_path / name, mask, tmp_path / "out.tif", "--max-pixels", 1000, blamed=name)
    assert "30×40 is 1200 pixels, the limit is 1000" in message


def test_files_that_are_no_files(tmp_path: Path, mask: Path, refused: Refused) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "folder.png").mkdir()
    for name, reason in (
        ("pipe.png", "named pipe"),
        ("folder.png", "is a folder"),
        ("gone.png", "no such file"),
    ):
        assert reason in refused(tmp_path / name, mask, tmp_path / "out.png", blamed=name)


def test_a_folder_that_is_not_there(tmp_path: Path, mask: Path, refused: Refused) -> None:
    KINDS["rgb8.png"](tmp_path / "a.png")
    target = tmp_path / "nowhere" / "out.png"
    assert "there is no folder" in refused(tmp_path / "a.png", mask, target, blamed="out.png", code=4)


def test_an_output_that_cannot_hold_the_picture(tmp_path: Path, mask: Path, refused: Refused) -> None:
    KINDS["rgba8.png"](tmp_path / "a.png")
    message = refused(tmp_path / "a.png", mask, tmp_path / "out.jpg", blamed="out.jpg", code=4)
    assert "JPEG cannot hold the picture's transparency" in message


def test_a_writer_that_fails_leaves_the_old_output(
    tmp_path: Path, mask: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    KINDS["rgb8.png"](tmp_path / "a.png")
    (tmp_path / "out.png").write_bytes(b"old")
    monkeypatch.setattr("demosaic_ntc.images.png_writing.write_png_as", full)
    result = _run(tmp_path / "a.png", mask, tmp_path / "out.png", "--overwrite")
    assert result.exit_code == 4
    assert "no space left" in result.stderr
    assert (tmp_path / "out.png").read_bytes() == b"old"
    assert not list(tmp_path.glob(".demosaic-ntc*"))
