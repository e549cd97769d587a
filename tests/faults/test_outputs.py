"""Outputs that cannot be written, or may not be: the old file is never lost, and nothing half-done stays."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from demosaic_ntc.images import writing
from demosaic_ntc.workflows import conversion
from tests.batch.batches import PATIENCE

pytestmark = pytest.mark.fault
Run = Callable[..., Any]


@pytest.fixture
def unsolved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the test fail if the engine is reached."""

    def reached(*_: object, **__: object) -> None:
        raise AssertionError("the engine was started for an output that cannot be written")

    monkeypatch.setattr(conversion, "complete_mosaic", reached)


def test_existing_output_is_skipped_and_untouched(tmp_path: Path, convert: Run, small: Path) -> None:
    target = tmp_path / "a.png"
    assert convert(small, target).exit_code == 0
    before = (target.stat().st_mtime_ns, target.read_bytes())
    result = convert(small, target)
    assert result.exit_code == 0
    assert "exists, skipped; use --overwrite" in result.stderr
    assert (target.stat().st_mtime_ns, target.read_bytes()) == before


def test_existing_output_is_replaced_when_asked(tmp_path: Path, convert: Run, small: Path) -> None:
    target = tmp_path / "a.png"
    target.write_bytes(b"old")
    assert convert(small, target, "--overwrite").exit_code == 0
    assert target.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("suffix", [".png", ".tif", ".jpg", ".webp", ".avif", ".jxl"])
def test_writer_that_fails_half_way_keeps_the_old_file(
    tmp_path: Path, convert: Run, small: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    target = tmp_path / f"a{suffix}"
    target.write_bytes(b"old")

    def failing(file: Any, *_: object) -> None:
        file.write(b"half a picture")
        raise OSError(errno.ENOSPC, "No space left on device")

    for writers in (writing._BY_ROWS, writing._AT_ONCE):
        for kind in writers:
            monkeypatch.setitem(writers, kind, failing)
    result = convert(small, target, "--overwrite")
    assert result.exit_code == 4
    assert "no space left; free some" in result.stderr
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == [target.name]


def test_real_limit_on_file_size_keeps_the_old_file(tmp_path: Path, small: Path, start: Run) -> None:
    target = tmp_path / "a.png"
    target.write_bytes(b"old")
    code = "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    code += "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))"
    options = ("--overwrite", "--method", "bilinear")
    process = start("convert", small, target, *options, code=code, env={"NUMBA_DISABLE_JIT": "1"})
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 4, errors
    assert b"no space left" in errors
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.png"]


@pytest.mark.usefixtures("unsolved")
def test_missing_folder_is_refused_before_solving(tmp_path: Path, convert: Run, small: Path) -> None:
    result = convert(small, tmp_path / "none" / "a.png")
    assert result.exit_code == 4
    assert "there is no folder" in result.stderr


@pytest.mark.usefixtures("unsolved")
def test_folder_that_is_a_file_is_refused_before_solving(tmp_path: Path, convert: Run, small: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert convert(small, tmp_path / "file" / "a.png").exit_code == 4


@pytest.mark.usefixtures("unsolved")
def test_read_only_folder_is_refused_before_solving(
    tmp_path: Path, convert: Run, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may write anywhere, so the system's answer is put in its mouth."""
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o555)
    if os.geteuid() == 0:
        from demosaic_ntc.io import atomic

        def read_only(*_: object) -> None:
            raise OSError(errno.EROFS, "Read-only file system")

        monkeypatch.setattr(atomic, "create_partial", read_only)
    result = convert(small, folder / "a.png")
    folder.chmod(0o755)
    assert result.exit_code == 4
    assert "cannot be written" in result.stderr


@pytest.mark.usefixtures("unsolved")
@pytest.mark.parametrize("linked", [False, True])
def test_input_as_output_is_wrong_usage(tmp_path: Path, convert: Run, small: Path, linked: bool) -> None:
    source = tmp_path / "a.png"
    source.write_bytes(small.read_bytes())
    target = tmp_path / "b.png" if linked else source
    if linked:
        target.symlink_to(source)
    result = convert(source, target, "--overwrite")
    assert result.exit_code == 2
    assert "input and output are the same file" in " ".join(result.stderr.replace("│", " ").split())
    assert source.read_bytes() == small.read_bytes()


def test_bug_is_one_line_that_asks_for_a_report(
    tmp_path: Path, convert: Run, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("surprise")

    monkeypatch.setattr(conversion, "complete_mosaic", broken)
    result = convert(small, tmp_path / "a.png")
    assert result.exit_code == 70
    assert "internal error (RuntimeError: surprise); please report it" in result.stderr
    assert "Traceback" not in result.stderr
    assert os.listdir(tmp_path) == []
    assert "Traceback" in convert(small, tmp_path / "a.png", "--debug").stderr


def test_memory_that_runs_out_is_a_limit(
    tmp_path: Path, convert: Run, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hungry(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(conversion, "complete_mosaic", hungry)
    result = convert(small, tmp_path / "a.png")
    assert result.exit_code == 6
    assert "out of memory" in result.stderr
