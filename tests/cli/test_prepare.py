"""Kernels prepared by commands: what is said of it, and when nothing is."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.actions.prepare import prepare_shown
from cli.app import app
from demosaic_ntc.jit import precompile, signatures
from demosaic_ntc.jit.precompile import KernelRecord

_ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelRecord:
    """Nothing on record, and compilers that do nothing."""
    record = KernelRecord(tmp_path / "kept" / "a.prepared")
    record.path.parent.mkdir()
    monkeypatch.setattr(signatures, "ledger", lambda: record)
    monkeypatch.setattr(signatures, "_asked_for", set())
    monkeypatch.setattr(precompile, "_COMPILER", _ECHO)
    return record


def test_one_line_says_that_kernels_are_prepared(capsys: pytest.CaptureFixture[str]) -> None:
    names = signatures.for_mosaics("ntc", is_bayer=True)
    prepare_shown(names, quiet=False)
    said = f"demosaic-ntc: preparing kernels for this machine, once: 0 of {len(names)}\n"
    assert capsys.readouterr().err == said
    prepare_shown(names, quiet=False)
    assert capsys.readouterr().err == ""


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str], empty: KernelRecord) -> None:
    prepare_shown(signatures.EXAMPLES, quiet=True)
    assert capsys.readouterr().err == ""
    assert empty.find_missing(signatures.EXAMPLES) == []


def test_prepare_compiles_all_and_says_where() -> None:
    result = CliRunner().invoke(app, ["prepare"])
    assert result.exit_code == 0, result.stderr
    assert f"{len(signatures.EXAMPLES)} kernels are ready" in result.stdout


def test_prepare_fails_where_nothing_can_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signatures, "ledger", lambda: None)
    result = CliRunner().invoke(app, ["prepare"])
    assert result.exit_code == 4
    assert "set NUMBA_CACHE_DIR" in result.stderr


def test_prepare_fails_where_compilers_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precompile, "_COMPILER", "raise SystemExit(1)")
    result = CliRunner().invoke(app, ["prepare"])
    assert result.exit_code == 4
    assert "could not be compiled" in result.stderr


@pytest.mark.parametrize("words", [["none.dng", "out.png"], ["inpaint", "none.png", "mask.png", "out.png"]])
def test_a_wrong_path_is_told_before_anything_is_prepared(words: list[str], empty: KernelRecord) -> None:
    answer = CliRunner().invoke(app, words)
    assert answer.exit_code != 0
    assert "preparing" not in answer.output
    assert not empty.path.exists()


def test_nothing_is_left_to_do_for_kernels_that_came_with_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(signatures, "comes_compiled", lambda *_: True)
    monkeypatch.setattr(signatures, "ledger", lambda: None)  # nor is there a place to keep any
    result = CliRunner().invoke(app, ["prepare"])
    assert result.exit_code == 0, result.output
    assert result.output == f"{len(signatures.EXAMPLES)} kernels are ready, they came with the program\n"
    assert not CliRunner().invoke(app, ["prepare", "--quiet"]).output
