"""Kernels that are not compiled when they are called: compiled by all processors, once for a machine.

Numba compiles in one thread at a time, so processes of their own do it and leave the results in its cache.
The first kernel that is missing has them compile its module first, then those of all other modules that are
loaded; a call waits for its own kernel alone. While a process has others compile it holds a lock. Whoever
finds it taken waits until the kernel is there, or until the lock is free. Where nothing can be kept or no
process be started, kernels are compiled by whoever calls them.
"""

import atexit
import gc
import os
import signal
import subprocess
import sys
import time
import warnings
from collections import deque
from collections.abc import Collection, Iterable
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path
from threading import Lock, Thread
from typing import IO

from numba.core.caching import CompileResultCacheImpl

from demosaic_ntc.jit.entries import Entry, load_all, loaded
from demosaic_ntc.jit.kernel_cache import NOT_KEPT
from demosaic_ntc.jit.waiting import wait
from demosaic_ntc.machine import processors

# How often one that waits looks how far it is.
_TICK_SECONDS = 0.1

_LEASH = (
    "import sys; from demosaic_ntc.parent_death import die_with_parent; die_with_parent(int(sys.argv[1]))"
)
_COMPILER = "from demosaic_ntc.jit.precompile import main; main()"


def await_kernel(entry: Entry) -> bool:
    """Wait until a kernel is compiled; tell whether it is. Numba lets one thread at a time call this."""
    if _is_compiler or not entry.can_be_kept:
        return False
    return not _compilers.await_all([entry], [each for each in loaded.values() if not each.is_rare])


def load_ready() -> Thread:
    """Load what is ready of all modules at hand in a thread of its own, while there is time to; return that.

    Numba takes some hundredths of a second for each kernel, and more for the first. The thread is waited for
    when the program ends: to end it in the middle would end the program with a crash.
    """

    def load() -> None:
        for entry in list(loaded.values()):
            if not entry.is_rare and entry.is_ready:
                entry.compile()

    thread = Thread(target=load)
    thread.start()
    return thread


def prepare_all() -> list[Entry]:
    """Have every kernel compiled; return those that could not be, or not be kept."""
    entries = load_all()
    left = [entry for entry in entries if not entry.can_be_kept and not entry.is_shipped]
    return left + _compilers.await_all([entry for entry in entries if entry.can_be_kept], entries)


def find_folder() -> Path | None:
    """Return where kernels are kept, as those beside this file would be; None where nothing is."""
    try:
        return Path(CompileResultCacheImpl(find_folder).locator.get_cache_path())
    except (RuntimeError, OSError):
        return None


def main() -> None:
    """Compile what standard input names, a kernel per line, and say so when each is done."""
    global _is_compiler
    _is_compiler = True
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    with suppress(ImportError):  # a Numba of another making takes its time
        from demosaic_ntc.jit import numba_patches  # noqa: PLC0415 (see above)

        numba_patches.take_short_cuts()
        numba_patches.finish_outermost_only()
    warnings.filterwarnings("error", message=NOT_KEPT)  # what is not kept is not done
    gc.disable()  # what compiling leaves behind is gone with this process
    for line in sys.stdin:
        import_module(line.partition(":")[0])
        loaded[line.strip()].compile()
        sys.stdout.write(line)
        sys.stdout.flush()


_is_compiler = False


