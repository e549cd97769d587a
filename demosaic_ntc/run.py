"""How a restoration is run: its threads, whom it reports to, when it ends, and what it takes.

`Deadline` is the only clock of the mathematics, injected so that it can be tested without waiting; it stands
still while kernels are compiled, once on a machine.
"""

import math
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from ctypes import CDLL
from dataclasses import dataclass, field, replace
from itertools import islice
from numbers import Integral
from threading import Lock
from typing import TypeVar

from demosaic_ntc.errors import InputError, as_number
from demosaic_ntc.jit.waiting import read_work_clock
from demosaic_ntc.machine import processors


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment after which a computation should return what it has."""

    moment: float = math.inf
    clock: Callable[[], float] = field(default=read_work_clock)
    _heeded: list[bool] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def after(cls, seconds: float | None, clock: Callable[[], float] = read_work_clock) -> "Deadline":
        """Return the deadline some seconds from now, or none at all."""
        return cls() if seconds is None else cls(clock() + seconds, clock)

    @property
    def remaining(self) -> float:
        """The seconds left; infinite without a deadline."""
        return math.inf if self.moment == math.inf else self.moment - self.clock()

    def is_over(self) -> bool:
        """Return whether the deadline has passed, and remember that somebody was told so."""
        over = self.moment < math.inf and self.clock() >= self.moment
        if over and not self._heeded:
            self._heeded.append(True)
        return over

    @property
    def has_cut(self) -> bool:
        """Whether `is_over` has ever said yes: something was left undone."""
        return bool(self._heeded)


Item = TypeVar("Item")
Result = TypeVar("Result")
Report = Callable[[float], None]  # the share of a stage that is done

_UNITS = 1000  # of progress in a stage

# The C library of most Linux systems keeps what threads have freed for itself until it is told to return it.
_trim = getattr(CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of a restoration: `done` of `total` units of `stage`."""

    stage: str
    done: int
    total: int


ReportProgress = Callable[[Progress], None]


def ignore_progress(progress: Progress) -> None:
    """Report nothing."""


def _ignore_share(share: float) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True)
class Run:
    """The context of a restoration, checked once and handed down as one."""

    threads: int = 1
    progress: ReportProgress = ignore_progress  # told what is done of every stage
    deadline: Deadline = field(default_factory=Deadline)
    want_error: bool = False  # whether expected errors are to be returned as well
    report: Report = _ignore_share  # told the share that is done of the stage at hand

    @classmethod
    def start(
        cls,
        threads: int | None = None,
        progress: ReportProgress | None = None,
        time_limit: float | None = None,
        want_error: bool = False,
    ) -> "Run":
        """Return the context of a restoration that begins now; raise if it cannot be."""
        if time_limit is not None and not as_number(time_limit) >= 0:
            raise InputError(f"time_limit is {time_limit!r}; give seconds from 0 up, or None")
        deadline = Deadline.after(time_limit)
        return cls(check_threads(threads), progress or ignore_progress, deadline, bool(want_error))

    def stage(self, name: str) -> "Run":
        """Return the run of a stage, which reports shares of it; what was freed before is given back."""
        if _trim is not None:
            _trim(0)
        return replace(
            self, report=lambda share: self.progress(Progress(name, round(share * _UNITS), _UNITS))
        )

    def part(self, start: float, stop: float) -> "Run":
        """Return the run of a part of the stage, from one share of it to another."""
        return replace(self, report=lambda share: self.report(start + (stop - start) * share))

    def map(
        self, work: Callable[[Item], Result], items: Sequence[Item], waiting: int = 1
    ) -> Iterator[Result]:
        """Work on items in the threads of the run; yield results in their order, as `imap_threads` does."""
        return imap_threads(work, items, self.threads, waiting)

    def do(self, work: Callable[[Item], object], items: Sequence[Item]) -> None:
        """Work on items in the threads of the run, for what that does and not for what it returns."""
        do_threads(work, items, self.threads)


def check_threads(threads: int | None) -> int:
    """Return how many threads to use, or raise; by default one for each processor this process may use."""
    if threads is None:
        return processors()
    if not isinstance(threads, Integral) or threads < 1:
        raise InputError(
            f"{threads!r} threads cannot work; give a positive whole number, or None for all processors"
        )
    return int(threads)


def imap_threads(
    work: Callable[[Item], Result], items: Sequence[Item], threads: int, waiting: int = 1
) -> Iterator[Result]:
    """Map over items in a thread pool; results come in the order of the items.

    Up to ``waiting`` finished results may wait for a slower one before them: give many where results are
    small. With one thread, the work is done in the thread that asks. After an error no item is begun.
    """
    if threads == 1:
        yield from map(work, items)
        return
    rest, ahead = iter(items), min(threads, len(items)) + waiting  # any number of threads may be asked for
    with ThreadPoolExecutor(threads) as pool:
        running = deque(pool.submit(work, item) for item in islice(rest, ahead))
        try:
            while running:
                result = running.popleft().result()
                running.extend(pool.submit(work, item) for item in islice(rest, 1))
                yield result
        finally:
            for each in running:
                each.cancel()


def do_threads(work: Callable[[Item], object], items: Sequence[Item], threads: int) -> None:
    """Work on items in a thread pool, for what that does and not for what it returns."""
    for _ in imap_threads(work, items, threads, len(items)):
        pass


@dataclass(slots=True)
class Timings:
    """Collects seconds and notices on the way."""

    seconds: dict[str, float] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    apart: float = 0.0  # seconds charged to other stages by `part`
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)
    _begun: list[float] = field(default_factory=list, repr=False)  # when parts that still run were begun

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time inside for this stage, without that of parts."""
        start, apart = read_work_clock(), self.apart
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + read_work_clock() - start - (self.apart - apart)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Charge the time inside to another stage than the one it happens in; threads at once count once."""
        with self._lock:
            self._begun.append(read_work_clock())
        try:
            yield
        finally:
            with self._lock:
                start = self._begun.pop()  # the first of them stays until nobody is inside
                if not self._begun:
                    seconds = read_work_clock() - start
                    self.apart += seconds
                    self.seconds[name] = self.seconds.get(name, 0.0) + seconds


def rows_as(stage: str, report: ReportProgress) -> Callable[[int, int], None]:
    """Rows done, reported as progress of a stage."""
    return lambda done, total: report(Progress(stage, done, total))
