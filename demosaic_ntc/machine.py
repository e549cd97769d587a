"""The processes and the memory of this machine, by psutil or a harmless guess, and interpreters it starts.

psutil is loaded when it is first asked: processes that only decode do without.
"""

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from signal import Signals
from typing import Any

# What is taken for free where the system does not tell.
_PLENTY = 2**62

# Settings of the C library of Linux, by their numbers in malloc.h: how much freed memory a heap keeps, and
# the size from which on a block is mapped by itself, to be given back at once.
_KEPT, _MAPPED_FROM = (-1, 64 << 20), (-3, 16 << 20)


def processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that is dead but still listed, because nobody has taken note, does not."""
    import psutil  # noqa: PLC0415 (see above)

    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except (psutil.NoSuchProcess, ProcessLookupError):
        return False
    except Exception:  # not to be seen is not to be dead
        return True


def resident_bytes(pid: int) -> int:
    """The memory that a process uses; nothing once it is gone."""
    with suppress(Exception):
        import psutil  # noqa: PLC0415 (see above)

        return int(psutil.Process(pid).memory_info().rss)
    return 0


def resident_bytes_of_family(pid: int) -> int:
    """The memory that a process and its children use; nothing once it is gone."""
    with suppress(Exception):
        return sum(map(resident_bytes, (pid, *_children(pid))))
    return 0


def _children(pid: int) -> list[int]:
    """The children of a process: Linux has a list of them for every thread, elsewhere all are asked."""
    with suppress(OSError):
        lists = [task / "children" for task in Path(f"/proc/{pid}/task").iterdir()]
        return [int(child) for each in lists for child in each.read_text().split()]
    import psutil  # noqa: PLC0415 (see above)

    return [child.pid for child in psutil.Process(pid).children()]


def virtual_bytes(pid: int) -> int:
    """The address space that a process has; nothing once it is gone."""
    with suppress(Exception):
        import psutil  # noqa: PLC0415 (see above)

        return int(psutil.Process(pid).memory_info().vms)
    return 0


def processor_seconds(pid: int) -> float:
    """The time that a process has computed; nothing once it is gone."""
    with suppress(Exception):
        import psutil  # noqa: PLC0415 (see above)

        times = psutil.Process(pid).cpu_times()
        return float(times.user + times.system)
    return 0.0


def address_space() -> int | None:
    """What this process has reserved beyond what it uses, in bytes; None where the system does not tell."""
    with suppress(Exception):
        import psutil  # noqa: PLC0415 (see above)

        now = psutil.Process().memory_info()
        return int(now.vms - now.rss)
    return None


def available_memory() -> int:
    """The bytes of memory that could be used."""
    with suppress(Exception):
        import psutil  # noqa: PLC0415 (see above)

        return int(psutil.virtual_memory().available)
    return _PLENTY


def free_bytes(folder: Path) -> int:
    """The room that is left where a folder lies."""
    with suppress(Exception):
        return int(shutil.disk_usage(os.fspath(folder)).free)
    return _PLENTY


def keep_freed_memory() -> None:
    """Keep some of the memory that is freed, where the C library can: to ask for it anew costs time.

    Arrays of a tile come and go by the hundred, and the system clears every page that it hands out.
    """
    with suppress(AttributeError, OSError, TypeError):
        from ctypes import CDLL  # noqa: PLC0415 (processes that only decode do without)

        for setting in (_KEPT, _MAPPED_FROM):
            CDLL(None).mallopt(*setting)


def start_interpreter(program: str, *arguments: str, **how: Any) -> "subprocess.Popen[bytes]":
    """Start an interpreter that runs a program; `env` is what is added to the environment."""
    modules = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    how["env"] = {**os.environ, **how.get("env", {}), **modules}
    # -P: modules come from where this process has them, not from the current folder.
    return subprocess.Popen([sys.executable, "-P", "-c", program, *arguments], **how)


def explain_exit(code: int) -> str:
    """What an exit status means."""
    if code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return f"signal {-code}, {Signals(-code).name}"
    return f"signal {-code}"
