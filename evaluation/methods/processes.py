"""Commands in processes of their own: what each takes, how it ends, and limits of time and memory."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from tempfile import TemporaryFile
from time import perf_counter, sleep
from typing import IO, Literal

from demosaic_ntc.peak_memory import peak_bytes_of

from ..siblings import PROGRAM

_INTERVAL = 0.02  # seconds between two looks at a process


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """What a process may take before it is ended."""

    seconds: float = inf
    memory: float = inf  # bytes


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """How a process has ended and what it took."""

    code: int  # negative: the signal that ended it
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    output: str = ""
    errors: str = ""
    exceeded: Literal["", "time", "memory"] = ""  # why it was ended from outside


def python_command(program: str, *words: str) -> list[str]:
    """A short program for this Python; modules come from where `module_paths` says, not from the folder."""
    return [sys.executable, "-P", "-c", program, *words]


def make_command(*words: str) -> list[str]:
    """The command ``demosaic-ntc`` with these words."""
    return python_command(f"from {PROGRAM} import app; app()", *words)


def module_paths() -> dict[str, str]:
    """The variable by which another process finds modules where this one has them."""
    return {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def run_command(
    command: Sequence[str],
    allowance: ProcessLimits | None = None,
    environment: Mapping[str, str] | None = None,
) -> ProcessResult:
    """Run a command until it ends, or is ended because it takes more than is allowed."""
    with TemporaryFile() as output, TemporaryFile() as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env={**os.environ, **(environment or {})},
        )
        try:
            return _wait(process, allowance or ProcessLimits(), output, errors)
        finally:
            process.kill()  # does nothing to one that has ended
            process.wait()


def _wait(
    process: subprocess.Popen[bytes], allowance: ProcessLimits, output: IO[bytes], errors: IO[bytes]
) -> ProcessResult:
    """Watch a process until it ends."""
    start, peak = perf_counter(), 0
    exceeded: Literal["", "time", "memory"] = ""
    while True:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        seconds = perf_counter() - start
        if pid:
            break
        peak = max(peak, peak_bytes_of(process.pid))
        exceeded = exceeded or _find_excess(allowance, seconds, peak)
        if exceeded:
            process.kill()
        sleep(_INTERVAL)
    process.returncode = os.waitstatus_to_exitcode(status)  # it is gone: nobody need wait for it again
    # The system's own peak counts what the process was before its program was loaded: this one.
    peak = peak or 1024 * used.ru_maxrss
    cpu = used.ru_utime + used.ru_stime
    return ProcessResult(process.returncode, seconds, cpu, peak, _text(output), _text(errors), exceeded)


def _find_excess(allowance: ProcessLimits, seconds: float, memory: int) -> Literal["", "time", "memory"]:
    """What a process has taken too much of, if anything."""
    if seconds > allowance.seconds:
        return "time"
    return "memory" if memory > allowance.memory else ""


def _text(file: IO[bytes]) -> str:
    """What was written into a file."""
    file.seek(0)
    return file.read().decode(errors="replace")
