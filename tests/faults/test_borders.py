"""The borders to foreign libraries: whatever they raise is told in one line, with the code that it means.

Exit 70 stands for a bug of this program alone, so nothing that another library raises may lead to it.
"""

import errno
import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import imagecodecs
import numpy as np
import PIL
import PIL.Image
import pytest
import rawpy
import tifffile
from typer.testing import CliRunner

from cli.app import app
from demosaic_ntc.batch.discovery import FoundInput, InputSearch
from demosaic_ntc.batch.watch import Arrivals
from demosaic_ntc.errors import InputError, OutputError, Truncated, border, damage_explained, explain_encoding
from tests.images.picture_files import write_mask

pytestmark = [pytest.mark.fault, pytest.mark.usefixtures("in_process")]

LIBRAW = [kind for name, kind in vars(rawpy).items() if name.startswith("LibRaw") and isinstance(kind, type)]
PLAIN: list[BaseException] = [
    *(kind("surprise") for kind in (Exception, RuntimeError, RecursionError, NotImplementedError, OSError)),
    *(
        kind("surprise")
        for kind in (ValueError, TypeError, KeyError, IndexError, LookupError, AttributeError)
    ),
    *(kind("surprise") for kind in (SyntaxError, EOFError, BufferError, AssertionError, NameError, Warning)),
    *(kind("surprise") for kind in (ArithmeticError, OverflowError, ZeroDivisionError, StopIteration)),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "surprise"),
    OSError(errno.EIO, os.strerror(errno.EIO)),
    Exception(),
    struct.error("surprise"),
    zlib.error("surprise"),
    np.linalg.LinAlgError("surprise"),
    PIL.UnidentifiedImageError("surprise"),
    PIL.Image.DecompressionBombError("surprise"),
    tifffile.TiffFileError("surprise"),
]
LIMITS = [MemoryError(), OSError(errno.EMFILE, os.strerror(errno.EMFILE)), OSError(errno.ENOMEM, "no memory")]
EVERYTHING = [*PLAIN, *LIMITS]


def named(error: BaseException) -> str:
    return f"{type(error).__name__}-{getattr(error, 'errno', None) or error}"


def run(*words: object) -> Any:
    return CliRunner().invoke(app, list(map(str, words)))


def check_told(result: Any, error: BaseException, code: int) -> None:
    """One line on stderr, and the code of a limit where the machine is at its end."""
    is_limit = any(error is limit for limit in LIMITS) or "Memory" in type(error).__name__
    assert result.exit_code == (6 if is_limit else code), (result.output, result.exception)
    lines = [line for line in result.stderr.splitlines() if "preparing kernels" not in line]
    assert len(lines) == 1, result.stderr
    assert "Traceback" not in result.output
    assert "please report" not in result.output


@pytest.fixture
def raising(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, BaseException], None]:
    """Let a function of a library raise."""

    def install(place: str, error: BaseException) -> None:
        def refuse(*_: Any, **__: Any) -> Any:
            raise error

        monkeypatch.setattr(place, refuse)

    return install


Raising = Callable[[str, BaseException], None]
Make = Callable[[str], tuple[Path, Path]]


@pytest.fixture
def picture(tmp_path: Path) -> Callable[[str], tuple[Path, Path]]:
    """A picture of a kind, and a mask."""

    def make(kind: str) -> tuple[Path, Path]:
        pixels = np.random.default_rng(0).integers(256, size=(24, 24, 3), dtype=np.uint8)
        path = tmp_path / f"picture.{kind}"
        PIL.Image.fromarray(pixels).save(path)
        missing = np.zeros((24, 24), np.bool_)
        missing[4:6, 4:9] = True
        return path, write_mask(tmp_path / "mask.png", missing)

    return make


@pytest.mark.parametrize("error", EVERYTHING, ids=named)
def test_pillow_decoding(tmp_path: Path, picture: Make, raising: Raising, error: BaseException) -> None:
    source, mask = picture("jpg")
    raising("PIL.Image.open", error)
    check_told(run("inpaint", source, mask, tmp_path / "o.jpg"), error, 3)
    assert not (tmp_path / "o.jpg").exists()


@pytest.mark.parametrize("error", [*EVERYTHING, imagecodecs.PngError("decode", "surprise")], ids=named)
@pytest.mark.parametrize("command", ["inpaint", "convert"])
def test_imagecodecs_decoding(
    tmp_path: Path, picture: Make, raising: Raising, command: str, error: BaseException
) -> None:
    source, mask = picture("png")
    raising("imagecodecs.png_decode", error)
    if command == "inpaint":
        check_told(run("inpaint", source, mask, tmp_path / "o.png"), error, 3)
    else:
        check_told(run("convert", mask, tmp_path / "o.png", "--cfa", "RGGB"), error, 3)
    assert not (tmp_path / "o.png").exists()


@pytest.mark.parametrize("error", EVERYTHING, ids=named)
@pytest.mark.parametrize("command", ["inpaint", "convert"])
def test_tifffile(
    tmp_path: Path,
    picture: Make,
    raising: Raising,
    command: str,
    error: BaseException,
) -> None:
    source, mask = picture("tif")
    raising("tifffile.TiffFile", error)
    if command == "inpaint":
        check_told(run("inpaint", source, mask, tmp_path / "o.tif"), error, 3)
    else:
        check_told(run("convert", source, tmp_path / "o.tif", "--cfa", "RGGB"), error, 3)


