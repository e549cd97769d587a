"""Works that take no time, and works that go wrong on purpose; workers import them from here."""

import ctypes
import errno
import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from demosaic_ntc.batch.job import JobWork, WorkResult
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.atomic import whole_file
from demosaic_ntc.run import Progress, ReportProgress


@dataclass(frozen=True, slots=True)
class Copy:
    """Copy the file."""

    fingerprint: str = "copy"

    def prepare(self) -> None:
        """Nothing is needed."""

    def __call__(
        self, source: Path, target: Path, *, overwrite: bool, threads: int, progress: ReportProgress
    ) -> WorkResult:
        progress(Progress("copying", 0, 1))
        with whole_file(target, overwrite=overwrite) as file:
            file.write(source.read_bytes())
        return WorkResult(pixels=1000, seconds={"copying": 0.5}, notices=(f"{threads} threads",))


def _read_null(_target: Path) -> None:
    ctypes.string_at(0)


def _be_killed(_target: Path) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _leave(_target: Path) -> None:
    os._exit(3)


def _hang(target: Path) -> None:
    """For ever, in compiled code that hears nothing, with half a result on the disk."""
    with whole_file(target, overwrite=True) as file:
        file.write(b"half")
        file.flush()
        hashlib.pbkdf2_hmac("sha256", b"", b"", 2_000_000_000)


def _sleep(_target: Path) -> None:
    time.sleep(600)


def _linger(_target: Path) -> None:
    time.sleep(0.3)


def _allocate(_target: Path) -> None:
    """All the memory there is, at once."""
    bytearray(2**36)


def _grow(_target: Path) -> None:
    """Bit by bit, every page in use."""
    taken = []
    while True:  # not faster than somebody who looks now and then can notice
        taken.append(bytearray(b"\1") * 2**22)
        time.sleep(0.005)


def _grow_apart(_target: Path) -> None:
    """In a child, as a decoder is, which ends with its parent."""
    code = (
        "import os, time\nparent, taken = os.getppid(), []\nwhile os.getppid() == parent:\n"
        "    taken.append(bytearray(b'\\1') * 2**22)\n    time.sleep(0.005)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def _fill_disk(target: Path) -> None:
    with whole_file(target, overwrite=True) as file:
        file.write(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _be_wrong(_target: Path) -> None:
    raise RuntimeError("surprise")


def _edit(target: Path) -> None:
    """Somebody else saves into the result that is there."""
    target.write_bytes(b"edited meanwhile")


def _refuse(_target: Path) -> None:
    raise InputError("will not do; give another")


def _talk(_target: Path) -> None:
    os.write(1, b"last words on stdout\n")
    os.write(2, b"last words on stderr\n")
    os.abort()


FAULTS: dict[str, Callable[[Path], None]] = {
    "segv": _read_null,
    "late": _read_null,
    "after": _be_killed,
    "kill": _be_killed,
    "exit": _leave,
    "hang": _hang,
    "sleep": _sleep,
    "linger": _linger,
    "allocate": _allocate,
    "grow": _grow,
    "grow apart": _grow_apart,
    "full": _fill_disk,
    "bug": _be_wrong,
    "refuse": _refuse,
    "edit": _edit,
    "talk": _talk,
}


@dataclass(frozen=True, slots=True)
class Faulty:
    """Another work that goes wrong at files of certain names; at `*`, at all."""

    faults: Mapping[str, str]
    inner: JobWork = field(default_factory=Copy)

    @property
    def fingerprint(self) -> str:
        return self.inner.fingerprint

    def prepare(self) -> None:
        """As the other work does, unless that is what goes wrong."""
        if "prepare" in self.faults:
            FAULTS[self.faults["prepare"]](Path())
        self.inner.prepare()

    def __call__(
        self, source: Path, target: Path, *, overwrite: bool, threads: int, progress: ReportProgress
    ) -> WorkResult:
        fault = self.faults.get(source.name, self.faults.get("*"))
        if fault == "after":  # the picture is there
            self.inner(source, target, overwrite=overwrite, threads=threads, progress=progress)
        if fault == "late":  # what crashes then is no decoder
            progress(Progress("decoding", 1, 1))
            progress(Progress("groups", 0, 1))
        if fault is not None:
            FAULTS[fault](target)
        return self.inner(source, target, overwrite=overwrite, threads=threads, progress=progress)
