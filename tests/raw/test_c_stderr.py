"""What C prints while LibRaw works is kept from stderr; everything else reaches it."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from threading import Barrier, Thread

import pytest

from demosaic_ntc.errors import Truncated
from demosaic_ntc.raw import libraw
from demosaic_ntc.raw.c_stderr import capture_c_stderr
from demosaic_ntc.raw.reading import read_photo
from tests.made_raws import made

pytestmark = pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "gnu_get_libc_version"), reason="C's stderr is found in glibc"
)


def _print_in_c(text: str) -> None:
    libc = ctypes.CDLL(None)
    libc.fputs(text.encode(), ctypes.c_void_p.in_dll(libc, "stderr"))
    libc.fflush(None)


def test_lines_of_c_are_captured_and_no_others(capfd: pytest.CaptureFixture[str]) -> None:
    lines: list[str] = []
    with capture_c_stderr(lines):
        _print_in_c("first\nsecond\n")
        os.write(2, b"Python's\n")
        subprocess.run([sys.executable, "-c", "import os; os.write(2, b'a child')"], check=True)
    with capture_c_stderr(lines):
        _print_in_c("third\n")
    with capture_c_stderr(lines):
        pass
    _print_in_c("after")
    assert lines == ["first", "second", "third"]
    assert capfd.readouterr().err == "Python's\na childafter"


def test_threads_get_their_own_lines_each() -> None:
    told: dict[int, list[str]] = {number: [] for number in range(8)}
    together = Barrier(len(told))

    def speak(number: int) -> None:
        together.wait()
        for word in range(50):
            with capture_c_stderr(told[number]):
                _print_in_c(f"{number} {word}\n")

    threads = [Thread(target=speak, args=(number,)) for number in told]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == {number: [f"{number} {word}" for word in range(50)] for number in told}


def test_process_forked_meanwhile_prints_and_captures_as_ever() -> None:
    code = (
        "import os, threading\n"
        "from demosaic_ntc.raw.c_stderr import capture_c_stderr\n"
        "from tests.raw.test_c_stderr import _print_in_c\n"
        "begun, over = threading.Event(), threading.Event()\n"
        "def hold():\n"
        "    with capture_c_stderr([]):\n"
        "        begun.set(); over.wait()\n"
        "threading.Thread(target=hold).start(); begun.wait()\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    _print_in_c('heard ')\n"
        "    lines = []\n"
        "    with capture_c_stderr(lines): _print_in_c('kept')\n"
        "    os.write(2, str(lines).encode()); os._exit(0)\n"
        "os.waitpid(child, 0); over.set()\n"
    )
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-W", "ignore", "-c", code]
    answer = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60, check=True)
    assert answer.stderr == "heard ['kept']"


@pytest.mark.parametrize("name", ["bayer.raf", "bayer.mrw"])
def test_nothing_of_libraw_reaches_stderr(
    tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(made(name).content[:-600])
    with pytest.raises(Truncated):
        read_photo(tmp_path / name)
    assert capfd.readouterr().err == ""


@pytest.mark.usefixtures("in_process")
def test_complaints_about_a_file_that_is_decoded_are_told(
    small: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(libraw, "extract_preview", lambda raw: _print_in_c("unknown file: bad data\nmore\n"))
    assert read_photo(small).notices == ("the decoder complains (bad data); the file may be damaged",)
    assert capfd.readouterr().err == ""
