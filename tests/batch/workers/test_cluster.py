"""Batches on a Dask cluster: a real scheduler and two real workers on this machine."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from typer.testing import CliRunner

from cli.app import app
from tests.batch.batches import PATIENCE, REPORT, end_soon, injected, noted, statuses, until
from tests.batch.storage import serve

pytest.importorskip("distributed")
ROOT = Path(__file__).resolve().parents[3]
DASK = (sys.executable, "-m", "dask")
Process = subprocess.Popen[bytes]


@dataclass(frozen=True)
class Dask:
    """A scheduler and its workers."""

    address: Path  # the file that tells it
    workers: tuple[Process, ...]


def _start(stack: ExitStack, folder: Path, *words: object) -> Process:
    """A process of the cluster, ended with the tests."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [*DASK, *map(str, words), "--no-dashboard", "--scheduler-file", str(folder / "scheduler")]
    process = subprocess.Popen(
        command, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    stack.callback(process.wait)
    stack.callback(process.kill)
    return process


def _cluster(stack: ExitStack, folder: Path, workers: int, *options: str) -> Dask:
    """A scheduler with workers that are ready."""
    _start(stack, folder, "scheduler", "--port", 0, "--host", "127.0.0.1")
    quiet = ("--no-nanny", "--nthreads", 1, "--local-directory", folder)
    started = tuple(_start(stack, folder, "worker", *quiet, *options) for _ in range(workers))
    from distributed import Client

    until((folder / "scheduler").exists)
    with Client(scheduler_file=str(folder / "scheduler"), timeout=PATIENCE, set_as_default=False) as client:
        client.wait_for_workers(workers, timeout=PATIENCE)
    return Dask(folder / "scheduler", started)


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dask]:
    """Two workers, each taking one file at a time."""
    with ExitStack() as stack:
        yield _cluster(stack, tmp_path_factory.mktemp("dask"), 2, "--resources", "raw=1")


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    return tmp_path / "in", tmp_path / "out"


def _batch(source: object, out: object, *options: object) -> Any:
    words = ["batch", source, "-o", out, "--method", "bilinear", *options]
    return CliRunner().invoke(app, list(map(str, words)))


def test_results_are_those_of_a_local_run(
    dask: Dask, folders: tuple[Path, Path], tmp_path: Path, samples: Path
) -> None:
    source, out = folders
    (source / "sub").mkdir()
    (source / "sub" / "a\nb.dng").write_bytes((samples / "small_rggb.dng").read_bytes())
    (source / "x.dng").write_bytes((samples / "small_xtrans.dng").read_bytes())
    (source / "bad.dng").write_bytes(b"II*\0")
    result = _batch(source, out, "-r", "--scheduler", dask.address)
    assert result.exit_code == 1, result.output
    assert statuses(out) == {"a\nb.dng": "done", "x.dng": "done", "bad.dng": "failed"}
    (tmp_path / "local").mkdir()
    _batch(source, tmp_path / "local", "-r")
    for name in ("sub/a\nb.png", "x.png"):
        assert (out / name).read_bytes() == (tmp_path / "local" / name).read_bytes()
    first, second = (
        json.loads((folder / REPORT).read_bytes().splitlines()[-1]) for folder in (out, tmp_path / "local")
    )
    assert first.keys() == second.keys()
    again = _batch(source, out, "-r", "--resume", "--scheduler", dask.address)
    assert "skipped       2" in again.stdout


def test_crash_costs_its_file_and_no_worker(
    dask: Dask, folders: tuple[Path, Path], faulty: Callable[..., None]
) -> None:
    source, out = folders
    for name in "abcdef":
        (source / f"{name}.dng").write_text(name)
    faulty({"b.dng": "segv", "d.dng": "hang", "e.dng": "bug"})
    result = _batch(source, out, "--timeout", 10, "--scheduler", dask.address)
    assert result.exit_code == 1, result.output
    expected = {"b.dng": "crashed", "d.dng": "timeout", "e.dng": "failed"}
    assert statuses(out) == {f"{name}.dng": "done" for name in "acf"} | expected
    assert all(worker.poll() is None for worker in dask.workers)
    assert sorted(os.listdir(out)) == ["a.png", "c.png", REPORT, "f.png"]


def test_interrupt_calls_everything_off(
    dask: Dask, folders: tuple[Path, Path], start: Callable[..., Any]
) -> None:
    source, out = folders
    for name in "abcdef":
        (source / f"{name}.dng").write_text(name)
    code = injected({"b.dng": "hang", "c.dng": "hang"})
    process = start("batch", source, "-o", out, "--scheduler", dask.address, code=code)
    until(lambda: len(list(out.glob(".*.partial"))) == 2 and noted(out))
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, errors
    assert b"done          1" in output
    assert b"Traceback" not in errors
    until(lambda: not any(psutil.Process(worker.pid).children() for worker in dask.workers))
    assert sorted(os.listdir(out))[-2:] == ["a.png", REPORT]
    assert list(out.glob(".*.partial")) == []


