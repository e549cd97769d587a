"""How a restoration is run: its threads, whom it reports to, when it ends, and whether errors are wanted."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice
from numbers import Integral
from typing import TypeVar

from demosaic_ntc.deadline import Deadline
from demosaic_ntc.errors import InputError, as_number
from demosaic_ntc.machine import processors

Item = TypeVar("Item")
Result = TypeVar("Result")
Report = Callable[[float], None]  # the share of a stage that is done

_UNITS = 1000  # of progress in a stage


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
        deadline = Deadline.after(check_time_limit(time_limit))
        return cls(check_threads(threads), progress or ignore_progress, deadline, bool(want_error))

    def stage(self, name: str) -> "Run":
        """Return the run of a stage, which reports shares of it."""
        return replace(
            self, report=lambda share: self.progress(Progress(name, round(share * _UNITS), _UNITS))
        )

    def part(self, start: float, stop: float) -> "Run":
        """Return the run of a part of the stage, from one share of it to another."""
        return replace(self, report=lambda share: self.report(start + (stop - start) * share))

    def map(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Work on items in the threads of the run; yield the results in the order of the items."""
        return imap_threads(work, items, self.threads)

    def do(self, work: Callable[[Item], object], items: Sequence[Item]) -> None:
        """Work on items in the threads of the run, for what that does and not for what it returns."""
        for _ in imap_threads(work, items, self.threads):
            pass


def check_threads(threads: int | None) -> int:
    """Return how many threads to use, or raise; by default one for each processor this process may use."""
    if threads is None:
        return processors()
    if not isinstance(threads, Integral) or threads < 1:
        raise InputError(
            f"{threads!r} threads cannot work; give a positive whole number or none for all processors"
        )
    return int(threads)


def check_time_limit(seconds: float | None) -> float | None:
    """Return how many seconds a restoration may take, or raise."""
    if seconds is None:
        return None
    if not as_number(seconds) >= 0:
        raise InputError(f"time_limit is {seconds!r}; give seconds from 0 up, or None")
    return as_number(seconds)


def imap_threads(work: Callable[[Item], Result], items: Sequence[Item], threads: int) -> Iterator[Result]:
    """Map over items in a thread pool, a few at a time; results come in the order of the items."""
    waiting = iter(items)
    with ThreadPoolExecutor(threads) as pool:
        running: list[Future[Result]] = [pool.submit(work, item) for item in islice(waiting, threads + 1)]
        while running:
            result = running.pop(0).result()
            running.extend(pool.submit(work, item) for item in islice(waiting, 1))
            yield result
