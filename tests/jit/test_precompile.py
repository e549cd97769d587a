"""Kernels compiled by other processes: each once, whoever asks; and nothing breaks where that cannot be."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from demosaic_ntc.jit import precompile
from demosaic_ntc.jit.precompile import Compilers
from demosaic_ntc.jit.waiting import report_to

ROOT = Path(__file__).resolve().parents[2]

# Stands for a process that compiles: it notes what it did and keeps a file. It fails at "bad".
_NOTING = """
import pathlib, sys, time
folder = pathlib.Path({folder!r})
for line in sys.stdin:
    name = line.strip()
    if name.startswith("bad"):
        sys.exit(1)
    while name == "late" and not (folder / "go").exists():
        time.sleep(0.01)
    (folder / "notes").open("a").write(line)
    (folder / name).touch()
    print(line, end="", flush=True)
"""


@dataclass(frozen=True)
class Drawn:
    """What stands for a kernel: it is ready when a file of its name is there."""

    folder: Path
    name: str
    module: str
    work: int = 1
    can_be_kept: bool = True

    @property
    def is_ready(self) -> bool:
        return (self.folder / self.name).exists()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(precompile, "_COMPILER", _NOTING.format(folder=str(tmp_path)))
    monkeypatch.setattr(precompile, "find_folder", lambda: tmp_path / "lock")
    return tmp_path


@pytest.fixture
def compilers() -> Iterator[Compilers]:
    made = Compilers()
    yield made
    made.end()
    made.forget()


def kernels(folder: Path, **modules: str) -> list[Any]:
    """Kernels named by letters, in modules."""
    return [Drawn(folder, name, module) for module, names in modules.items() for name in names.split()]


def notes(folder: Path) -> list[str]:
    return (folder / "notes").read_text().split() if (folder / "notes").exists() else []


def test_every_kernel_is_compiled_once_and_counted(folder: Path, compilers: Compilers) -> None:
    counts: list[tuple[int, int]] = []
    some = kernels(folder, one="a b", two="c", three="d e")
    with report_to(lambda ready, total: counts.append((ready, total))):
        assert compilers.await_all(some, some) == []
    assert sorted(notes(folder)) == list("abcde")
    assert counts[0] == (0, 5)
    assert counts == sorted(counts)


def test_nothing_is_said_or_started_for_what_is_ready(folder: Path, compilers: Compilers) -> None:
    some = kernels(folder, one="a")
    (folder / "a").touch()
    with report_to(lambda ready, total: pytest.fail("there is nothing to say")):
        assert compilers.await_all(some, kernels(folder, two="b")) == []
    assert notes(folder) == []


def test_a_call_waits_for_its_own_kernel_alone(folder: Path, compilers: Compilers) -> None:
    (wanted, late) = some = kernels(folder, one="a", two="late")
    assert compilers.await_all([wanted], some) == []
    assert not late.is_ready
    (folder / "go").touch()
    assert compilers.await_all(some, []) == []
    assert sorted(notes(folder)) == ["a", "late"]


def test_modules_of_what_is_called_go_first_then_what_takes_longest(
    folder: Path, compilers: Compilers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precompile, "processors", lambda: 0)  # what waits keeps waiting
    (a, b, c, d), heavy = kernels(folder, one="a b", two="c", three="d"), Drawn(folder, "e", "four", work=9)
    others: list[Any] = [a, b, c, d, heavy]
    assert compilers._take([b], others)
    assert list(compilers._waiting) == [["b", "a"], ["e"], ["c"], ["d"]]
    assert compilers._take([d], others)
    assert list(compilers._waiting) == [["d"], ["b", "a"], ["e"], ["c"]]


def test_processes_that_come_together_wait_for_one(folder: Path) -> None:
    some, crowd = kernels(folder, one="a b", two="c"), [Compilers() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda each: each.await_all(some, some), crowd)) == [[]] * 4
    assert sorted(notes(folder)) == list("abc")


def test_whoever_dies_leaves_the_lock_to_the_next(folder: Path, compilers: Compilers) -> None:
    holding = (
        "import fcntl, sys, time; file = open(sys.argv[1], 'a'); fcntl.flock(file, fcntl.LOCK_EX);"
        "print(flush=True); time.sleep(60)"
    )
    (folder / "lock").mkdir()
    command = [sys.executable, "-c", holding, str(folder / "lock" / "demosaic_ntc.lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder, ThreadPoolExecutor(1) as pool:
        assert holder.stdout is not None
        holder.stdout.readline()
        some = kernels(folder, one="a")
        waiting = pool.submit(compilers.await_all, some, some)
        time.sleep(0.5)
        assert not waiting.done()
        holder.kill()
        assert waiting.result(30) == []


def test_what_fails_is_returned_and_not_tried_again(folder: Path, compilers: Compilers) -> None:
    some = kernels(folder, one="bad1 a", two="b")
    assert [each.name for each in compilers.await_all(some, some)] == ["bad1", "a"], (
        "one process for a module"
    )
    before = len(compilers._processes)
    assert [each.name for each in compilers.await_all(some, some)] == ["bad1", "a"]
    assert len(compilers._processes) == before
    assert notes(folder) == ["b"]


def test_no_program_to_start_is_no_failure(
    folder: Path, compilers: Compilers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    some = kernels(folder, one="a", two="b", three="c")
    assert compilers.await_all(some, some) == some


@pytest.mark.parametrize("place", [None, "/dev/null/nowhere"])
def test_no_place_for_a_lock_is_no_failure(
    folder: Path, compilers: Compilers, monkeypatch: pytest.MonkeyPatch, place: str | None
) -> None:
    monkeypatch.setattr(precompile, "find_folder", lambda: place and Path(place))
    some = kernels(folder, one="a", two="b")
    assert compilers.await_all(some, some) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
def test_a_forked_process_starts_anew(folder: Path) -> None:
    compilers = Compilers()
    compilers._at_work = 1  # a thread that a forked process does not have
    compilers.forget()
    some = kernels(folder, one="a")
    assert compilers.await_all(some, some) == []
    compilers.end()


# The first call of a kernel in a process with an empty cache: what is told, and whether it was compiled here.
_FIRST_CALL = """
import numpy as np
from demosaic_ntc.detection.defect_kernels import count_flocks
from demosaic_ntc.jit.waiting import report_to
told = []
with report_to(lambda *numbers: told.append(numbers)):
    places = np.zeros((1, 2), np.int64)
    count_flocks(places, np.zeros(1, np.uint8), np.zeros(1, np.float32), np.zeros(1, np.int64), 1, places)
print(sum(count_flocks.stats.cache_hits.values()), told[:1])
"""


def test_a_kernel_is_compiled_by_another_process_when_it_is_first_called(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    for told in ("[(0, 2)]", "[]"):
        answer = subprocess.run(
            [sys.executable, "-c", _FIRST_CALL], cwd=ROOT, env=environment, capture_output=True, text=True
        )
        assert answer.stdout == f"1 {told}\n", answer.stderr


def test_what_is_ready_is_loaded_ahead_and_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = list[str]()

    @dataclass(frozen=True)
    class Kept:
        name: str
        is_ready: bool = True
        is_rare: bool = False

        def compile(self) -> None:
            compiled.append(self.name)

    some = (Kept("one"), Kept("missing", is_ready=False), Kept("rare", is_rare=True), Kept("two"))
    monkeypatch.setattr(precompile, "loaded", {each.name: each for each in some})
    precompile.load_ready().join()
    assert compiled == ["one", "two"]
