"""Temporary files: those of dead writers are removed, those of living ones never."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from demosaic_ntc.io import atomic
from demosaic_ntc.io.atomic import create_partial, hold_folder, hold_lock, remove_stale, whole_file


@pytest.fixture
def dead_pid() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def _left_by(folder: Path, pid: int, host: str) -> Path:
    path = folder / f".demosaic-ntc-{host}-{pid}-00ff.partial"
    path.write_bytes(b"half")
    return path


def test_leftovers_of_a_dead_process_are_removed(tmp_path: Path, dead_pid: int) -> None:
    left = _left_by(tmp_path, dead_pid, atomic._host())
    assert remove_stale(tmp_path) == [left]
    assert os.listdir(tmp_path) == []


def test_leftovers_of_a_process_that_is_dead_but_still_listed_are_removed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.read()  # it has ended, or is about to
        left = _left_by(tmp_path, process.pid, atomic._host())
        while psutil.Process(process.pid).status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.01)
        assert remove_stale(tmp_path) == [left]


def test_file_of_a_living_process_stays(tmp_path: Path) -> None:
    left = _left_by(tmp_path, os.getppid(), atomic._host())
    assert remove_stale(tmp_path) == []
    assert left.exists()


def test_file_whose_lock_is_held_stays_though_its_process_is_not_seen(tmp_path: Path, dead_pid: int) -> None:
    """As it is with a writer in another container."""
    left = _left_by(tmp_path, dead_pid, atomic._host())
    with open(left, "r+b") as file, hold_lock(file):
        file.close()
        assert remove_stale(tmp_path) == []
    assert remove_stale(tmp_path) == [left]


def test_young_file_of_another_machine_stays(tmp_path: Path) -> None:
    left = _left_by(tmp_path, 1, "elsewhere")
    assert remove_stale(tmp_path) == []
    long_ago = time.time() - 7200
    os.utime(left, (long_ago, long_ago))
    assert remove_stale(tmp_path) == [left]


@pytest.mark.parametrize("name", ["a.partial", ".demosaic-ntc-x.partial", "photo.dng"])
def test_files_of_others_stay(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    assert remove_stale(tmp_path) == []


def test_folder_that_is_not_there_holds_nothing_stale(tmp_path: Path) -> None:
    assert remove_stale(tmp_path / "none") == []


def test_file_under_way_is_named_after_its_writer_and_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with whole_file(tmp_path / "a.bin", overwrite=False) as file:
        file.write(b"half")
        (name,) = os.listdir(tmp_path)
        assert f"-{os.getpid()}-" in name
        monkeypatch.setattr(atomic, "is_alive", lambda pid: False)
        assert remove_stale(tmp_path) == [], "the lock alone protects it"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_two_temporaries_of_one_target_do_not_meet(tmp_path: Path) -> None:
    (first, one), (second, two) = create_partial(tmp_path / "a"), create_partial(tmp_path / "a")
    one.close()
    two.close()
    assert first != second


def test_folder_whose_lock_is_refused_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse_once(*_: object) -> int:
        monkeypatch.undo()
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(atomic, "gettempdir", lambda: str(tmp_path))
    with hold_folder() as folder:
        assert list(tmp_path.iterdir()) == [folder]
        assert remove_stale(tmp_path) == []
    monkeypatch.setattr(os, "open", refuse_once)
    with pytest.raises(OSError, match="Too many"), hold_folder():
        pytest.fail("nothing is held")
    assert list(tmp_path.iterdir()) == []
