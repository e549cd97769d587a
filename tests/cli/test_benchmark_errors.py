"""The command ``benchmark errors``: what is printed, kept and refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cli.app import app
from demosaic_ntc.errors import InputError
from evaluation.measure.case import Case, Measurement
from evaluation.measure.errors import ErrorBenchmark
from tests.cli.waves import save_waves

pytestmark = pytest.mark.usefixtures("thread_variables")


def benchmark(*options: object) -> Result:
    return CliRunner().invoke(app, ["benchmark", "errors", *map(str, options)])


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Two small pictures."""
    return save_waves(tmp_path / "waves", [(40, 48)] * 2, pace=5.0)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is measured, in order."""
    calls, original = list[str](), ErrorBenchmark.measure

    def noted(part: ErrorBenchmark, case: Case, loaded: Any) -> Measurement:
        calls.append(f"{case.image} {case.task}")
        return original(part, case, loaded)

    monkeypatch.setattr(ErrorBenchmark, "measure", noted)
    return calls


def test_ten_bins_and_their_protocol_are_printed(pictures: Path) -> None:
    result = benchmark(pictures, "--quality", "fast")
    assert result.exit_code == 0, result.stderr
    assert "Expected and true errors, RGGB" in result.stdout
    rows = [line.split() for line in result.stdout.splitlines() if line.strip()[:1].isdigit()]
    assert [row[0] for row in rows] == [str(number) for number in range(1, 11)]
    expected = [float(row[1]) for row in rows]
    assert expected == sorted(expected)
    for row in rows:
        assert float(row[3]) == pytest.approx(float(row[2]) / float(row[1]), rel=0.02, abs=0.01)
    assert sum(float(row[4].rstrip("%")) for row in rows) == pytest.approx(100, abs=0.6)
    for line in ("pictures of waves: 2;", "entries: those restored", "method gaussian, RGGB: quality fast"):
        assert line in result.stdout


def test_masks_add_the_errors_of_inpainting(pictures: Path, measured: list[str]) -> None:
    result = benchmark(pictures, "--quality", "fast", "--masks", "random:50", "--images", "2")
    assert measured == ["2 RGGB", "2 random:50"]
    assert "Expected and true errors, random:50" in result.stdout
    assert "pictures of waves 2: 1;" in result.stdout


def test_a_rerun_measures_only_what_is_missing(tmp_path: Path, pictures: Path, measured: list[str]) -> None:
    kept = tmp_path / "r.json"
    first = benchmark(pictures, "--quality", "fast", "--images", "1", "--json", kept)
    assert first.exit_code == 0, first.stderr
    assert len(json.loads(kept.read_text())["results"]) == 1
    second = benchmark(pictures, "--quality", "fast", "--json", kept)
    assert measured == ["1 RGGB", "2 RGGB"]
    third = benchmark(pictures, "--quality", "fast", "--json", kept)
    assert measured == ["1 RGGB", "2 RGGB"]
    assert third.stdout == second.stdout


def test_an_interruption_leaves_what_is_finished(
    tmp_path: Path, pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = ErrorBenchmark.measure

    def interrupted(part: ErrorBenchmark, case: Case, loaded: Any) -> Measurement:
        if case.image == "2":
            raise KeyboardInterrupt
        return original(part, case, loaded)

    monkeypatch.setattr(ErrorBenchmark, "measure", interrupted)
    result = benchmark(pictures, "--quality", "fast", "--json", tmp_path / "r.json")
    assert result.exit_code == 130
    assert "pictures of waves: 1 of 2;" in result.stdout
    assert len(json.loads((tmp_path / "r.json").read_text())["results"]) == 1


@pytest.mark.parametrize(
    ("options", "code", "reason"),
    [
        (("--masks", "holes"), 2, "no mask 'holes'"),
        (("--masks", "irregular:mine.png"), 2, "drawn masks"),
        (("--cfa", "RGBW"), 2, "array"),
        (("--images", "7"), 3, "pictures 1 to 2"),
        (("--crop", "19"), 3, "smaller --crop"),
        (("--json", "missing/r.json"), 4, "no folder"),
    ],
)
def test_what_makes_no_sense_is_refused_before_the_work(
    pictures: Path, measured: list[str], options: tuple[str, ...], code: int, reason: str
) -> None:
    result = benchmark(pictures, *options)
    assert result.exit_code == code
    assert reason in " ".join(result.stderr.replace("│", " ").split())
    assert measured == []


def test_errors_are_a_part_of_the_report_measured_once(
    tmp_path: Path, pictures: Path, measured: list[str]
) -> None:
    folder = tmp_path / "report"
    arguments = ["benchmark", "all", str(pictures), "-o", str(folder), "--parts", "errors", "--limit", "1"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert measured == ["1 RGGB", "1 random:50"]
    assert CliRunner().invoke(app, arguments[:-2]).exit_code == 0
    assert measured[2:] == ["2 RGGB", "2 random:50"]
    page = (folder / "index.html").read_text()
    assert "Expected and true errors, RGGB" in page
    assert "the true error is within 30% of the expected one" in page
    assert "errors: entries" in page


def test_a_picture_that_is_refused_is_told_in_the_report(
    tmp_path: Path, pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = ErrorBenchmark.measure

    def refusing(part: ErrorBenchmark, case: Case, loaded: Any) -> Measurement:
        if case.image == "2":
            raise InputError("such a picture; give another")
        return original(part, case, loaded)

    monkeypatch.setattr(ErrorBenchmark, "measure", refusing)
    folder = tmp_path / "report"
    arguments = ["benchmark", "all", str(pictures), "-o", str(folder), "--parts", "errors"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    page = (folder / "index.html").read_text()
    assert "gaussian: such a picture; give another" in page
    assert "pictures of waves: 1 of 2;" in page
