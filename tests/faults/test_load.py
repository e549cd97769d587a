"""Batches of many files: flat in memory, even in results, and quick to see that there is nothing to do."""

import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from demosaic_ntc.batch.job import Job, JobEnded, JobLimits
from demosaic_ntc.batch.operations import Convert
from demosaic_ntc.batch.workers.stop import Stop
from demosaic_ntc.batch.workers.supervisor import Supervisor
from demosaic_ntc.batch.workers.worker import WorkerSetup
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.developing.settings import Engine, Settings
from samples.dng import Camera, write_dng
from tests.batch.batches import PATIENCE, REPORT, records

pytestmark = pytest.mark.fault
Batch = Callable[..., Any]
ROOT = Path(__file__).resolve().parents[2]
SAMPLES = sorted(path.name for path in (ROOT / "samples").glob("*.dng"))


def _crops(folder: Path, count: int) -> Path:
    """Mosaics of 32×32 samples, each another one."""
    folder.mkdir()
    for number in range(count):
        mosaic = np.random.default_rng(number).integers(600, 16000, (32, 32)).astype(np.uint16)
        write_dng(folder / f"{number:03}.dng", mosaic, Cfa.from_name("RGGB"), Camera())
    return folder


def _pictures(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.png")}


def test_results_do_not_depend_on_how_they_were_made(tmp_path: Path, batch: Batch) -> None:
    """One worker, two workers, and a run that was taken up again."""
    source = _crops(tmp_path / "in", 8)
    for name in ("one", "two", "resumed"):
        (tmp_path / name).mkdir()
    assert batch("--jobs", 1, "--method", "ntc", "--quality", "fast", output=tmp_path / "one").exit_code == 0
    assert batch("--jobs", 2, "--method", "ntc", "--quality", "fast", output=tmp_path / "two").exit_code == 0
    first = sorted(source.iterdir())[:3]
    options = ("--method", "ntc", "--quality", "fast", "--resume")
    assert batch(*options, output=tmp_path / "resumed", sources=first).exit_code == 0
    assert "skipped       3" in batch(*options, output=tmp_path / "resumed").stdout
    assert len(_pictures(tmp_path / "one")) == 8
    assert _pictures(tmp_path / "one") == _pictures(tmp_path / "two") == _pictures(tmp_path / "resumed")


def test_thousands_of_other_files_are_passed_over_quickly(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    for depth in range(5):
        folder = folder / str(depth)
        folder.mkdir(parents=True)
        for number in range(400):
            (folder / f"{number}.txt").touch()
    (tmp_path / "out").mkdir()
    code = (
        "import atexit\nfrom demosaic_ntc.peak_memory import peak_bytes\n"
        "atexit.register(lambda: print(peak_bytes()))\n"
        "from cli.app import app\napp()"
    )
    words = [sys.executable, "-c", code, "batch", "-r", str(tmp_path / "in"), "-o", str(tmp_path / "out")]
    answer = subprocess.run(
        words, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, timeout=PATIENCE, check=True
    )
    assert b"no files to work on" in answer.stderr
    assert int(answer.stdout) < 200e6  # nearly all of it the libraries, none of it the files


def _mutants(whole: bytes, folder: Path, count: int) -> None:
    """Copies with flipped bytes, half of them among the tags, some cut short; the same ones every time."""
    tags = int.from_bytes(whole[4:8], "little")
    for seed in range(count):
        generator = np.random.default_rng(seed)
        data = bytearray(whole)
        start = tags if seed % 2 else 0
        for _ in range(generator.integers(1, 8)):
            data[generator.integers(start, len(data))] = generator.integers(256)
        if generator.random() < 0.2:
            del data[generator.integers(1, len(data)) :]
        (folder / f"{seed:03}.dng").write_bytes(data)


def _survives_mutants(tmp_path: Path, batch: Batch, sample: str, count: int) -> Counter[str]:
    """Convert damaged copies of a sample; return how they ended, after checking that they ended well."""
    (tmp_path / "in").mkdir()
    _mutants((ROOT / "samples" / sample).read_bytes(), tmp_path / "in", count)
    result = batch("--timeout", 60)
    known = records(tmp_path / "out")
    assert result.exit_code in (0, 1), result.output
    assert "Traceback" not in result.output
    assert known.keys() == set(os.listdir(tmp_path / "in"))
    assert not [r for r in known.values() if "internal error" in r["reason"] or r["log"]]
    for record in known.values():
        assert (record["status"] == "done") == Path(record["output"]).exists()
        assert record["reason"].startswith(record["input"]) or record["status"] == "done"
    assert sorted(os.listdir(tmp_path / "out")) == sorted([*_pictures(tmp_path / "out"), REPORT])
    return Counter(record["status"] for record in known.values())


def test_mutants_are_converted_or_refused(tmp_path: Path, batch: Batch, tried: Counter[str]) -> None:
    ends = _survives_mutants(tmp_path, batch, "small_rggb.dng", 40)
    assert ends.keys() == {"done", "failed"}
    tried["mutants"] += 40


@pytest.mark.load
@pytest.mark.parametrize("sample", SAMPLES)
def test_five_hundred_mutants_of_each_sample(
    tmp_path: Path, batch: Batch, sample: str, tried: Counter[str]
) -> None:
    ends = _survives_mutants(tmp_path, batch, sample, 500)
    assert ends.keys() == {"done", "failed"}
    assert min(ends.values()) > 50
    tried["mutants"] += 500


@pytest.mark.load
def test_many_files_leave_memory_and_descriptors_flat(
    tmp_path: Path, start: Callable[..., Any], tried: Counter[str]
) -> None:
    source = _crops(tmp_path / "in", 300)
    (tmp_path / "out").mkdir()
    process = start("batch", source, "-o", tmp_path / "out", "--jobs", 2, "--method", "bilinear", "-q")
    parent = psutil.Process(process.pid)
    seen: list[tuple[int, int, int]] = []
    while process.poll() is None:
        try:
            workers = parent.children()
            memory = [worker.memory_info().rss for worker in workers]
            if len(workers) == 2 and len(list((tmp_path / "out").glob("*.png"))) > 10:
                seen.append((parent.memory_info().rss, max(memory), parent.num_fds()))
        except psutil.Error:
            break
        time.sleep(0.05)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert len(_pictures(tmp_path / "out")) == 300
    third = len(seen) // 3
    assert third > 10, "enough was seen"
    first, last = (
        [statistics.median(column) for column in zip(*part, strict=True)]
        for part in (seen[:third], seen[-third:])
    )
    assert last[0] - first[0] < 30e6, "the parent"
    assert last[1] - first[1] < 30e6, "the workers"
    assert last[2] == first[2], "descriptors"
    tried["files"] += 300


def _files_per_second(source: Path, out: Path, workers: int, stop: Stop) -> float:
    """The speed of workers that are all at work."""
    out.mkdir()
    work = Convert(Settings(engine=Engine(method="bilinear")))
    jobs = [Job(path, out / f"{path.stem}.png", work) for path in sorted(source.iterdir())]
    ends: list[float] = []
    with Supervisor([WorkerSetup(work, 1, None)] * workers, JobLimits(), stop) as crew:
        for event in crew.run(iter(jobs)):
            if isinstance(event, JobEnded):
                ends.append(time.perf_counter())
    calm = ends[20:-5]
    return len(calm) / (calm[-1] - calm[0])


@pytest.mark.load
def test_two_workers_do_nearly_twice_as_much_as_one(tmp_path: Path, tried: Counter[str]) -> None:
    if (os.cpu_count() or 1) < 2:
        pytest.skip("two workers need two processors")
    source, stop = _crops(tmp_path / "in", 300), Stop()
    gains = []
    for attempt in range(3):
        one = _files_per_second(source, tmp_path / f"one{attempt}", 1, stop)
        two = _files_per_second(source, tmp_path / f"two{attempt}", 2, stop)
        gains.append(two / one)
        tried["files"] += 600
    stop.close()
    assert max(gains) >= 1.8, gains
