"""Promises that a version of this program once broke: clusters, names, reports."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import psutil
import pytest
import tifffile

from tests.faults.regressions.program import (
    PATIENCE,
    REPORT,
    ROOT,
    Answer,
    customise,
    end_of,
    run,
    running,
    shell,
    until,
)

pytestmark = pytest.mark.fault
QUICK = ("--method", "bilinear")


@contextmanager
def _dask(folder: Path, *words: str, **environment: str) -> "Iterator[subprocess.Popen[bytes]]":
    """A process of a cluster, ended with the block."""
    command = [str(Path(sys.executable).with_name("dask")), *words, "--no-dashboard"]
    process = subprocess.Popen(
        [*command, "--scheduler-file", str(folder / "scheduler")],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def _cluster(
    folder: Path, **environment: str
) -> "Iterator[tuple[subprocess.Popen[bytes], subprocess.Popen[bytes]]]":
    """A scheduler and its one worker, which runs in this environment."""
    distributed = pytest.importorskip("distributed")
    worker = ("worker", "--no-nanny", "--nthreads", "1", "--resources", "raw=1")
    with ExitStack() as stack:
        scheduler = stack.enter_context(_dask(folder, "scheduler", "--host", "127.0.0.1", "--port", "0"))
        assert until((folder / "scheduler").exists)
        started = stack.enter_context(_dask(folder, *worker, **environment))
        with distributed.Client(scheduler_file=str(folder / "scheduler")) as client:
            client.wait_for_workers(1, timeout=PATIENCE)
        yield scheduler, started


# Pictures are put elsewhere in the end, whichever way they are put into their place.
_ELSEWHERE = """
import ctypes, os
class Library(ctypes.CDLL):
    def __getattr__(self, name):
        if name == "renameat2":
            raise AttributeError(name)
        return super().__getattr__(name)
ctypes.CDLL = Library
def away(path): return os.fspath(path).replace(OUT, ELSEWHERE)
def moved(put):
    def to(a, b, **k): return os.rename(a, away(b)) if os.fspath(b).endswith(".png") else put(a, b, **k)
    return to
