"""Promises that a version of this program once broke: limits, options, the API."""

import os
import struct
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import tifffile
from PIL import Image

from demosaic_ntc import complete, demosaic, inpaint
from demosaic_ntc.errors import DemosaicNtcError
from tests.faults.regressions.program import (
    REPORT,
    SIDE,
    customise,
    end_of,
    run,
    running,
    shell,
    until,
    with_behind_header,
    write_picture,
)

pytestmark = pytest.mark.fault
QUICK = ("--method", "bilinear")


def _imports(process: psutil.Process) -> bool:
    """Whether a process has come as far as importing numpy."""
    return any("numpy" in part.path for part in process.memory_maps())


def _is_over(process: psutil.Process) -> bool:
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def test_workers_that_still_import_are_gone_with_their_parent(source: Path, out: Path) -> None:
    """They are stopped while they import, and can do nothing themselves: the kernel must end them."""
    (source / "b.dng").write_bytes((source / "a.dng").read_bytes())
    with running("batch", source, "-o", out, "--jobs", 2, *QUICK) as process:
        parent = psutil.Process(process.pid)
        assert until(lambda: len(parent.children()) == 2)
        children = parent.children(recursive=True)
        for child in children:
            assert until(partial(_imports, child))
            child.suspend()
        process.kill()
        gone = until(lambda: all(map(_is_over, children)), seconds=20.0)
        for child in children:
            if not _is_over(child):
                child.kill()
    assert gone


# The first worker stops as its interpreter starts. Until there is a second one, the batch's clock goes on by
# seconds each time it is looked at.
_STOPPED_AT_START = """
import os, signal, time
with open("/proc/self/cmdline", "rb") as file:
    command = file.read()
if b"workers.worker import" in command:
    first = not os.path.exists(FIRST)
    open(FIRST if first else SECOND, "w").close()
    if first:
        os.kill(os.getpid(), signal.SIGSTOP)
elif b"\\0batch\\0" in command:
    passed, monotonic = 0, time.monotonic
    def jump():
        global passed
        passed += 0 if os.path.exists(SECOND) else 5
        return passed + monotonic()
    time.monotonic = jump
"""


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="Linux only")
def test_worker_that_stops_before_it_is_ready_is_replaced(tmp_path: Path, source: Path, out: Path) -> None:
    names = f"FIRST, SECOND = {str(tmp_path / 'first')!r}, {str(tmp_path / 'second')!r}"
    words = ("batch", source, "-o", out, "--jobs", 1, "--timeout", 600, *QUICK)
    answer = run(*words, patience=120.0, PYTHONPATH=customise(tmp_path, names + _STOPPED_AT_START))
    assert (tmp_path / "first").exists()
    assert answer.code == 0, answer.errors
    assert (out / "a.png").exists()


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ("-v 600000", "a.dng o.png --method bilinear"),
        ("-n 10", "batch a.dng -o . --method bilinear"),
    ],
)
def test_resources_that_run_out_are_named(source: Path, limit: str, words: str) -> None:
    answer = shell(f"ulimit {limit}; PROGRAM {words}", source)
    assert answer.code in (0, 6), (answer.code, answer.errors)
    assert not answer.is_crash, answer.errors


def test_chunk_that_claims_gigabytes_is_damage(tmp_path: Path) -> None:
    write_picture(tmp_path / "a.png")
    with_behind_header(tmp_path / "a.png", struct.pack(">L4s", 0xFFFFFFF0, b"tEXt"))
    words = "inpaint a.png a.mask.png o.png --method biharmonic --threads 1"
    answer = shell(f"ulimit -v 2000000; PROGRAM {words}", tmp_path, OPENBLAS_NUM_THREADS="1")
    assert answer.code == 3, (answer.code, answer.errors)


