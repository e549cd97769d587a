"""Arrays in a file without a name."""

import errno
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from demosaic_ntc.errors import DiskFull, NotWritable
from demosaic_ntc.io.scratch import ScratchFile

# Writes, says so, and waits to be killed.
KEPT = """
import time
import numpy as np
from demosaic_ntc.io.scratch import ScratchFile
stored = ScratchFile().keep(np.ones((100, 100)))
print("kept", flush=True)
time.sleep(600)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_arrays_are_read_as_they_were_written() -> None:
    file = ScratchFile()
    numbers = np.arange(60, dtype=np.uint16).reshape(10, 6)
    flags = numbers.T % 3 == 0
    first, second = file.keep(numbers), file.keep(flags)
    assert (first.shape, first.ndim, first.size, first.dtype) == ((10, 6), 2, 60, np.dtype(np.uint16))
    assert np.array_equal(np.asarray(first), numbers)
    assert np.array_equal(np.asarray(second), flags)
    for place in (np.s_[3:7], np.s_[2:9:2, 1:4], np.s_[-3:, :], np.s_[8:20], np.s_[5:5]):
        assert np.array_equal(first[place], numbers[place])
        assert first[place].flags.writeable


def test_the_file_has_no_name_and_is_closed_with_its_last_array(folder: Path) -> None:
    before = set(os.listdir("/proc/self/fd"))
    stored = ScratchFile().keep(np.ones((4, 4)))
    assert os.listdir(folder) == []
    assert np.asarray(stored).sum() == 16
    assert len(os.listdir("/proc/self/fd")) == len(before) + 1
    del stored
    assert set(os.listdir("/proc/self/fd")) == before


@pytest.mark.fault
def test_nothing_is_left_of_a_process_that_is_killed(folder: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", KEPT], stdout=subprocess.PIPE)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"kept\n"
        process.send_signal(signal.SIGKILL)
    assert os.listdir(folder) == []


def test_machine_without_a_folder_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", refuse)
    with pytest.raises(NotWritable, match=r"^No usable temporary directory found; let TMPDIR name"):
        ScratchFile()


def test_a_full_disk_names_the_folder_and_how_to_choose_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    file = ScratchFile()
    monkeypatch.setenv("TMPDIR", str(folder / "missing"))  # names no folder that is used
    monkeypatch.setattr(os, "pwrite", refuse)
    with pytest.raises(DiskFull, match=rf"{folder}: no space left; .*TMPDIR names another folder"):
        file.keep(np.ones(3))