rename = os.rename
os.link, os.replace = moved(os.link), moved(os.replace)
"""


def test_picture_that_is_not_seen_from_here_is_a_failure(tmp_path: Path, source: Path, out: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    names = f"OUT, ELSEWHERE = {str(out)!r}, {str(tmp_path / 'elsewhere')!r}"
    path = customise(tmp_path, names + _ELSEWHERE)
    with _cluster(tmp_path, PYTHONPATH=path):
        answer = run("batch", source, "-o", out, *QUICK, "--scheduler", tmp_path / "scheduler")
    assert list((tmp_path / "elsewhere").iterdir()), "the worker has written"
    assert answer.code == 1, (answer.code, answer.output, answer.errors)
    assert json.loads((out / REPORT).read_bytes().splitlines()[-1])["status"] == "failed"


def test_tile_that_is_not_there_is_not_black(tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(1, 256, size=(32, 32, 3), dtype=np.uint8)
    tifffile.imwrite(tmp_path / "a.tif", pixels, tile=(16, 16), photometric="rgb")
    with tifffile.TiffFile(tmp_path / "a.tif", mode="r+") as tiff:
        counts = tiff.pages.first.tags["TileByteCounts"]
        counts.overwrite([*counts.value[:2], 0, counts.value[3]])
    mask = np.zeros((32, 32), np.uint8)
    mask[3, 3] = 255
    tifffile.imwrite(tmp_path / "mask.tif", mask)
    words = (tmp_path / "a.tif", tmp_path / "mask.tif", tmp_path / "o.tif")
    answer = run("inpaint", *words, "--method", "biharmonic")
    assert answer.code == 3, (answer.code, answer.output, answer.errors)
    assert not (tmp_path / "o.tif").exists()


def _check_refused(answer: Answer) -> None:
    assert answer.code == 5, (answer.code, answer.output, answer.errors)
    assert answer.errors.count("\n") == 1, answer.errors
    assert not answer.is_crash


def test_worker_without_the_package(tmp_path: Path, source: Path, out: Path) -> None:
    path = customise(tmp_path, "import sys\nsys.modules['demosaic_ntc'] = None\n")
    with _cluster(tmp_path, PYTHONPATH=path):
        answer = run("batch", source, "-o", out, *QUICK, "--scheduler", tmp_path / "scheduler")
    _check_refused(answer)


@pytest.mark.parametrize("content", [b"", b"{}", b"garbage", b"[" * 50_000])
def test_file_that_names_no_scheduler(tmp_path: Path, source: Path, out: Path, content: bytes) -> None:
    pytest.importorskip("distributed")
    (tmp_path / "scheduler").write_bytes(content)
    _check_refused(run("batch", source, "-o", out, *QUICK, "--scheduler", tmp_path / "scheduler"))


@pytest.mark.parametrize("address", ["tls://127.0.0.1:1", "missing.json"])
def test_address_where_nobody_is(source: Path, out: Path, address: str) -> None:
    pytest.importorskip("distributed")
    _check_refused(run("batch", source, "-o", out, *QUICK, "--scheduler", address))


def test_scheduler_that_dies(tmp_path: Path, out: Path) -> None:
    """It dies while a worker is at a file that takes it long."""
    noise = np.random.default_rng(0).integers(60_000, size=(1500, 1500), dtype=np.uint16)
    tifffile.imwrite(tmp_path / "a.tif", noise)
    with _cluster(tmp_path, PYTHONPATH=str(ROOT)) as (scheduler, worker):
        words = ("--cfa", "RGGB", "--quality", "best", "--scheduler", tmp_path / "scheduler")
        with running("batch", tmp_path / "a.tif", "-o", out, *words) as process:
            assert until(lambda: psutil.Process(worker.pid).children()), "a process for the file"
            scheduler.kill()
            answer = end_of(process)
    assert answer.code == 5, (answer.code, answer.errors)
    assert not answer.is_crash, answer.errors


def test_name_of_252_letters_is_no_bug(tmp_path: Path, small: Path) -> None:
    answer = run(small, tmp_path / f"{'n' * 252}.png", *QUICK)
    assert answer.code == 4, (answer.code, answer.errors)


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/nothing"])
def test_compare_into_what_is_no_folder(tmp_path: Path, small: Path, place: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    answer = run("compare", small, "-o", tmp_path / place)
    assert answer.code == 4, (answer.code, answer.errors)


_ONE_CROP = ("--methods", "bilinear,malvar", "--crops", 1, "--crop-size", 32)


def test_compare_of_a_name_that_is_no_text(tmp_path: Path, small: Path) -> None:
    source = tmp_path / os.fsdecode(b"not\xffutf8.dng")
    source.write_bytes(small.read_bytes())
    answer = run("compare", source, "-o", tmp_path / "page", *_ONE_CROP)
    assert answer.code in (0, 3), (answer.code, answer.errors)


@pytest.mark.parametrize(
    "words", ["info a.dng", "compare a.dng -o page --methods bilinear,malvar --crop-size 32"]
)
def test_full_standard_output(source: Path, words: str) -> None:
    answer = shell(f"PROGRAM {words} > /dev/full", source)
    assert answer.code in (1, 4), (answer.code, answer.errors)
    assert not answer.is_crash, answer.errors


@pytest.mark.parametrize("name", ["{stem:d}", "{stem!x}", "{stem:>99999999}"])
def test_names_are_made_of_fields_alone(source: Path, out: Path, name: str) -> None:
    answer = run("batch", source, "-o", out, *QUICK, "--name", name)
    assert answer.code == 2, (answer.code, answer.errors)


def test_report_that_is_a_result_as_well_is_refused(source: Path, out: Path) -> None:
    answer = run("batch", source, "-o", out, *QUICK, "--report", out / "a.png")
    assert answer.code == 2, (answer.code, answer.errors)
    assert not (out / "a.png").exists() or b"input" not in (out / "a.png").read_bytes()


def test_report_that_is_torn_or_wrong_is_passed_over(source: Path, out: Path) -> None:
    assert run("batch", source, "-o", out, *QUICK).code == 0
    whole = (out / REPORT).read_bytes()
    listed = whole.replace(b'"output": "', b'"output": ["x"], "was": "')
    for tail in (b"{", bytes(64), b"\n", listed, b"[" * 50_000 + b"\n"):
        (out / REPORT).write_bytes(whole + tail)
        answer = run("batch", source, "-o", out, *QUICK, "--resume")
        assert answer.code == 0, (tail[:30], answer.code, answer.errors)
        assert "skipped       1" in answer.output
