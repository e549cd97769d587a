"""Batches that are interrupted, terminated or killed: whole results, no orphans, and a run that goes on."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.batch.batches import PATIENCE, REPORT, end_soon, injected, until

pytestmark = pytest.mark.fault
Start = Callable[..., Any]
Fill = Callable[..., Path]
ROOT = Path(__file__).resolve().parents[2]


def _workers(process: Any) -> list[Any]:
    return [child for child in psutil.Process(process.pid).children() if child.is_running()]


@pytest.mark.parametrize(
    ("sent", "times", "status"),
    [(signal.SIGINT, 1, 130), (signal.SIGINT, 2, 130), (signal.SIGTERM, 1, 143)],
    ids=["once", "twice", "term"],
)
def test_signals_end_a_batch_in_order(
    tmp_path: Path, fill: Fill, start: Start, sent: signal.Signals, times: int, status: int
) -> None:
    fill("a.dng", "b.dng", "c.dng", "d.dng", "e.dng")
    out = tmp_path / "out"
    out.mkdir()
    code = injected({"c.dng": "hang", "d.dng": "hang"})
    process = start("batch", tmp_path / "in", "-o", out, "--jobs", 2, code=code)
    until(lambda: len(list(out.glob(".demosaic-ntc-*.partial"))) == 2)
    workers = _workers(process)
    for _ in range(times):
        process.send_signal(sent)
        time.sleep(0.1)
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == status, errors
    assert b"Traceback" not in errors
    assert b"done          2" in output, "the summary comes whatever happens"
    assert len((out / REPORT).read_bytes().splitlines()) == 2
    assert sorted(path.name for path in out.glob("*.png")) == ["a.png", "b.png"]
    assert list(out.glob(".*.partial")) == []
    assert end_soon(workers), "no orphans"


def test_signals_that_come_while_it_ends_change_nothing(tmp_path: Path, fill: Fill, start: Start) -> None:
    """Somebody who keeps pressing Ctrl-C until it has ended."""
    fill("a.dng")
    out = tmp_path / "out"
    out.mkdir()
    process = start("batch", tmp_path / "in", "-o", out, "--jobs", 1, code=injected({"*": "hang"}))
    until(lambda: list(out.glob(".demosaic-ntc-*.partial")))
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, errors
    assert errors.splitlines()[-1] == b"demosaic-ntc: interrupted"
    assert not (out / REPORT).exists()
    assert REPORT.encode() not in output, "what is not there is not named"


def test_what_was_interrupted_is_resumed(tmp_path: Path, fill: Fill, start: Start) -> None:
    names = ["a.dng", "b.dng", "c.dng"]
    fill(*names)
    out = tmp_path / "out"
    out.mkdir()
    process = start("batch", tmp_path / "in", "-o", out, "--jobs", 1, code=injected({"b.dng": "hang"}))
    until(lambda: (out / "a.png").exists() and list(out.glob(".*.partial")))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    process = start("batch", tmp_path / "in", "-o", out, "--jobs", 1, "--resume", code=injected({}))
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert b"done          2" in output
    assert b"skipped       1" in output
    assert sorted(os.listdir(out)) == ["a.png", "b.png", "c.png", REPORT]


def test_workers_die_with_a_parent_that_is_killed(tmp_path: Path, fill: Fill, start: Start) -> None:
    fill("a.dng", "b.dng")
    out = tmp_path / "out"
    out.mkdir()
    process = start("batch", tmp_path / "in", "-o", out, "--jobs", 2, code=injected({"*": "hang"}))
    until(lambda: len(list(out.glob(".*.partial"))) == 2)
    workers = _workers(process)
    assert len(workers) == 2
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert end_soon(workers), "no orphans"
    process = start("batch", tmp_path / "in", "-o", out, "--resume", code=injected({}))
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert sorted(os.listdir(out)) == ["a.png", "b.png", REPORT], "neither halves nor begun outputs stay"


def _kill_at_random(tmp_path: Path, small: Path, start: Start, kills: int, early: int, files: int) -> None:
    """Kill runs at random moments, each going on where the last one was; compare with an undisturbed run.

    So many of them are killed within the first .3 seconds.
    """
    folder, calm, out = tmp_path / "in", tmp_path / "calm", tmp_path / "out"
    for place in (folder, calm, out):
        place.mkdir(exist_ok=True)
    for number in range(files):
        (folder / f"{number:03}.dng").write_bytes(small.read_bytes())
    options = ("--method", "bilinear", "--jobs", 2, "--resume")
    begun = time.monotonic()
    undisturbed = start("batch", folder, "-o", calm, *options)
    undisturbed.communicate(timeout=PATIENCE)
    assert undisturbed.returncode == 0
    whole = {path.name: path.read_bytes() for path in calm.glob("*.png")}
    chance, length = random.Random(0), time.monotonic() - begun
    moments = [chance.uniform(0.0, 0.3) for _ in range(early)]
    moments += [chance.uniform(0.3, max(length, 1.0)) for _ in range(kills - early)]
    for moment in moments:
        process = start("batch", folder, "-o", out, *options)
        time.sleep(moment)
        workers = _workers(process) if process.poll() is None else []
        process.kill()
        process.communicate(timeout=PATIENCE)
        assert all(path.read_bytes() == whole[path.name] for path in out.glob("*.png"))
        assert end_soon(workers), "no orphans"
        if len(list(out.glob("*.png"))) == files:
            shutil.rmtree(out)
            out.mkdir()
    process = start("batch", folder, "-o", out, *options)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert {path.name: path.read_bytes() for path in out.glob("*.png")} == whole
    assert sorted(os.listdir(out)) == sorted([*whole, REPORT])


def test_killed_at_random_and_resumed(tmp_path: Path, small: Path, start: Start, tried: Counter[str]) -> None:
    _kill_at_random(tmp_path, small, start, kills=2, early=1, files=12)
    tried["kills"] += 2


@pytest.mark.load
def test_killed_forty_times_at_random_and_resumed(
    tmp_path: Path, small: Path, start: Start, tried: Counter[str]
) -> None:
    _kill_at_random(tmp_path, small, start, kills=40, early=5, files=60)
    tried["kills"] += 40


def _program(tmp_path: Path, shell: str, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    """Run a shell line in which $PROGRAM stands for the program with these arguments."""
    words = [sys.executable, "-c", f"{injected({})}\nfrom cli.app import app\napp()", *arguments]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-c", shell.replace("$PROGRAM", '"$@"'), "bash", *words],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.parametrize(
    ("shell", "status"),
    [
        ("$PROGRAM | true; exit ${PIPESTATUS[0]}", 1),
        ("$PROGRAM >/dev/full", 1),
        ("$PROGRAM 2>/dev/full >/dev/null", 0),
        ("$PROGRAM 2>&1 | true; exit ${PIPESTATUS[0]}", 1),
    ],
    ids=["closed", "full", "errors", "both"],
)
def test_nobody_listening_costs_no_picture(tmp_path: Path, fill: Fill, shell: str, status: int) -> None:
    fill("a.dng", "b.dng")
    (tmp_path / "in" / "bad.dng").mkdir()
    (tmp_path / "out").mkdir()
    answer = _program(tmp_path, shell, "batch", "in", "-o", "out")
    assert answer.returncode == status, answer.stderr
    assert b"Traceback" not in answer.stderr
    assert b"Exception ignored" not in answer.stderr
    assert sorted(os.listdir(tmp_path / "out")) == ["a.png", "b.png", REPORT]


@pytest.mark.parametrize("option", ["--verbose", "--json"])
@pytest.mark.parametrize("shell", ["$PROGRAM | true; exit ${PIPESTATUS[0]}", "$PROGRAM >/dev/full"])
def test_nobody_listening_costs_no_single_picture(
    tmp_path: Path, small: Path, shell: str, option: str
) -> None:
    answer = _program(tmp_path, shell, str(small), "a.png", "--method", "bilinear", option)
    assert answer.returncode == 1, answer.stderr
    assert b"Traceback" not in answer.stderr
    assert b"internal error" not in answer.stderr
    assert os.listdir(tmp_path) == ["a.png"]


def test_two_runs_on_one_folder_share_it(tmp_path: Path, fill: Fill, start: Start) -> None:
    names = [f"{number:02}.dng" for number in range(16)]
    fill(*names)
    out = tmp_path / "out"
    out.mkdir()
    code = injected({"*": "linger"})
    runs = [start("batch", tmp_path / "in", "-o", out, "--jobs", 1, code=code) for _ in range(2)]
    for run in runs:
        _, errors = run.communicate(timeout=PATIENCE)
        assert run.returncode == 0, errors
    source = (tmp_path / "in" / names[0]).read_bytes()
    assert all((out / name).with_suffix(".png").read_bytes() == source for name in names)
    done = [json.loads(line) for line in (out / REPORT).read_bytes().splitlines()]
    assert Counter(record["status"] for record in done) == {"done": 16, "skipped": 16}
    assert len(os.listdir(out)) == 17