class Compilers:
    """The processes that compile for this one, a thread with each, and the lock that is held meanwhile.

    What they fail to compile is not given to them again.
    """

    def __init__(self) -> None:
        self._waiting: deque[list[str]] = deque()
        self._taken: set[str] = set()
        self._processes: list[subprocess.Popen[str]] = []
        self._at_work, self._counting = 0, Lock()
        self._lock: IO[str] | None = None

    def await_all(self, wanted: Collection[Entry], others: Collection[Entry]) -> list[Entry]:
        """Wait until kernels are ready, while others are compiled as well; return those that are not."""
        missing = [entry for entry in wanted if not entry.is_ready]
        if not missing:
            return []
        left = {entry.name: entry for entry in (*others, *wanted)}
        total = len(left)
        with wait() as report:
            while missing and self._take(missing, others):
                left = {name: entry for name, entry in left.items() if not entry.is_ready}
                report(total - len(left), total)
                time.sleep(_TICK_SECONDS)
                missing = [entry for entry in missing if not entry.is_ready]
        return missing

    def _take(self, wanted: Collection[Entry], others: Iterable[Entry]) -> bool:
        """See to it that kernels are compiled, here or by another process; tell whether there is hope."""
        with self._counting:
            urgent = {entry.name for entry in wanted}
            self._waiting = deque(sorted(self._waiting, key=urgent.isdisjoint))
            fresh = [entry for entry in wanted if entry.name not in self._taken]
            if not fresh and not self._waiting:
                return self._at_work > 0
            if not self._at_work and not self._hold_lock():
                return True
            if fresh:
                self._queue(fresh, others)
            for _ in range(min(processors(), len(self._waiting)) - self._at_work):
                self._at_work += 1
                Thread(target=self._work, daemon=True).start()
            return True

    def _queue(self, wanted: Iterable[Entry], others: Iterable[Entry]) -> None:
        """Put modules in front: those with what is wanted, then others, the most work first."""
        urgent = {entry.name: entry for entry in wanted}
        taken = self._taken | urgent.keys()
        later = [entry for entry in others if entry.name not in taken and not entry.is_ready]
        families: dict[str, list[Entry]] = {}
        for entry in (*urgent.values(), *later):
            families.setdefault(entry.module, []).append(entry)
        # A family begins with what is wanted of it, if anything.
        order = sorted(
            families.values(),
            key=lambda family: (family[0].name not in urgent, -sum(entry.work for entry in family)),
        )
        self._waiting.extendleft([entry.name for entry in family] for family in reversed(order))
        self._taken.update(entry.name for family in order for entry in family)

    def _hold_lock(self) -> bool:
        """Take the lock, unless another process has it.

        Where there are no locks, several processes may compile the same: a waste, no harm.
        """
        self._release_lock()
        try:
            import fcntl  # noqa: PLC0415 (not on every system)

            folder = find_folder()
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
                self._lock = (folder / "demosaic_ntc.lock").open("a")
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._release_lock()
            return False
        except (ImportError, OSError):
            pass
        return True

    def _release_lock(self) -> None:
        """Let other processes have the lock."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _work(self) -> None:
        """Have a process compile one family after the other; the last thread gives the lock back."""
        try:
            with suppress(OSError, IndexError):
                family = self._next_family()
                with _start_compiler() as compiler:
                    self._processes.append(compiler)
                    with ExitStack() as stack:
                        stack.callback(compiler.kill)
                        while all(_has_compiled(compiler, name) for name in family):
                            family = self._next_family()
        finally:
            with self._counting:
                self._at_work -= 1
                if not self._at_work:
                    self._release_lock()

    def _next_family(self) -> list[str]:
        """Return what is to be compiled next; raises IndexError if there is nothing."""
        with self._counting:
            return self._waiting.popleft()

    def end(self) -> None:
        """End what is still compiled when nobody waits for it any more."""
        self._waiting.clear()
        for process in self._processes:
            process.kill()
            process.wait()

    def forget(self) -> None:
        """Start anew in a forked process, which has none of the threads."""
        self._release_lock()
        self.__init__()  # type: ignore[misc]


_compilers = Compilers()
atexit.register(_compilers.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_compilers.forget)


def _has_compiled(compiler: "subprocess.Popen[str]", name: str) -> bool:
    """Have a process compile a kernel; tell whether it did."""
    assert compiler.stdin is not None
    assert compiler.stdout is not None
    compiler.stdin.write(f"{name}\n")
    compiler.stdin.flush()
    return compiler.stdout.readline().strip() == name


def _start_compiler() -> "subprocess.Popen[str]":
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
