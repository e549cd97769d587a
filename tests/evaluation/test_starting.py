"""The benchmark of beginnings."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.app import app
from evaluation.studies import starting
from evaluation.studies.starting import measure_once, run_process, start_table

ANSWERS = ["--version", "--help", "info", "imports of a worker"]


def test_a_round_begins_with_no_kernels_and_keeps_those_it_makes() -> None:
    kept = list[int]()

    def run(words: Sequence[str], kernels: Path) -> tuple[float, float]:
        kept.append(len(list(kernels.glob("*"))))
        kernels.mkdir(exist_ok=True)
        (kernels / str(len(kept))).touch()
        return 1.0, 2.0

    for _ in range(2):
        kept.clear()
        found = measure_once(run)
        assert kept == [0, 1, 2, 3, 4, 5]
        assert list(found)[2:] == ANSWERS


def test_processes_of_processes_count(tmp_path: Path) -> None:
    idle = run_process(["pass"], tmp_path)
    spend = "import time\nwhile time.process_time() < 0.5: pass"
    busy = run_process(
        [f"import subprocess, sys; subprocess.run([sys.executable, '-c', {spend!r}])"], tmp_path
    )
    assert busy[1] > idle[1] + 0.3


def test_the_program_that_is_measured_answers(tmp_path: Path) -> None:
    wall, cpu = run_process([starting._PROGRAM, "--version"], tmp_path)
    assert wall > 0
    assert cpu > 0


def test_command_prints_medians_and_how_they_were_made(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = iter([{"info": (3.0, 0.5)}, {"info": (1.0, 0.25)}, {"info": (2.0, 9.0)}])
    monkeypatch.setattr(starting, "measure_once", lambda: next(rounds))
    result = CliRunner().invoke(app, ["benchmark", "start"])
    assert result.exit_code == 0, result.output
    assert ["info", "0.50", "2.00"] in [line.split() for line in result.output.splitlines()]
    for fact in ("median of 3 rounds", "photo: scene_rggb.dng", "machine: "):
        assert fact in result.output
    assert re.search(r"0 of \d\d came with the program", " ".join(result.output.split()))


def test_table_has_a_row_for_each_command() -> None:
    table = start_table([measure_once(lambda words, kernels: (1.0, 2.0))])
    assert [row[0].text for row in table.rows][2:] == ANSWERS
    assert {row[1].text for row in table.rows} == {"2.00"}
