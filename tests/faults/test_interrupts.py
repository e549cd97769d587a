"""Ctrl-C and termination: quick, clean, and with the right exit code; and installs nobody can write to."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.batch.batches import PATIENCE, until

pytestmark = pytest.mark.fault
Start = Callable[..., Any]

# An engine that never ends, in many small steps, as the real one works.
ENDLESS = """
import time
import demosaic_ntc.workflows.conversion as conversion
def endless(*_, **__):
    print("solving", flush=True)
    while True:
        time.sleep(0.05)
conversion.complete_mosaic = endless
"""

# A writer that never ends, with half a picture on the disk.
STUCK_WRITER = """
import time
from demosaic_ntc.images import writing
def stuck(file, *_):
    file.write(b"half")
    file.flush()
    print("solving", flush=True)
    while True:
        time.sleep(0.05)
writing._BY_ROWS["PNG"] = stuck
"""


# An engine that stays for long in compiled code, where Python does not hear signals.
DEAF = """
import hashlib
import demosaic_ntc.workflows.conversion as conversion
def deaf(*_, **__):
    print("solving", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 200_000_000)
conversion.complete_mosaic = deaf
"""


# After the first signal nothing but a second one ends the program: a busy machine is not told from patience.
PATIENT = """
import cli.interrupts
cli.interrupts._PATIENCE = 600.0
"""


def _press_until_over(process: Any) -> None:
    """Interrupt again and again: of signals that a busy machine hears together, there is but one."""

    def pressed() -> bool:
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        return process.poll() is not None

    until(pressed)


@pytest.mark.parametrize("code", [ENDLESS, STUCK_WRITER, DEAF], ids=["solving", "writing", "deaf"])
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_stop_quickly_and_leave_the_old_file(
    tmp_path: Path, small: Path, start: Start, code: str, sent: signal.Signals, status: int
) -> None:
    target = tmp_path / "a.png"
    target.write_bytes(b"old")
    process = start("convert", small, target, "--overwrite", "--method", "bilinear", code=code)
    assert process.stdout.readline() == b"solving\n"
    process.send_signal(sent)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == status, errors
    assert b"Traceback" not in errors
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.png"]


def test_second_interrupt_stops_at_once(tmp_path: Path, small: Path, start: Start) -> None:
    process = start("convert", small, tmp_path / "a.png", "--method", "bilinear", code=DEAF + PATIENT)
    assert process.stdout.readline() == b"solving\n"
    _press_until_over(process)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert os.listdir(tmp_path) == []


# What takes its time on the way out, each at another stage of it.
UNWINDING = (
    ENDLESS
    + """
from typer.core import TyperGroup
def slowly(*arguments, invoke=TyperGroup.invoke):
    try:
        return invoke(*arguments)
    finally:
        print("leaving", flush=True)
        time.sleep(600)
TyperGroup.invoke = slowly
"""
)

TELLING = (
    ENDLESS
    + """
import typer
def slowly(*_, **__):
    print("leaving", flush=True)
    time.sleep(600)
typer.echo = slowly
"""
)

SHUTTING_DOWN = """
import atexit
import time
import demosaic_ntc.workflows.conversion as conversion
def slowly():
    print("leaving", flush=True)
    time.sleep(600)
def endless(*_, **__):
    atexit.register(slowly)
    print("solving", flush=True)
    while True:
        time.sleep(0.05)
conversion.complete_mosaic = endless
"""

FINALISING = (
    ENDLESS
    + """
import os, sys
class Slow:
    def __del__(self, write=os.write, sleep=time.sleep):
        write(1, b"leaving\\n")
        sleep(0.5)
sys.slow = Slow()  # what is left when all else is gone
"""
)


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "code",
    [UNWINDING, TELLING, SHUTTING_DOWN, FINALISING],
    ids=["unwinding", "telling", "shutting down", "finalising"],
)
def test_a_second_signal_on_the_way_out_does_not_change_the_exit_code(
    tmp_path: Path, small: Path, start: Start, code: str, second: signal.Signals
) -> None:
    process = start("convert", small, tmp_path / "a.png", "--method", "bilinear", code=code)
    assert process.stdout.readline() == b"solving\n"
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == b"leaving\n"
    process.send_signal(second)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, errors
    assert b"Traceback" not in errors
    assert os.listdir(tmp_path) == []


def test_a_second_interrupt_is_heard_where_nobody_reads_along(
    tmp_path: Path, small: Path, start: Start
) -> None:
    process = start("convert", small, tmp_path / "a.png", "--method", "bilinear", code=DEAF + PATIENT)
    assert process.stdout.readline() == b"solving\n"
    process.stderr.close()
    try:
        _press_until_over(process)
        assert process.wait(timeout=PATIENCE) == 130
    finally:
        process.kill()
        process.stdout.close()


def test_killed_writer_leaves_the_old_file(tmp_path: Path, small: Path, start: Start) -> None:
    target = tmp_path / "a.png"
    target.write_bytes(b"old")
    process = start("convert", small, target, "--overwrite", "--method", "bilinear", code=STUCK_WRITER)
    assert process.stdout.readline() == b"solving\n"
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert target.read_bytes() == b"old"
    left = [name for name in os.listdir(tmp_path) if name != "a.png"]
    assert all(name.endswith(".partial") for name in left)


@pytest.mark.slow
def test_install_and_home_that_nobody_can_write_to(tmp_path: Path, small: Path) -> None:
    """Kernels then have no folder to be cached in; they are compiled anew instead of failing at import.

    Files where the cache folders would be stop root as well as anybody else.
    """
    root = Path(__file__).resolve().parents[2]
    for package in ("demosaic_ntc", "cli", "evaluation"):
        shutil.copytree(root / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
        for folder, _, _ in os.walk(tmp_path / package):
            (Path(folder) / "__pycache__").touch()
    program = "from cli.app import app; app()"
    answer = subprocess.run(
        [sys.executable, "-c", program, small, tmp_path / "a.png", "--method", "bilinear"],
        env={"HOME": "/dev/null", "PYTHONPATH": str(tmp_path), "PATH": os.environ["PATH"]},
        cwd=tmp_path,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "a.png").exists()
    (warning,) = answer.stderr.decode().splitlines()
    assert warning.startswith("demosaic-ntc: warning: no folder can be written to keep compiled kernels")
    assert "NUMBA_CACHE_DIR" in warning
