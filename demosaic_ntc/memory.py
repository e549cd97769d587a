"""The peak of resident memory while something runs.

Linux keeps a high-water mark per process and resets it on request (proc(5), ``clear_refs``). Where that is
not possible the mark counts from the start of the process, and is an upper bound.
"""

import resource
import sys
from contextlib import suppress
from pathlib import Path

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")


def reset_peak() -> None:
    """Start the high-water mark anew, where the system can."""
    with suppress(OSError):
        _RESET.write_text("5")


def peak_bytes() -> int:
    """The most resident memory this process has had since the last reset."""
    with suppress(OSError):
        for line in _STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
