"""Kernels prepared in advance: each compiled once, whoever asks; and nothing breaks where that can not be."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from demosaic_ntc.jit import precompile
from demosaic_ntc.jit.precompile import KernelRecord, prepare

NAMES = ["a", "b", "c", "d", "e"]
FAMILIES = [["a"], ["b", "c"], ["d"], ["e"]]

# Stands for a process that compiles: it takes a moment and notes what it did.
_NOTING = """
import sys, time
for line in sys.stdin:
    time.sleep(0.05)
    open({path!r}, "a").write(line)
    print(line, end="", flush=True)
"""

# One that ends at the first kernel.
_REFUSING = """
import sys
for line in sys.stdin:
    if line == "a\\n":
        sys.exit(1)
    print(line, end="", flush=True)
"""


def silently(ready: int, total: int) -> None:
    pass


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "notes"
    monkeypatch.setattr(precompile, "_COMPILER", _NOTING.format(path=str(path)))
    return path


@pytest.fixture
def ledger(tmp_path: Path) -> KernelRecord:
    return KernelRecord.of(tmp_path)


def test_every_kernel_is_compiled_and_counted(notes: Path, ledger: KernelRecord) -> None:
    counts: list[tuple[int, int]] = []
    prepare(FAMILIES, ledger, lambda ready, total: counts.append((ready, total)))
    assert sorted(notes.read_text().split()) == NAMES
    assert counts == [(ready, len(NAMES)) for ready in range(len(NAMES) + 1)]
    assert ledger.find_missing(NAMES) == []


def test_what_is_ready_is_not_compiled_again(notes: Path, ledger: KernelRecord) -> None:
    prepare([NAMES[:3]], ledger, silently)
    counts: list[int] = []
    prepare(FAMILIES, ledger, lambda ready, total: counts.append(ready))
    assert sorted(notes.read_text().split()) == NAMES
    assert counts[0] == 3
    prepare(FAMILIES, ledger, lambda ready, total: pytest.fail("nothing is left to be said"))


def test_those_who_come_together_wait_for_one(notes: Path, ledger: KernelRecord) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: prepare(FAMILIES, ledger, silently), range(4)))
    assert sorted(notes.read_text().split()) == NAMES


def test_compilers_that_die_leave_kernels_to_their_first_call(
    ledger: KernelRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precompile, "_COMPILER", "import sys; sys.stdin.readline(); sys.exit(1)")
    prepare(FAMILIES, ledger, silently)
    assert ledger.find_missing(NAMES) == NAMES


def test_one_that_dies_costs_the_others_nothing(
    ledger: KernelRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precompile, "processors", lambda: 2)
    monkeypatch.setattr(precompile, "_COMPILER", _REFUSING)
    prepare(FAMILIES, ledger, silently)
    assert ledger.find_missing(NAMES) == ["a"]


def test_a_family_is_compiled_by_one_process(ledger: KernelRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precompile, "processors", lambda: 4)
    monkeypatch.setattr(precompile, "_COMPILER", _REFUSING)
    prepare([["a", "b", "c"], ["d"], ["e"]], ledger, silently)
    assert ledger.find_missing(NAMES) == ["a", "b", "c"]


def test_a_single_kernel_is_compiled_and_said_as_well(notes: Path, ledger: KernelRecord) -> None:
    counts: list[tuple[int, int]] = []
    prepare([["a"]], ledger, lambda ready, total: counts.append((ready, total)))
    assert notes.read_text().split() == ["a"]
    assert counts == [(0, 1), (1, 1)]


def test_no_program_to_start_is_no_failure(ledger: KernelRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    prepare(FAMILIES, ledger, silently)
    assert ledger.find_missing(NAMES) == NAMES


def test_no_folder_to_write_to_is_no_failure(notes: Path, tmp_path: Path) -> None:
    prepare(FAMILIES, KernelRecord(tmp_path / "missing" / "a.prepared"), silently)
    assert sorted(notes.read_text().split()) == NAMES
    prepare(FAMILIES, None, lambda ready, total: pytest.fail("there is nothing to prepare for"))


def test_other_sources_are_another_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = KernelRecord.of(tmp_path)
    assert KernelRecord.of(tmp_path) == before
    monkeypatch.setattr(precompile, "_stamps", lambda: iter(["compiled.py 1 2"]))
    assert KernelRecord.of(tmp_path) != before


def test_all_kernels_have_their_stamp() -> None:
    stamped = {line.split()[0] for line in precompile._stamps()}
    assert {
        "jit/compiled.py",
        "engine/kernels/group_pass.py",
        "demosaicing/interpolation/regression_kernels.py",
    } <= stamped
