"""The command ``benchmark speed``: what the stages of the engine cost."""

import json
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from cli.app import app
from evaluation.data.sets import ImageSet, SetImage
from evaluation.measure import speed as stages
from evaluation.measure.benchmark import cannot_run
from evaluation.measure.results import Results
from evaluation.measure.speed import (
    REST,
    STAGES,
    TOTAL,
    SpeedBenchmark,
    StageClock,
    clock_stages,
    stage_seconds,
)
from evaluation.measure.store import Store
from evaluation.methods.method import Method


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "some"
    folder.mkdir()
    noise = np.random.default_rng(0).integers(0, 255, (72, 80, 3), dtype=np.uint8)
    Image.fromarray(noise).save(folder / "one.png")
    return folder


def test_stages_are_printed_and_written_with_the_protocol(pictures: Path, tmp_path: Path) -> None:
    target = tmp_path / "speed.json"
    arguments = [str(pictures), "--qualities", "fast", "--json", str(target)]
    result = CliRunner().invoke(app, ["benchmark", "speed", *arguments])
    assert result.exit_code == 0, result.stderr
    written = json.loads(target.read_text())
    (row,) = written["results"]
    assert set(row["stages"]) == {*STAGES, REST}
    for stage in ("guesses", "refinements", "trials", "matching", "prediction"):
        assert row["stages"][stage] > 0, stage
        assert stage in result.stdout
    for name, text in written["protocol"].items():
        assert f"{name}: {text}" in result.stdout


def test_an_unknown_quality_is_wrong_usage(pictures: Path) -> None:
    result = CliRunner().invoke(app, ["benchmark", "speed", str(pictures), "--qualities", "slow"])
    assert result.exit_code == 2
    assert "slow" in result.stderr


def test_every_function_of_a_stage_is_there_and_is_put_back() -> None:
    before = [getattr(owner, name) for places in STAGES.values() for owner, name in places]
    with clock_stages():
        during = [getattr(owner, name) for places in STAGES.values() for owner, name in places]
        assert all(new is not old for new, old in zip(during, before, strict=True))
    assert [getattr(owner, name) for places in STAGES.values() for owner, name in places] == before


def test_what_a_stage_calls_counts_for_its_own_stage_unless_the_caller_takes_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ticks = iter([0.0, 1.0, 4.0, 6.0, 10.0, 13.0])
    monkeypatch.setattr(stages, "thread_time", lambda: next(ticks))
    clock = StageClock()
    guess = clock.time_stage("guesses", lambda: None)
    clock.time_stage("refinements", guess)()  # 0 … 6, within it 1 … 4
    clock.time_stage("trials", guess)()  # 10 … 13
    assert {name: seconds for name, seconds in clock.seconds.items() if seconds} == {
        "guesses": 3.0,
        "refinements": 3.0,
        "trials": 3.0,
    }


def test_every_thread_has_its_own_stack() -> None:
    clock = StageClock()

    def in_another_thread() -> None:
        thread = Thread(target=clock.time_stage("matching", lambda: sum(range(300_000))))
        thread.start()
        thread.join()

    clock.time_stage("trials", in_another_thread)()
    assert clock.seconds["matching"] > clock.seconds["trials"]


def test_the_rest_is_what_no_stage_took() -> None:
    found = stage_seconds(lambda: sum(range(300_000)))
    assert found[REST] > 0
    assert sum(found.values()) == found[REST]


def test_tables_have_the_mean_of_every_stage() -> None:
    pictures = ImageSet("set", tuple(SetImage(Path(f"{name}.png"), name, 500, 1000) for name in "ab"))
    methods = tuple(Method(name, "", "ours", cannot_run) for name in ("fast", "normal"))
    part = SpeedBenchmark((pictures,), methods)
    spent: dict[tuple[str, str], dict[str, Any]] = {
        ("a", "fast"): {"guesses": 1.0, "rest": 1.0},
        ("b", "fast"): {"guesses": 2.0},
        ("a", "normal"): {"guesses": 8.0},
    }
    store = Store(None, part, {})
    for case in part.cases:
        if (stages := spent.get((case.image, case.method.name))) is not None:
            store.add(case, {"megapixels": 0.5, "stages": stages, "machine": "a machine"})
    (table,) = part.tables(Results.of(store))
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}
    assert rows["guesses"] == ["3.00", "16.00"]
    assert rows[TOTAL] == ["4.00", "16.00"]
    assert rows["trials"] == ["0.00", "0.00"]
    assert list(part.tables(Results.of(Store(None, part, {})))) == []
