"""Processes that end with the one that started them, even while compiled code holds every thread.

Imports next to nothing: whoever is killed while a child still imports must not leave it behind.
"""

import os
import signal
import sys
from contextlib import suppress

# Among all processes, the system ends such a child first when memory runs out, never its parent.
_EXPENDABLE = "500"

_SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)


def die_with_parent(parent: int) -> None:
    """Let the system end this process with its parent; end at once if that is gone already."""
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415 (needed here only)

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
    with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write(_EXPENDABLE)
