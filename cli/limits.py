"""What the program needs of a machine before any library is loaded: some of them end or hang without it."""

import os
import re
import sys

# Numpy's and Numba's libraries are mapped, whether used or not.
LEAST_ADDRESS_SPACE = 1_000_000_000

_MOMENT = re.compile("[0-9]{1,12}")
_YEAR_10000 = 253_402_300_800  # in seconds of Unix


class TooLittleMemory(MemoryError):
    """The limit that was set leaves no room for the program itself."""


def forget_odd_date() -> None:
    """Drop a SOURCE_DATE_EPOCH that is no moment before the year 10000: libraries crash at it."""
    moment = os.environ.get("SOURCE_DATE_EPOCH")
    if moment is not None and not (_MOMENT.fullmatch(moment) and int(moment) < _YEAR_10000):
        del os.environ["SOURCE_DATE_EPOCH"]


def check_limits() -> None:
    """Refuse a limit on memory in which libraries would hang; keep them from starting threads in a tight one.

    Where threads cannot be started, OpenBLAS raises a signal as if somebody had interrupted the program.
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
