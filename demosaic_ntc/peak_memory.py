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
    unit = 1 if sys.platform == "darwin" else 1024
    return _high_water(_STATUS) or unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def peak_bytes_of(pid: int) -> int:
    """The most resident memory another process has had; 0 where it is gone or the system does not tell."""
    return _high_water(Path(f"/proc/{pid}/status"))


def _high_water(status: Path) -> int:
    """The high-water mark in a file of proc(5), in bytes; 0 where there is none."""
    with suppress(OSError):
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    return 0
