import csv
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cli.app import app
from evaluation.measure.case import Case, Measurement
from evaluation.measure.paper import PaperBenchmark


def benchmark(*options: str) -> Result:
    return CliRunner().invoke(app, ["benchmark", "paper", "--table", "1", "--rows", "10", *options])


def test_our_figures_stand_beside_the_papers() -> None:
    result = benchmark("--reps", "2", "--methods", "als")
    assert result.exit_code == 0
    (als,) = [line for line in result.stdout.splitlines() if line.startswith("  10^×3") and " als " in line]
    assert "0.058 ± 0.002" in als
    assert "0.122 ± 0.003" in als
    for fact in ("machine:", "versions:", "seeds 0 to 1", "seconds: wall clock", "method als: published"):
        assert fact in result.stdout


def test_the_control_always_runs() -> None:
    assert "  mean  " in benchmark("--reps", "1", "--methods", "als").stdout


def test_progress_is_silent_without_a_terminal() -> None:
    assert benchmark("--reps", "1", "--methods", "als").stderr == ""


def test_results_are_written_as_json_csv_and_plot(tmp_path: Path) -> None:
    files = {name: tmp_path / f"result.{name}" for name in ("json", "csv", "png")}
    options = ("--json", str(files["json"]), "--csv", str(files["csv"]), "--plot", str(files["png"]))
    result = benchmark("--reps", "2", "--methods", "ntc,silrtc", *options)
    assert result.exit_code == 0
    content = json.loads(files["json"].read_text())
    assert [(s["method"], s["repetitions"]) for s in content["summaries"]] == [
        ("ntc", 2),
        ("silrtc", 2),
        ("mean", 2),
    ]
    assert content["summaries"][0]["paper"]["seconds"] == 4.29
    assert content["summaries"][0]["statuses"] == {"OPTIMAL": 2}
    rows = list(csv.DictReader(files["csv"].read_text().splitlines()))
    assert [row["seed"] for row in rows if row["method"] == "silrtc"] == ["0", "1"]
    assert [float(row["nmse"]) for row in rows] == [r["nmse"] for r in content["results"]]
    assert files["png"].read_bytes().startswith(b"\x89PNG")
    assert len(list(tmp_path.iterdir())) == 3


def test_an_interruption_keeps_the_finished_repetitions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure, calls = PaperBenchmark.measure, []

    def interrupted(part: PaperBenchmark, case: Case, loaded: Any) -> Measurement:
        calls.append(case)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return measure(part, case, loaded)

    monkeypatch.setattr(PaperBenchmark, "measure", interrupted)
    target = tmp_path / "result.json"
    result = benchmark("--reps", "5", "--methods", "als", "--json", str(target))
    assert result.exit_code == 130
    assert " als " in result.stdout
    repetitions = json.loads(target.read_text())["results"]
    assert [(r["method"], r["seed"]) for r in repetitions] == [("als", 0), ("mean", 0), ("als", 1)]
    monkeypatch.setattr(PaperBenchmark, "measure", measure)
    assert benchmark("--reps", "2", "--methods", "als", "--json", str(target)).exit_code == 0
    again = json.loads(target.read_text())["results"]
    assert [(r["method"], r["seed"]) for r in again][3:] == [("mean", 1)]
    assert again[:3] == repetitions  # nothing is measured twice


def broken(*_: object) -> None:
    raise FloatingPointError("overflow")


def test_a_peer_that_fails_does_not_end_the_benchmark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.methods.als.als", broken)
    result = benchmark("--reps", "2", "--methods", "als", "--plot", str(tmp_path / "r.png"))
    assert result.exit_code == 0, result.stderr
    (als,) = [line for line in result.stdout.splitlines() if line.startswith("  10^×3") and " als " in line]
    assert als.split()[2:5] == ["als", "0", "–"]
    assert "als: failed (FloatingPointError: overflow)" in result.stdout
    assert (tmp_path / "r.png").read_bytes().startswith(b"\x89PNG")


def test_a_failure_of_ours_is_an_error_and_leaves_no_half_of_a_plot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.methods.completions.complete", broken)
    monkeypatch.setattr("cli.failures.write_log", lambda _: None)
    options = ("--plot", str(tmp_path / "r.png"), "--json", str(tmp_path / "r.json"))
    result = benchmark("--reps", "1", "--methods", "als,ntc", *options)
    assert result.exit_code == 70
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


def test_nothing_is_drawn_when_nothing_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> Measurement:
        raise KeyboardInterrupt

    monkeypatch.setattr(PaperBenchmark, "measure", interrupted)
    assert benchmark("--methods", "als", "--plot", str(tmp_path / "r.png")).exit_code == 130
    assert not list(tmp_path.iterdir())


def test_files_are_written_though_nobody_reads_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(*_: object, **__: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("evaluation.report.tables.Console", closed)
    benchmark("--reps", "1", "--methods", "als", "--csv", str(tmp_path / "r.csv"))
    assert "als" in (tmp_path / "r.csv").read_text()


def test_the_noisy_table_prints_certificates() -> None:
    result = CliRunner().invoke(
        app, ["benchmark", "paper", "--table", "noisy", "--reps", "1", "--methods", "ntc", "--gap", "1e-3"]
    )
    assert result.exit_code == 0
    assert "Certificates" in result.stdout
    assert "OPTIMAL" in result.stdout
    assert "alternating" in result.stdout


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--methods", "alz"), "no method alz"),
        (("--rows", "11"), "no row 11"),
        (("--table", "7"), "no table 7"),
        (("--plot", "plot.doc"), "plots are written as"),
    ],
)
def test_what_does_not_exist_is_wrong_usage(options: tuple[str, str], reason: str) -> None:
    result = benchmark("--reps", "1", *options)
    assert result.exit_code == 2
    assert reason in result.stderr


def test_a_target_that_cannot_be_written_fails_before_the_work(tmp_path: Path) -> None:
    result = benchmark("--reps", "1", "--json", str(tmp_path / "missing" / "result.json"))
    assert result.exit_code == 4
    assert "10^×3" not in result.stdout
