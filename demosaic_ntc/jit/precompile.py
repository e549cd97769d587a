"""Kernels compiled before they are needed: once for a machine, by all its processors, one run for all.

Numba compiles in one thread at a time, so processes of their own do it and leave the results in its cache.
Which kernels are there is put on record beside them. Where nothing can be kept, or no process be started,
nothing is prepared: kernels are then compiled when they are first called, as ever.
"""

import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Lock

from demosaic_ntc.jit.aot_cache import kernel_sources
from demosaic_ntc.jit.compiled import target_machine
from demosaic_ntc.machine import processors

Report = Callable[[int, int], None]  # kernels ready, of how many

# How often one that waits for another looks how far it is.
_TICK_SECONDS = 0.2

_LEASH = (
    "import sys; from demosaic_ntc.parent_death import die_with_parent; die_with_parent(int(sys.argv[1]))"
)
_COMPILER = "from demosaic_ntc.jit.signatures import main; main()"


@dataclass(frozen=True, slots=True)
class KernelRecord:
    """The names of the kernels that are compiled for this machine and these sources, a line each."""

    path: Path

    @classmethod
    def of(cls, folder: Path) -> "KernelRecord":
        """Return the record that lies with the compiled kernels of this machine."""
        key = sha256("\n".join([sys.version, target_machine(), *_stamps()]).encode()).hexdigest()
        return cls(folder / f"demosaic_ntc-{key[:16]}.prepared")

    def find_missing(self, names: Collection[str]) -> list[str]:
        """Return which of the kernels are not on record, whatever is left of it."""
        with suppress(OSError):
            there = set(self.path.read_text(encoding="utf-8", errors="replace").splitlines())
            return [name for name in names if name not in there]
        return list(names)

    def add(self, name: str) -> None:
        """Put a kernel on record, if that can be written."""
        with suppress(OSError), self.path.open("a", encoding="utf-8") as file:
            file.write(f"{name}\n")


def _stamps() -> Iterator[str]:
    """What changes with the sources of kernels: like Numba, times and sizes stand for contents."""
    root = Path(__file__).parents[1]
    for path in kernel_sources():
        facts = path.stat()
        yield f"{path.relative_to(root)} {facts.st_mtime_ns} {facts.st_size}"


def prepare(families: Collection[Sequence[str]], ledger: KernelRecord | None, report: Report) -> None:
    """Have kernels compiled by all processors; wait where another process is at it already.

    Kernels of a family share what they call, so one process compiles all of it: what they share, once.
    Families are in the order in which they are begun. `report` is called only if there is something to do, at
    first at once.
    """
    names = [name for family in families for name in family]
    if ledger is None or not ledger.find_missing(names):
        return
    total = len(names)
    with _alone(ledger, lambda: report(total - len(ledger.find_missing(names)), total)):
        missing = [found for family in families if (found := ledger.find_missing(family))]
        if missing:
            _Preparation(missing, ledger, total, report).run(min(processors(), len(missing)))


@contextmanager
def _alone(ledger: KernelRecord, tell: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of a ledger; `tell` is called while another process has it.

    Where there are no locks, several processes may compile the same: a waste, no harm.
    """
    try:
        import fcntl  # noqa: PLC0415 (not on every system)

        file = ledger.path.with_suffix(".lock").open("a")
    except (ImportError, OSError):
        yield
        return
    with file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                tell()
                time.sleep(_TICK_SECONDS)
            except OSError:
                break
        yield


class _Preparation:
    """Kernels that are being compiled."""

    def __init__(self, missing: list[list[str]], ledger: KernelRecord, total: int, report: Report) -> None:
        self._waiting = deque(missing)
        self._ledger, self._total, self._report = ledger, total, report
        self._ready, self._counting = total - sum(map(len, missing)), Lock()
        self._compilers: list[subprocess.Popen[str]] = []

    def run(self, processes: int) -> None:
        """Share the kernels out among processes, each taking the next family when it is done with one."""
        self._report(self._ready, self._total)
        with suppress(OSError):  # what cannot be prepared is compiled when it is called
            self._compilers = [_compiler() for _ in range(processes)]
        with ThreadPoolExecutor(max(len(self._compilers), 1)) as pool:
            try:
                for _ in pool.map(self._feed, self._compilers):
                    pass
            finally:
                for compiler in self._compilers:
                    compiler.kill()
        for compiler in self._compilers:
            with compiler:
                pass

    def _feed(self, compiler: "subprocess.Popen[str]") -> None:
        """Give a process one kernel after the other until there are none, or until it is gone."""
        with suppress(IndexError, OSError):
            while True:
                for name in self._waiting.popleft():
                    if not _has_compiled(compiler, name):
                        return
                    with self._counting:
                        self._ledger.add(name)
                        self._ready += 1
                        self._report(self._ready, self._total)


def _has_compiled(compiler: "subprocess.Popen[str]", name: str) -> bool:
    """Have a process compile a kernel; tell whether it did."""
    assert compiler.stdin is not None
    assert compiler.stdout is not None
    compiler.stdin.write(f"{name}\n")
    compiler.stdin.flush()
    return compiler.stdout.readline().strip() == name


def _compiler() -> "subprocess.Popen[str]":
    """Start a process that compiles what it is told."""
    return subprocess.Popen(
        # -P: modules come from where this process has them, not from the current folder.
        [sys.executable, "-P", "-c", f"{_LEASH}\n{_COMPILER}", str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