def test_files_of_a_lost_worker_are_done_by_another(
    tmp_path_factory: pytest.TempPathFactory, folders: tuple[Path, Path], start: Callable[..., Any]
) -> None:
    source, out = folders
    names = [f"{number:02}" for number in range(10)]
    for name in names:
        (source / f"{name}.dng").write_text(name)
    code = injected({"*": "linger"})
    with ExitStack() as stack:
        cluster = _cluster(stack, tmp_path_factory.mktemp("lost"), 2, "--resources", "raw=1")
        process = start("batch", source, "-o", out, "--scheduler", cluster.address, code=code)
        lost = psutil.Process(cluster.workers[1].pid)
        until(lambda: len(list(out.glob("*.png"))) >= 3 and lost.children())
        orphans = lost.children()
        cluster.workers[1].kill()
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert {name: (out / f"{name}.png").read_text() for name in names} == {name: name for name in names}
    # One that was lost between finishing a file and saying so has left it to be found.
    counts = Counter(statuses(out).values())
    assert counts["done"] >= len(names) - 1
    assert counts["done"] + counts["skipped"] == len(names)
    assert end_soon(orphans)


@pytest.mark.slow
def test_workers_fetch_and_publish_objects_themselves(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, small: Path
) -> None:
    with serve() as storage, ExitStack() as stack:
        for name in "ab":
            storage.put(f"in/{name}.dng", small.read_bytes())
        storage.put("in/bad.dng", b"II*\0")
        cluster = _cluster(stack, tmp_path_factory.mktemp("far"), 1, "--resources", "raw=1")
        options = ("--report", tmp_path / REPORT, "--scheduler", cluster.address)
        result = _batch("s3://bucket/in", "s3://bucket/out", *options)
        assert result.exit_code == 1, result.output
        assert statuses(tmp_path) == {"a.dng": "done", "b.dng": "done", "bad.dng": "failed"}
        again = _batch("s3://bucket/in", "s3://bucket/out", "--resume", *options)
        assert "skipped       2" in again.stdout
        _batch(small, tmp_path, "--name", "local-{stem}")
        assert storage.read("out/a.png") == (tmp_path / f"local-{small.stem}.png").read_bytes()


def test_cluster_without_the_resource_is_refused(
    tmp_path_factory: pytest.TempPathFactory, folders: tuple[Path, Path]
) -> None:
    source, out = folders
    (source / "a.dng").write_text("a")
    with ExitStack() as stack:
        cluster = _cluster(stack, tmp_path_factory.mktemp("bare"), 1)
        result = _batch(source, out, "--scheduler", cluster.address)
    assert result.exit_code == 5, result.output
    assert "offers the resource raw; start `dask worker --resources raw=1`" in result.stderr


def test_worker_of_another_version_is_refused(
    dask: Dask, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, out = folders
    (source / "a.dng").write_text("a")
    monkeypatch.setattr("demosaic_ntc.batch.workers.cluster.version", lambda name: "99.0")
    result = _batch(source, out, "--scheduler", dask.address)
    assert result.exit_code == 5
    assert "not 99.0; install the same version" in result.stderr


def test_scheduler_that_does_not_answer_is_refused(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, out = folders
    (source / "a.dng").write_text("a")
    monkeypatch.setattr("demosaic_ntc.batch.workers.cluster._CONNECT_SECONDS", 1)
    result = _batch(source, out, "--scheduler", "tcp://127.0.0.1:1")
    assert result.exit_code == 5, result.output
    assert "no scheduler answers at tcp://127.0.0.1:1" in result.stderr


def test_missing_package_is_explained(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    source, out = folders
    (source / "a.dng").write_text("a")
    monkeypatch.delitem(sys.modules, "demosaic_ntc.batch.workers.cluster", raising=False)
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = _batch(source, out, "--scheduler", "tcp://127.0.0.1:1")
    assert result.exit_code == 5
    assert "pip install 'demosaic-ntc[cluster]'" in result.stderr


def test_local_batches_import_nothing_of_it(folders: tuple[Path, Path]) -> None:
    source, out = folders
    (source / "a.dng").write_text("a")
    code = (
        f"{injected({})}\nimport sys, atexit\n"
        "atexit.register(lambda: print(sorted({'dask', 'distributed', 'tornado'} & set(sys.modules))))\n"
        "from cli.app import app\napp()"
    )
    words = [sys.executable, "-c", code, "batch", str(source), "-o", str(out), "--method", "bilinear"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    answer = subprocess.run(words, env=env, capture_output=True, timeout=PATIENCE, check=True)
    assert answer.stdout.splitlines()[-1] == b"[]"
