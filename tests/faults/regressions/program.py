"""The program as a user starts it, and files to give to it: nothing here knows how the program is made.

So the tests of this folder can be put into any version that has the command line and the Python entrances.
"""

import os
import resource
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parents[3]
SIDE = 24
REPORT = "demosaic-ntc-report.jsonl"

# Seconds within which a program ends on a machine under any load; what takes longer has failed.
PATIENCE = 240.0

_CODE = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\nfrom cli.app import app\napp()"
)
_SHELL = f"{quote(sys.executable)} -c {quote(_CODE)}"


@dataclass(frozen=True)
class Answer:
    """How a run ended."""

    code: int
    output: str
    errors: str
    cpu_seconds: float

    @property
    def is_crash(self) -> bool:
        """Whether it looks as if the program had a bug: exit 70, a traceback, the death by a signal."""
        return self.code in (70, 134, 139) or self.code < 0 or "Traceback" in self.errors


def _environment(extra: dict[str, str]) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **extra}


def start(*words: object, **environment: str) -> "subprocess.Popen[bytes]":
    """Start the program with these words, and go on."""
    command = [sys.executable, "-c", _CODE, *map(str, words)]
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=_environment(environment), **streams)


def run(*words: object, patience: float = PATIENCE, **environment: str) -> Answer:
    """Run the program with these words to its end."""
    return end_of(start(*words, **environment), patience)


def shell(line: str, folder: Path, **environment: str) -> Answer:
    """Run a line of a shell in which ``PROGRAM`` and ``PYTHON`` stand for the program and its interpreter."""
    process = subprocess.Popen(
        ["bash", "-c", line.replace("PROGRAM", _SHELL).replace("PYTHON", quote(sys.executable))],
        cwd=folder,
        env=_environment(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    return end_of(process, PATIENCE)


def end_of(process: "subprocess.Popen[bytes]", patience: float = PATIENCE) -> Answer:
    """What a process says and how it ends; one that takes too long is killed, and has failed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        output, errors = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired as error:
        process.kill()
        process.communicate()
        raise AssertionError(f"the program did not end within {patience:.0f} s") from error
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Answer(
        process.returncode, output.decode("utf-8", "replace"), errors.decode("utf-8", "replace"), used
    )


def customise(folder: Path, code: str) -> str:
    """A path of modules on which every interpreter runs this code first."""
    (folder / "custom").mkdir()
    (folder / "custom" / "sitecustomize.py").write_text(code, encoding="ascii")
    return f"{folder / 'custom'}{os.pathsep}{ROOT}"


@contextmanager
def running(*words: object) -> "Iterator[subprocess.Popen[bytes]]":
    """The program while it runs; it is ended with the block, however that ends."""
    process = start(*words)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def until(condition: Callable[[], Any], seconds: float = PATIENCE) -> bool:
    """Wait for something that has to happen; tells whether it has."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def chunk(name: bytes, data: bytes) -> bytes:
    """A chunk of a PNG."""
    return struct.pack(">L", len(data)) + name + data + struct.pack(">L", zlib.crc32(name + data))


def with_behind_header(path: Path, extra: bytes) -> None:
    """Put bytes behind the header of a PNG."""
    whole = path.read_bytes()
    path.write_bytes(whole[:33] + extra + whole[33:])


def write_picture(path: Path) -> Path:
    """A small picture of noise, and beside it the mask ``NAME.mask.png``; returns the mask's path."""
    pixels = np.random.default_rng(0).integers(256, size=(SIDE, SIDE, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)
    missing = np.zeros((SIDE, SIDE), np.uint8)
    missing[4:6, 4:9] = 255
    mask = path.with_name(f"{path.stem}.mask.png")
    Image.fromarray(missing).save(mask)
    return mask
