"""What a wait for kernels means to others: they hear how far it is, and no clock of work counts it.

Loads nothing, so that whoever only looks at a clock does not load a compiler.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

Report = Callable[[int, int], None]  # kernels ready, of how many


class _Log:
    """Puts into the log, once, why this takes a while."""

    def __init__(self) -> None:
        self._has_spoken = False

    def __call__(self, ready: int, total: int) -> None:
        """Say it, unless it was said."""
        if not self._has_spoken:
            logging.getLogger("demosaic_ntc").warning(
                "preparing kernels for this machine, once: %d of %d", ready, total
            )
        self._has_spoken = True


class _WorkClock:
    """Seconds from some moment, which stand still during waits."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waits, self._since, self._waited = 0, 0.0, 0.0

    def read(self) -> float:
        """Return what it shows."""
        with self._lock:
            return (self._since if self._waits else time.monotonic()) - self._waited

    @contextmanager
    def stop(self) -> Iterator[None]:
        """Let it stand still."""
        with self._lock:
            if not self._waits:
                self._since = time.monotonic()
            self._waits += 1
        try:
            yield
        finally:
            with self._lock:
                self._waits -= 1
                if not self._waits:
                    self._waited += time.monotonic() - self._since


_clock = _WorkClock()
_reports: list[Report] = [_Log()]


def read_work_clock() -> float:
    """Return seconds from some moment, without those that were spent waiting for kernels."""
    return _clock.read()


@contextmanager
def report_to(report: Report) -> Iterator[None]:
    """Within the block tell `report` of waits; otherwise a line of the log says that there is one."""
    _reports.append(report)
    try:
        yield
    finally:
        _reports.remove(report)


@contextmanager
def wait() -> Iterator[Report]:
    """Stop the clock of work; what is yielded is to be told how far it is."""
    with _clock.stop():
        yield _reports[-1]
