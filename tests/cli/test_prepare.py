"""Kernels prepared by commands: what is said of it, and when nothing is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.app import app
from cli.output.progress import StageBar, prepare_shown, show_waits
from demosaic_ntc.jit import precompile
from demosaic_ntc.jit.entries import Entry, load_all
from demosaic_ntc.jit.waiting import wait

# Stands for a process that compiles: a file of the kernel's name is all that it leaves.
_TOUCHING = """
import pathlib, sys
for line in sys.stdin:
    pathlib.Path({folder!r}, line.strip()).touch()
    print(line, end="", flush=True)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Nothing is kept, and compilers do next to nothing."""
    compilers, kept = precompile.Compilers(), tmp_path / "kept"
    kept.mkdir()
    monkeypatch.setattr(precompile, "_compilers", compilers)
    monkeypatch.setattr(precompile, "find_folder", lambda: kept)
    monkeypatch.setattr(Entry, "_is_kept", lambda entry: (kept / entry.name).exists())
    monkeypatch.setattr(precompile, "_COMPILER", _TOUCHING.format(folder=str(kept)))
    yield kept
    compilers.end()


def test_one_line_says_that_kernels_are_prepared(capsys: pytest.CaptureFixture[str]) -> None:
    assert prepare_shown(quiet=False) == []
    said = f"demosaic-ntc: preparing kernels for this machine, once: 0 of {len(load_all())}\n"
    assert capsys.readouterr().err == said
    assert prepare_shown(quiet=False) == []
    assert capsys.readouterr().err == ""


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert prepare_shown(quiet=True) == []
    assert capsys.readouterr().err == ""


def _wait_twice() -> None:
    """Wait for kernels like a conversion that calls them."""
    with wait() as report:
        report(3, 20)
        report(4, 20)


@pytest.mark.parametrize(
    ("quiet", "said"),
    [(False, "demosaic-ntc: preparing kernels for this machine, once: 3 of 20\n"), (True, "")],
)
def test_a_wait_in_the_middle_is_one_line(capsys: pytest.CaptureFixture[str], quiet: bool, said: str) -> None:
    with show_waits(quiet=quiet):
        _wait_twice()
        _wait_twice()
    assert capsys.readouterr().err == said


def test_a_wait_in_the_middle_is_shown_on_the_bar(capsys: pytest.CaptureFixture[str]) -> None:
    described: list[str] = []

    class Bars:
        def add_task(self, *_: Any, **__: Any) -> int:
            return 0

        def update(self, _: int, *, description: str, **__: Any) -> None:
            described.append(description)

    with show_waits(StageBar(Bars(), {"demosaic": 1.0}), quiet=False):
        _wait_twice()
    assert described == [f"preparing kernels for this machine, once: {ready} of 20" for ready in (3, 4)]
    assert capsys.readouterr().err == ""


def test_prepare_compiles_all_and_says_where(folder: Path) -> None:
    result = CliRunner().invoke(app, ["prepare"])
    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"{len(load_all())} kernels are ready, kept in {folder}\n"


def test_prepare_fails_where_nothing_can_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precompile, "find_folder", lambda: None)
    result = CliRunner().invoke(app, ["prepare"])
    assert result.exit_code == 4
    assert "set NUMBA_CACHE_DIR" in result.stderr


def test_prepare_fails_where_compilers_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precompile, "_COMPILER", "raise SystemExit(1)")
    result = CliRunner().invoke(app, ["prepare"])
    assert result.exit_code == 4
    assert "could not be compiled" in result.stderr


@pytest.mark.parametrize("words", [["none.dng", "out.png"], ["inpaint", "none.png", "mask.png", "out.png"]])
def test_a_wrong_path_is_told_before_anything_is_prepared(words: list[str], folder: Path) -> None:
    answer = CliRunner().invoke(app, words)
    assert answer.exit_code != 0
    assert "preparing" not in answer.output
    assert not list(folder.iterdir())


def test_nothing_is_left_to_do_for_kernels_that_came_with_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Entry, "is_shipped", True)
    monkeypatch.setattr(precompile, "find_folder", lambda: None)  # nor is there a place to keep any
    result = CliRunner().invoke(app, ["prepare"])
    assert result.exit_code == 0, result.output
    assert result.output == f"{len(load_all())} kernels are ready, they came with the program\n"
    assert not CliRunner().invoke(app, ["prepare", "--quiet"]).output
