"""The command ``watch``: pictures appear as raws do."""

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.app import app
from tests.batch.batches import PATIENCE, REPORT, injected, noted, until

Start = Callable[..., Any]


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    return tmp_path / "in", tmp_path / "out"


def test_raws_become_pictures_as_they_appear(folders: tuple[Path, Path], start: Start) -> None:
    source, out = folders
    (source / "old.dng").write_bytes(b"old")
    process = start("watch", source, "-o", out, "-r", "--settle", 0.2, code=injected({}))
    assert b"watching" in process.stderr.readline()
    (source / "first.dng").write_bytes(b"first")
    (source / "sub").mkdir()
    (source / "sub" / "second.dng").write_bytes(b"second")
    until(lambda: (out / "first.png").exists() and (out / "sub" / "second.png").exists())
    (source / "first.dng").write_bytes(b"changed")
    until(lambda: noted(out, 3))
    assert (out / "first.png").read_bytes() == b"changed"
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, errors
    assert b"done          3" in output
    lines = (out / REPORT).read_bytes().splitlines()
    assert [json.loads(line)["status"] for line in lines] == ["done"] * 3
    assert not (out / "old.png").exists()


def test_half_a_file_that_is_completed_later_is_tried_again(
    folders: tuple[Path, Path], start: Start, small: Path
) -> None:
    source, out = folders
    whole = small.read_bytes()
    process = start("watch", source, "-o", out, "--settle", 0.2, "--method", "bilinear")
    assert b"watching" in process.stderr.readline()
    (source / "a.dng").write_bytes(whole[:2000])
    assert b"a.dng" in process.stderr.readline(), "the failure is told at once"
    (source / "a.dng").write_bytes(whole)
    until(lambda: noted(out))
    process.send_signal(signal.SIGTERM)
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 143, errors
    assert b"failed        1" in output
    assert b"done          1" in output


def test_two_raws_of_one_name_do_not_meet(folders: tuple[Path, Path], start: Start) -> None:
    source, out = folders
    options = ("--settle", 0.2, "--overwrite", "--jobs", 2, "--threads", 1)
    process = start("watch", source, "-o", out, *options, code=injected({}))
    process.stderr.readline()
    (source / "a.dng").write_bytes(b"dng")
    assert b"a.dng: 1 threads" in process.stderr.readline(), "a notice"
    assert b"done " in process.stderr.readline(), "what was finished"
    (source / "a.cr2").write_bytes(b"cr2")
    assert b"a.cr2: passed over" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert (out / "a.png").read_bytes() == b"dng"


def test_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["watch", str(tmp_path / "none"), "-o", str(tmp_path)])
    assert result.exit_code == 3
    assert "there is no such folder" in result.stderr


def test_results_among_what_is_watched_are_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["watch", str(tmp_path), "-o", str(tmp_path), "--cfa", "RGGB"])
    assert result.exit_code == 2
    assert "results would be taken for new raws" in " ".join(result.stderr.replace("│", " ").split())
