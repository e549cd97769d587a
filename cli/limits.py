"""What the program needs of a machine before any library is loaded: some of them end or hang without it."""

import os
import sys

# Numpy's and Numba's libraries are mapped, whether used or not.
LEAST_ADDRESS_SPACE = 1_000_000_000


class TooLittleMemory(MemoryError):
    """The limit that was set leaves no room for the program itself."""


def check_limits() -> None:
    """Refuse a limit on memory in which libraries would hang; keep them from starting threads in a tight one.

    Where threads can not be started, OpenBLAS raises a signal as if somebody had interrupted the program.
    """
    if sys.platform == "win32":
        return
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if limit < LEAST_ADDRESS_SPACE:
        least = f"{LEAST_ADDRESS_SPACE / 1e9:g} GB"
        raise TooLittleMemory(
            f"the limit of {limit / 1e9:.2g} GB of memory is too low; allow {least} (ulimit -v)"
        )
