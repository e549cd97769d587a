"""A batch on the workers of an existing Dask scheduler, over storage that all of them share.

Each file is a task that takes one unit of the resource ``raw``, so that a worker's ``--resources raw=N`` says
how many files it takes at a time. The task runs a supervised process of its own, as a local batch does: a
file that crashes costs no worker, and limits hold. What a lost worker had begun goes to another one.

Dask Distributed: https://distributed.dask.org
"""

import os
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from importlib.metadata import version
from queue import Empty, SimpleQueue
from secrets import token_hex
from types import TracebackType
from typing import Any

from distributed import Client, Event, Future, KilledWorker, get_worker

from demosaic_ntc.batch.job import Allowance, Ended, Job, Outcome, Started, Status
from demosaic_ntc.batch.job import Event as BatchEvent
from demosaic_ntc.batch.stop import Stop
from demosaic_ntc.batch.supervisor import Supervisor
from demosaic_ntc.batch.worker import Terms
from demosaic_ntc.errors import ClusterError

RESOURCE = "raw"

# A task that fails for a reason of its worker, not of its file, is tried again this often.
_RETRIES = 2

# Files that wait at the scheduler for each that is worked on: enough that no worker waits for this process.
_AHEAD = 2

_TICK_SECONDS = 0.2
_CONNECT_SECONDS = 10
_GRACE_SECONDS = 2.0

# How often a task asks whether it should stop; each time costs the scheduler a message.
_ASK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Task:
    """A job with all that a worker far away must know."""

    job: Job
    allowance: Allowance
    threads: int | None
    stop_name: str


def work_on(task: Task) -> dict[str, Any]:
    """Do a job in a process of its own; runs in a Dask worker."""
    threads = task.threads or _threads_per_file()
    terms = Terms(task.job.work, threads, task.allowance.memory)
    with closing(_FarStop(task.stop_name)) as stop, Supervisor([terms], task.allowance, stop) as crew:
        ends = [event for event in crew.run(iter([task.job])) if isinstance(event, Ended)]
    return ends[0].outcome.plain() if ends else Outcome(Status.FAILED, "interrupted").plain()


def _threads_per_file() -> int:
    """The worker's threads, shared out among the files that it takes at a time."""
    state = get_worker().state
    return max(int(state.nthreads // state.total_resources.get(RESOURCE, 1)), 1)


class _FarStop(Stop):
    """A wish to stop that is uttered at the other end of the cluster."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._wish = Event(name)
        self._next = 0.0

    @property
    def asked(self) -> bool:
        """Whether it has been uttered; a scheduler that can not be asked has no use for the result."""
        now = time.monotonic()
        if now >= self._next and not super().asked:
            self._next = now + _ASK_SECONDS
            try:
                wished = self._wish.is_set()
            except Exception:
                wished = True
            if wished:
                self.ask()
        return super().asked

    @property
    def insisted(self) -> bool:
        """There is nobody to wait for the rest."""
        return self.asked


def _introduce(dask_worker: Any) -> tuple[str, float]:
    """What a worker runs and how many files it takes at a time; runs in a Dask worker."""
    return version("demosaic-ntc"), dask_worker.state.total_resources.get(RESOURCE, 0)


class Cluster:
    """The workers of a scheduler; leaving the block cancels what they have not done."""

    def __init__(self, scheduler: str, allowance: Allowance, threads: int | None, stop: Stop) -> None:
        self._scheduler = scheduler
        self._allowance = allowance
        self._threads = threads
        self._stop = stop
        self._stop_name = f"demosaic-ntc-stop-{token_hex(8)}"
        self._pending: dict[str, tuple[Future, Job]] = {}
        self._finished: SimpleQueue[str] = SimpleQueue()

    def __enter__(self) -> "Cluster":
        self._client = self._connect()
        try:
            self._slots = self._checked_slots()
        except BaseException:
            self._client.close()
            raise
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        with suppress(Exception):  # a scheduler that is gone has forgotten everything anyway
            self._call_off()
        self._client.close()

    def run(self, jobs: Iterator[Job | None]) -> Iterator[BatchEvent]:
        """Let the workers do the jobs as they come; a None means that there is none at the moment."""
        more = True
        while not self._stop.asked:
            while more and len(self._pending) < _AHEAD * self._slots:
                try:
                    job = next(jobs)
                except StopIteration:
                    more = False
                    break
                if job is None:
                    break
                yield Started(None, job)
                self._submit(job)
            if not more and not self._pending:
                return
            yield from self._collect()

    def _connect(self) -> Client:
        """A client of the scheduler, named by its address or by the file that it has written."""
        place = {"scheduler_file": self._scheduler} if os.path.isfile(self._scheduler) else {}
        address = None if place else self._scheduler
        try:
            return Client(address, timeout=_CONNECT_SECONDS, set_as_default=False, **place)
        except (OSError, ValueError) as error:
            message = (
                f"no scheduler answers at {self._scheduler}; start `dask scheduler` or check the address"
            )
            raise ClusterError(message) from error

    def _checked_slots(self) -> int:
        """How many files the workers take at a time; refuses workers that would do something else."""
        try:
            workers = self._client.run(_introduce)
        except ImportError as error:
            raise ClusterError("the workers lack demosaic-ntc; install it where they run") from error
        ours = version("demosaic-ntc")
        for worker, (theirs, _) in workers.items():
            if theirs != ours:
                raise ClusterError(
                    f"{worker} has demosaic-ntc {theirs}, not {ours}; install the same version"
                )
        slots = sum(slots for _, slots in workers.values())
        if slots < 1:
            message = f"no worker of {self._scheduler} offers the resource {RESOURCE}"
            raise ClusterError(f"{message}; start `dask worker --resources {RESOURCE}=1`")
        return int(slots)

    def _submit(self, job: Job) -> None:
        """Hand a job to the scheduler."""
        task = Task(job, self._allowance, self._threads, self._stop_name)
        key = f"demosaic-ntc-{token_hex(8)}"
        future = self._client.submit(
            work_on, task, key=key, pure=False, resources={RESOURCE: 1}, retries=_RETRIES
        )
        self._pending[key] = future, job
        future.add_done_callback(lambda done: self._finished.put(done.key))

    def _collect(self) -> Iterator[BatchEvent]:
        """Wait a moment for jobs that are over."""
        with suppress(Empty):
            future, job = self._pending.pop(self._finished.get(timeout=_TICK_SECONDS))
            yield Ended(None, job, self._outcome(future))
        if self._client.status not in ("running", "connecting"):
            raise ClusterError(
                f"{self._scheduler}: the scheduler is gone; go on with --resume when it is back"
            )

    def _outcome(self, future: Future) -> Outcome:
        """How a job ended, as far as the cluster knows."""
        if future.status == "cancelled":
            raise ClusterError(f"{self._scheduler}: the scheduler has lost its tasks; go on with --resume")
        try:
            return Outcome.from_plain(future.result())
        except KilledWorker as error:
            reason = f"workers were lost while they worked on it ({error}); look at their logs"
            return Outcome(Status.CRASHED, reason)
        except Exception as error:
            reason = f"internal error ({type(error).__name__}: {error}); please report it"
            return Outcome(Status.FAILED, reason)

    def _call_off(self) -> None:
        """Let workers stop what they do, and forget what they have not begun."""
        if not self._pending:
            return
        wish = Event(self._stop_name, client=self._client)
        wish.set()
        futures = [future for future, _ in self._pending.values()]
        self._client.cancel([future for future in futures if not future.done()])
        time.sleep(_GRACE_SECONDS)
        wish.clear()
