"""Promises that a version of this program once broke: what loses work or lies."""

import json
import os
import signal
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile

from demosaic_ntc import demosaic, inpaint
from tests.faults.regressions.program import (
    SIDE,
    chunk,
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

# More than a megabyte when it is unfolded.
_LARGE = zlib.compress(np.random.default_rng(0).integers(4, size=1_300_000, dtype=np.uint8).tobytes())


def test_work_of_others_is_kept_and_emptied_results_are_made_again(source: Path, out: Path) -> None:
    (source / "b.dng").write_bytes((source / "a.dng").read_bytes())
    assert run("batch", source, "-o", out, *QUICK).code == 0
    (out / "a.png").write_bytes(b"hours of work")
    os.truncate(out / "b.png", 0)
    assert run("batch", source, "-o", out, *QUICK, "--resume", "--exposure", 1).code == 0
    assert (out / "a.png").read_bytes() == b"hours of work"
    os.truncate(out / "b.png", 0)
    assert run("batch", source, "-o", out, *QUICK, "--resume", "--exposure", 1).code == 0
    assert (out / "b.png").stat().st_size > 0


@pytest.fixture
def profiled(tmp_path: Path) -> Path:
    """A picture, beside its mask, whose colour profile has more than a megabyte."""
    write_picture(tmp_path / "a.png")
    with_behind_header(tmp_path / "a.png", chunk(b"iCCP", b"large\0\0" + _LARGE))
    return tmp_path / "a.png"


def test_large_profile_ends_no_batch(profiled: Path, out: Path) -> None:
    write_picture(profiled.with_name("b.png"))
    with_behind_header(profiled.with_name("b.png"), chunk(b"zTXt", b"Comment\0\0" + _LARGE))
    write_picture(profiled.with_name("c.png"))
    pictures = [profiled.with_name(name) for name in ("a.png", "b.png", "c.png")]
    answer = run("batch", *pictures, "-o", out, "--inpaint", "--method", "biharmonic")
    assert not answer.is_crash, answer.errors
    assert (out / "c.png").exists(), "the others are done in any case"


def test_large_profile_is_no_damage(profiled: Path) -> None:
    target = profiled.with_name("o.png")
    answer = run("inpaint", profiled, profiled.with_name("a.mask.png"), target, "--method", "biharmonic")
    assert answer.code == 0, answer.errors
    assert b"iCCP" in target.read_bytes()


# A mosaic of ones and what is made of it: few kernels are compiled, and kept.
_DEMOSAIC = (
    "PYTHON -c 'import numpy, demosaic_ntc\n"
    'print(demosaic_ntc.demosaic(numpy.ones((24, 24)), "RGGB", method="bilinear").image.sum())\''
)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a cache in which a run keeps what it compiled, by their places."""
    folder = tmp_path_factory.mktemp("kept")
    answer = shell(_DEMOSAIC, folder, NUMBA_CACHE_DIR=str(folder / "cache"))
    assert answer.output == "1728.0\n", answer.errors
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.nb?")}
    assert {Path(name).suffix for name in files} == {".nbi", ".nbc"}
    return files


@pytest.mark.parametrize(("suffix", "left"), [(".nbi", 0), (".nbi", 100), (".nbc", 0), (".nbc", 100)])
def test_cut_cache_of_kernels_is_passed_over(
    tmp_path: Path, kept: dict[str, bytes], suffix: str, left: int
) -> None:
    for name, content in kept.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_bytes(content[:left] if name.endswith(suffix) else content)
    answer = shell(_DEMOSAIC, tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert answer.output == "1728.0\n", answer.errors


def test_cache_on_a_full_disk(tmp_path: Path, kept: dict[str, bytes]) -> None:
    """No file may grow beyond 4 KB, as on a disk that is nearly full: no kernel can be kept."""
    assert max(map(len, kept.values())) > 4096
    answer = shell(f"ulimit -f 4; {_DEMOSAIC}", tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert answer.output == "1728.0\n", answer.errors


@pytest.mark.parametrize("streams", ["2>&-", ">&-"])
@pytest.mark.parametrize(
    "words",
    [
        "a.dng o.png --method bilinear",
        "inpaint a.png a.mask.png o.png --method biharmonic",
        "batch a.dng -o out --method bilinear",
    ],
)
def test_closed_streams_cost_no_picture(source: Path, words: str, streams: str) -> None:
    write_picture(source / "a.png")
    (source / "out").mkdir()
    answer = shell(f"PROGRAM {words} {streams}", source)
    assert answer.code == 0, (answer.code, answer.errors)
    assert (source / "o.png").exists() or (source / "out" / "a.png").exists()


def test_watch_goes_on_while_folders_come_and_go(tmp_path: Path, out: Path, small: Path) -> None:
    watched = tmp_path / "in"
    watched.mkdir()
    over = threading.Event()
    names = [[watched / f"{part}{number}{which}" for which in "xy"] for part in "abc" for number in range(20)]
    for folder, _ in names:
        (folder / "deeper").mkdir(parents=True)

    def churn() -> None:
        while not over.is_set():
            for one, other in names:
                one.rename(other)
            for one, other in names:
                other.rename(one)

    with running("watch", watched, "-o", out, "-r", "--settle", 0.1, "--poll", *QUICK) as process:
        assert process.stderr is not None
        assert b"watching" in process.stderr.readline()
        thread = threading.Thread(target=churn)
        thread.start()
        ended = until(lambda: process.poll() is not None, seconds=4.0)
        over.set()
        thread.join()
        assert not ended, process.stderr.read()
        (watched / "last.dng").write_bytes(small.read_bytes())
        assert until(lambda: (out / "last.png").exists())
        process.send_signal(signal.SIGINT)
        answer = end_of(process)
    assert answer.code == 130, answer.errors
    assert "done" in answer.output


def test_a_picture_cut_short_claims_nothing_proven(tmp_path: Path, samples: Path) -> None:
    words = (samples / "scene_rggb.dng", tmp_path / "o.png", "--time-limit", 0.01, "--json")
    answer = run(*words, patience=1200)  # all kernels may have to be compiled first
    assert answer.code == 0, answer.errors
    assert json.loads(answer.output)["certificate"] is None
    assert "time ran out" in answer.output + answer.errors


def test_float_pictures_of_any_range(tmp_path: Path) -> None:
    mask = write_picture(tmp_path / "a.png")
    pixels = np.random.default_rng(0).random((SIDE, SIDE, 3)) * 1e300
    tifffile.imwrite(tmp_path / "f.tif", pixels, photometric="rgb")
    answer = run("inpaint", tmp_path / "f.tif", mask, tmp_path / "o.tif", "--method", "biharmonic")
    assert answer.code == 0, answer.errors
    assert np.isfinite(tifffile.imread(tmp_path / "o.tif")).all()


def _repaired(pixels: Any) -> Any:
    missing = np.zeros((SIDE, SIDE), np.bool_)
    missing[4:6, 4:9] = True
    return inpaint(pixels[..., None].repeat(3, axis=2), missing, method="biharmonic").image


def _demosaicked(pixels: Any) -> Any:
    return demosaic(pixels, "RGGB", method="bilinear").image


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("scale", [1e-300, 1e39, 1e300])
@pytest.mark.parametrize("entrance", [_demosaicked, _repaired])
def test_arrays_of_any_range(scale: float, entrance: Callable[[Any], Any]) -> None:
    pixels = 0.5 + 0.5 * np.random.default_rng(0).random((SIDE, SIDE))
    result = entrance(pixels * scale)
    assert np.isfinite(result).all()
    assert 0.25 < (result / scale).min() <= (result / scale).max() < 2.0
