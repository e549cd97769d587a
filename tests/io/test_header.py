"""The header of a file: what it tells, and that a run opens its input once and parses no directory twice."""

import io
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.exif import exif_block
from demosaic_ntc.io.header import FileKind, InputLimits, open_header, read_header
from demosaic_ntc.io.tiff_tags import Directory, TagReader
from tests.made_raws import MADE, made, taken_with

QUICK = ("--method", "bilinear", "--threads", "1")

_opened: list[tuple[str, bool]] = []  # every file, and whether by Python or by the system


@cache
def _watch() -> None:
    """Note from now on which files are opened; nothing can take this back."""

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], (str, bytes, os.PathLike)):
            _opened.append((os.fsdecode(arguments[0]), arguments[1] is None))

    sys.addaudithook(note)


@contextmanager
def opened_once(*paths: Path) -> Iterator[None]:
    """Fail unless each of these files is opened exactly once; Python and the system tell of it one each."""
    _watch()
    _opened.clear()
    yield
    counts = Counter(_opened)
    assert [max(counts[str(path), False], counts[str(path), True]) for path in paths] == [1] * len(paths)


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch, in_process: None) -> list[tuple[Any, int]]:
    """Every directory that is parsed: of which file or block, and where it begins."""
    places: list[tuple[Any, int]] = []
    read = TagReader._read

    def note(self: TagReader, offset: int) -> tuple[Directory, int]:
        file = self._file
        places.append((file.getvalue() if isinstance(file, io.BytesIO) else file.name, offset))
        return read(self, offset)

    monkeypatch.setattr(TagReader, "_read", note)
    return places


def _run(*words: object) -> None:
    answer = CliRunner().invoke(app, [str(word) for word in words])
    assert answer.exit_code == 0, answer.output


def _raw(folder: Path, samples: Path, name: str) -> Path:
    """A sample, or a raw made of a container that is no TIFF."""
    if name not in MADE:
        return samples / name
    (folder / name).write_bytes(made(name).content)
    return folder / name


@pytest.mark.parametrize("name", ["small_rggb.dng", "small_xtrans.dng", *MADE])
def test_conversion_opens_its_input_once(
    tmp_path: Path, samples: Path, parsed: list[tuple[Any, int]], name: str
) -> None:
    source = _raw(tmp_path, samples, name)
    with opened_once(source):
        _run("convert", source, tmp_path / "a.png", *QUICK)
    assert len(parsed) >= 1
    assert len(parsed) == len(set(parsed))


def test_linear_dng_is_opened_once(tmp_path: Path, samples: Path, parsed: list[tuple[Any, int]]) -> None:
    _run("convert", samples / "small_rggb.dng", tmp_path / "linear.dng", *QUICK)
    parsed.clear()
    with opened_once(tmp_path / "linear.dng"):
        _run("convert", tmp_path / "linear.dng", tmp_path / "a.tif", *QUICK)
    assert len(parsed) == len(set(parsed)) >= 2


def test_plain_mosaic_is_opened_once(tmp_path: Path) -> None:
    Image.fromarray(np.arange(64 * 48, dtype=np.uint8).reshape(48, 64)).save(tmp_path / "m.tif")
    with opened_once(tmp_path / "m.tif"):
        _run("convert", tmp_path / "m.tif", tmp_path / "a.png", "--cfa", "RGGB", *QUICK)


def _picture(path: Path) -> Path:
    """A picture with metadata, and a red square to be repaired."""
    colours = np.random.default_rng(0).integers(0, 200, (48, 64, 3), dtype=np.uint8)
    colours[20:24, 30:34] = 255, 0, 0
    Image.fromarray(colours).save(path, exif=b"Exif\0\0" + exif_block(taken_with("Maker", "Model")))
    return path


@pytest.mark.parametrize("suffix", ["png", "tif", "jpg"])
@pytest.mark.parametrize("colour", ["#ff0000", "#00ff01"])
def test_repair_opens_its_input_once(
    tmp_path: Path, parsed: list[tuple[Any, int]], suffix: str, colour: str
) -> None:
    """Also where there is nothing to repair: then the input is copied."""
    source = _picture(tmp_path / f"a.{suffix}")
    with opened_once(source):
        _run("inpaint", source, tmp_path / f"b.{suffix}", "--mask-color", colour, "--threads", "1")
    assert len(parsed) == len(set(parsed)) >= 2


@pytest.mark.parametrize("suffix", ["png", "gif"])
def test_mask_is_opened_once(tmp_path: Path, suffix: str) -> None:
    source, mask = _picture(tmp_path / "a.png"), tmp_path / f"m.{suffix}"
    marked = np.zeros((48, 64), np.uint8)
    marked[20:24, 30:34] = 255
    Image.fromarray(marked).save(mask)
    with opened_once(source, mask):
        _run("inpaint", source, mask, tmp_path / "b.png", "--threads", "1")


def test_header_that_is_open_is_handed_on(small: Path) -> None:
    with open_header(small, InputLimits()) as header:
        with open_header(header, InputLimits()) as same:
            assert same is header
        assert not header.file.closed
    assert header.file.closed


def test_errors_of_opening_name_the_file(tmp_path: Path) -> None:
    words = f"^{tmp_path / 'a.dng'}: there is no such file"
    with pytest.raises(InputError, match=words), open_header(tmp_path / "a.dng", InputLimits()):
        pytest.fail("it was opened")


def test_mosaic_is_found_in_a_dng(small: Path) -> None:
    with open_header(small, InputLimits()) as header:
        assert (header.kind, header.is_dng, header.is_linear) == (FileKind.TIFF, True, False)
        assert (header.size, header.length) == ((48, 36), small.stat().st_size)


@pytest.mark.parametrize("suffix", ["png", "jpg"])
def test_size_of_pictures_is_known(tmp_path: Path, suffix: str) -> None:
    with open_header(_picture(tmp_path / f"a.{suffix}"), InputLimits()) as header:
        assert header.size == (64, 48)


def test_bytes_can_be_read_at_any_place() -> None:
    header = read_header(io.BytesIO(bytes(range(100))))
    assert (header.kind, header.size, header.length) == (FileKind.UNKNOWN, None, 100)
    assert (header.read(), header.read(98, 10)) == (bytes(range(100)), b"\x62\x63")


@pytest.mark.parametrize(("name", "array"), [("small_rggb.dng", "bayer"), ("small_xtrans.dng", "other")])
def test_array_is_guessed_without_decoding(samples: Path, name: str, array: str) -> None:
    with open_header(samples / name, InputLimits()) as header:
        assert header.array_kind == array


def test_raws_of_fujifilm_are_probably_xtrans() -> None:
    assert read_header(io.BytesIO(b"FUJIFILMCCD-RAW 0201".ljust(200, b"\0"))).array_kind == "other"