def test_jpeg_of_nothing_but_markers_is_refused_quickly(tmp_path: Path) -> None:
    """Forty megabytes take hardly longer than forty kilobytes; the processor's seconds are compared."""
    mask = write_picture(tmp_path / "a.png")
    seconds = []
    for size in (40_000, 40_000_000):
        (tmp_path / "a.jpg").write_bytes(b"\xff\xd8" + b"\xff\xd0" * (size // 2))
        answer = run("inpaint", tmp_path / "a.jpg", mask, tmp_path / "o.png", "--method", "biharmonic")
        assert answer.code == 3, (answer.code, answer.errors)
        seconds.append(answer.cpu_seconds)
    assert seconds[1] < 3 * seconds[0], seconds


def test_permissions_of_a_replaced_file_stay(tmp_path: Path, small: Path) -> None:
    target = tmp_path / "o.png"
    target.write_bytes(b"old")
    target.chmod(0o600)
    assert run(small, target, "--overwrite", *QUICK).code == 0
    assert target.read_bytes() != b"old"
    assert target.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("option", ["--white inf", "--white nan", "--wb 1e300,1,1"])
def test_numbers_that_are_none_are_wrong_usage(tmp_path: Path, small: Path, option: str) -> None:
    answer = run(small, tmp_path / "o.png", *option.split(), *QUICK)
    assert answer.code == 2, (answer.code, answer.errors)
    assert not (tmp_path / "o.png").exists()


def _write_tiffs(folder: Path) -> None:
    tifffile.imwrite(folder / "big.tif", np.zeros((SIDE, SIDE), np.uint8), bigtiff=True)
    volume = np.zeros((4, 16, 16), np.uint8)
    kind: dict[str, Any] = {"volumetric": True, "photometric": "minisblack", "tile": (4, 16, 16)}
    tifffile.imwrite(folder / "volume.tif", volume, **kind)


@pytest.mark.parametrize(("name", "word"), [("big.tif", "BigTIFF"), ("volume.tif", "volume")])
def test_kinds_of_tiff_that_are_not_read_are_named(tmp_path: Path, name: str, word: str) -> None:
    mask = write_picture(tmp_path / "a.png")
    _write_tiffs(tmp_path)
    answer = run("inpaint", tmp_path / name, mask, tmp_path / "o.tif", "--method", "biharmonic")
    assert answer.code == 3, (answer.code, answer.errors)
    assert word in answer.errors.replace(name, "")


def test_jpeg_is_no_mosaic_whatever_is_said_of_it(tmp_path: Path) -> None:
    Image.fromarray(np.zeros((SIDE, SIDE), np.uint8)).save(tmp_path / "a.jpg")
    answer = run(tmp_path / "a.jpg", tmp_path / "o.png", "--cfa", "RGGB")
    assert answer.code == 3, (answer.code, answer.errors)
    assert "--cfa" not in answer.errors, "which is given already"


def test_levels_counted_from_white_stay_as_they_are(tmp_path: Path) -> None:
    mask = write_picture(tmp_path / "a.png")
    levels = np.random.default_rng(0).integers(256, size=(SIDE, SIDE), dtype=np.uint8)
    tifffile.imwrite(tmp_path / "w.tif", levels, photometric="miniswhite")
    answer = run("inpaint", tmp_path / "w.tif", mask, tmp_path / "o.tif", "--method", "biharmonic")
    assert answer.code == 0, (answer.code, answer.errors)
    known = np.asarray(Image.open(mask)) == 0
    with tifffile.TiffFile(tmp_path / "o.tif") as tiff:
        assert tiff.pages.first.photometric == 0
        np.testing.assert_array_equal(tiff.pages.first.asarray()[known], levels[known])


_MOSAIC = np.random.default_rng(0).random((SIDE, SIDE))
_MASKED: Any = np.ma.MaskedArray(_MOSAIC, _MOSAIC < 0.5)
_HOLES = _MOSAIC < 0.1


def _demosaic(mosaic: Any = _MOSAIC, cfa: Any = "RGGB", **options: Any) -> Any:
    return demosaic(mosaic, cfa, method="bilinear", **options)


def _inpaint(image: Any = _MOSAIC, **options: Any) -> Any:
    return inpaint(image, _HOLES, method="biharmonic", **options)


_WRONG: dict[str, Callable[[], Any]] = {
    "cfa=5": lambda: _demosaic(cfa=5),
    "cfa=None": lambda: _demosaic(cfa=None),
    "cfa=bytes": lambda: _demosaic(cfa=b"RGGB"),
    "threads=1.5": lambda: _demosaic(threads=1.5),
    "time_limit='x'": lambda: _demosaic(time_limit="x"),
    "time_limit=nan": lambda: _inpaint(time_limit=float("nan")),
    "time_limit=-1": lambda: _inpaint(time_limit=-1),
    "masked mosaic": lambda: _demosaic(_MASKED),
    "masked picture": lambda: _inpaint(_MASKED),
    "complex values": lambda: complete((2, 2), [[0, 0]], np.array([1j]), radius=1.0),
    "seed=-1": lambda: complete((2, 2), [[0, 0]], [1.0], radius=1.0, seed=-1),
}


@pytest.mark.filterwarnings("ignore:.*imaginary")
@pytest.mark.parametrize("wrong", _WRONG)
def test_what_is_asked_wrongly_is_refused_by_name(wrong: str) -> None:
    with pytest.raises(DemosaicNtcError):
        _WRONG[wrong]()


def test_watched_folder_that_is_deleted_ends_in_order(tmp_path: Path, out: Path, small: Path) -> None:
    watched = tmp_path / "in"
    watched.mkdir()
    with running("watch", watched, "-o", out, "--settle", 0.1, *QUICK) as process:
        assert process.stderr is not None
        assert b"watching" in process.stderr.readline()
        (watched / "a.dng").write_bytes(small.read_bytes())
        assert until(lambda: (out / REPORT).exists() and b'"done"' in (out / REPORT).read_bytes())
        (watched / "a.dng").unlink()
        watched.rmdir()
        answer = end_of(process)
    assert answer.code == 3, (answer.code, answer.errors)
    assert "done          1" in answer.output, "the summary"
    assert sorted(os.listdir(out)) == ["a.png", REPORT]


def test_time_limit_bounds_the_first_estimate() -> None:
    """A second is asked for; several seconds of two processors are allowed, where all of it takes twenty."""
    mosaic = np.random.default_rng(0).random((1500, 1500))
    demosaic(mosaic[:64, :64], "RGGB")
    start, busy = time.monotonic(), time.process_time()
    demosaic(mosaic, "RGGB", time_limit=1)
    # Whichever is less: another program may hold the processors meanwhile.
    assert min(time.monotonic() - start, time.process_time() - busy) < 8.0