@pytest.mark.parametrize("error", [*EVERYTHING, *(kind(b"surprise") for kind in LIBRAW)], ids=named)
def test_libraw(tmp_path: Path, small: Path, raising: Raising, error: BaseException) -> None:
    raising("rawpy.RawPy", error)
    check_told(run("convert", small, tmp_path / "o.png", "--method", "bilinear"), error, 3)
    check_told(run("info", small), error, 3)
    check_told(run("compare", small, "-o", tmp_path / "page"), error, 3)


@pytest.mark.parametrize("error", EVERYTHING, ids=named)
def test_pillow_encoding(tmp_path: Path, small: Path, raising: Raising, error: BaseException) -> None:
    raising("PIL.Image.Image.save", error)
    check_told(run("convert", small, tmp_path / "o.jpg", "--method", "bilinear", "--quiet"), error, 4)
    assert not (tmp_path / "o.jpg").exists()


@pytest.mark.parametrize("error", PLAIN, ids=named)
def test_plan_of_a_batch_decodes_nothing(
    tmp_path: Path, picture: Make, raising: Raising, error: BaseException
) -> None:
    picture("png")[1].rename(tmp_path / "picture.mask.png")
    (tmp_path / "out").mkdir()
    raising("imagecodecs.png_decode", error)
    raising("PIL.Image.open", error)
    result = run("batch", tmp_path / "picture.png", "-o", tmp_path / "out", "--inpaint", "--dry-run")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("error", EVERYTHING, ids=named)
def test_pictures_of_a_benchmark(
    tmp_path: Path, picture: Make, raising: Raising, error: BaseException
) -> None:
    source, mask = picture("png")
    mask.unlink()
    raising("PIL.Image.open", error)
    check_told(run("benchmark", "demosaic", source.parent, "--methods", "bilinear"), error, 3)


@pytest.mark.parametrize("error", [each for each in EVERYTHING if isinstance(each, OSError)], ids=named)
def test_system_that_reads(tmp_path: Path, small: Path, raising: Raising, error: BaseException) -> None:
    raising("demosaic_ntc.io.header._check_status", error)
    check_told(run("convert", small, tmp_path / "o.png", "--method", "bilinear"), error, 3)
    check_told(run("info", small), error, 3)


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
@pytest.mark.parametrize("call", ["fsync", "link"])
def test_system_that_writes(tmp_path: Path, small: Path, raising: Raising, call: str, number: int) -> None:
    raising(f"demosaic_ntc.io.atomic.os.{call}", OSError(number, os.strerror(number)))
    result = run("convert", small, tmp_path / "o.png", "--method", "bilinear", "--quiet")
    assert result.exit_code == (4 if call == "fsync" else 0), (
        result.output
    )  # names are claimed in another way
    assert [path.name for path in tmp_path.iterdir()] == ([] if call == "fsync" else ["o.png"])


@pytest.mark.parametrize("error", PLAIN, ids=named)
def test_watch_goes_on_without_notices(
    tmp_path: Path, raising: Raising, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    raising("demosaic_ntc.batch.watch.watch", error)
    monkeypatch.setattr("demosaic_ntc.batch.watch._LOOK_SECONDS", 0.01)
    search = InputSearch(frozenset((".dng",)), False, tmp_path / "out")
    with Arrivals(tmp_path, search, settle=0.0) as arrivals:
        (tmp_path / "a.dng").write_bytes(b"raw")
        found = next(found for found in arrivals if found is not None)
    assert found == FoundInput(tmp_path / "a.dng")


@pytest.mark.parametrize("error", [*PLAIN, MemoryError()], ids=named)
def test_machine_that_tells_nothing(
    tmp_path: Path, small: Path, raising: Raising, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    for call in ("Process", "virtual_memory"):
        raising(f"psutil.{call}", error)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".demosaic-ntc-host-1-00.partial").write_bytes(b"")
    result = run("batch", small, "-o", tmp_path / "out", "--method", "bilinear", "--dry-run")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("error", PLAIN, ids=named)
def test_dask(
    tmp_path: Path, small: Path, raising: Raising, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("demosaic_ntc.batch.workers.cluster._check_listens", lambda *_: None)
    raising("demosaic_ntc.batch.workers.cluster.QuietClient", error)
    (tmp_path / "out").mkdir()
    check_told(run("batch", small, "-o", tmp_path / "out", "--scheduler", "tcp://127.0.0.1:1"), error, 5)


@pytest.mark.parametrize("error", EVERYTHING, ids=named)
def test_fsspec(tmp_path: Path, raising: Raising, error: BaseException) -> None:
    pytest.importorskip("fsspec")
    (tmp_path / "out").mkdir()
    raising("fsspec.filesystem", error)
    check_told(run("batch", "s3://bucket/in", "-o", tmp_path / "out"), error, 3)
    check_told(run("batch", __file__, "-o", "s3://bucket/out", "--report", tmp_path / "report"), error, 4)


def test_borders_let_our_own_errors_pass() -> None:
    for ours in (InputError("a"), OutputError("b"), Truncated("c")):
        for context in (
            damage_explained("PNG"),
            explain_encoding("PNG"),
            border(lambda _: InputError("no")),
        ):
            with pytest.raises(type(ours)) as caught, context:
                raise ours
            assert caught.value is ours


def test_bug_of_our_own_is_still_told_as_one(
    tmp_path: Path, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def buggy(*_: Any, **__: Any) -> SimpleNamespace:
        raise TypeError("a bug")

    monkeypatch.setattr("cli.actions.convert.convert_file", buggy)
    result = run("convert", small, tmp_path / "o.png", "--method", "bilinear")
    assert result.exit_code == 70
    assert "please report it" in result.stderr
