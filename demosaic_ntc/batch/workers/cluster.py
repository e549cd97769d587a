"""A batch on the workers of an existing Dask scheduler, over storage that all of them share.

Each file is a task that takes one unit of the resource ``raw``, so that a worker's ``--resources raw=N`` says
how many files it takes at a time. The task runs a supervised process of its own, as a local batch does: a
file that crashes costs no worker, and limits hold. What a lost worker had begun goes to another one.

Dask Distributed: https://distributed.dask.org
"""

import json
import logging
import os
import re
import socket
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from queue import Empty, SimpleQueue
from secrets import token_hex
from threading import Thread
from typing import Any, TypeVar

from distributed import Client, Event, Future, KilledWorker, get_worker
from distributed.versions import VersionMismatchWarning

from demosaic_ntc.batch.job import Event as BatchEvent
from demosaic_ntc.batch.job import Job, JobEnded, JobLimits, JobOutcome, JobStarted, JobStatus
from demosaic_ntc.batch.records.result import ResultState, state_of
from demosaic_ntc.batch.workers.stop import Stop
from demosaic_ntc.batch.workers.supervisor import Supervisor
from demosaic_ntc.batch.workers.worker import WorkerSetup
from demosaic_ntc.errors import ClusterError, DemosaicNtcError, InputError, words
from demosaic_ntc.io.atomic import is_absent
from demosaic_ntc.io.header import InputLimits, open_regular

RESOURCE = "raw"

# A task that fails for a reason of its worker, not of its file, is tried again this often.
_RETRIES = 2

# Files that wait at the scheduler for each that is worked on: enough that no worker waits for this process.
_AHEAD = 2

_TICK_SECONDS = 0.2
_GRACE_SECONDS = 2.0

# A scheduler and its workers that are well answer within a fraction of this.
_CONNECT_SECONDS = 2.0

# A scheduler that was lost for longer than this is gone.
_LOST_SECONDS = 3.0

# How often workers are counted, and how long there may be none: those that restart come back sooner.
_COUNT_SECONDS, _ALONE_SECONDS = 5.0, 120.0

# How long a result of another machine may take to be seen over a network's storage.
_SEEN_SECONDS = 5.0

# tcp://host:8786, tls://[::1]:8786, host:8786
_ADDRESS = re.compile(
    r"(?:(?P<protocol>[a-z]+)://)?(?P<host>\[[0-9a-fA-F:.]+\]|[^/:\[\]]+):(?P<port>\d{1,5})"
)

Answer = TypeVar("Answer")

# How often a task asks whether it should stop; each time costs the scheduler a message.
_ASK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class ClusterTask:
    """A job with all that a worker far away must know."""

    job: Job
    allowance: JobLimits
    threads: int | None
    stop_name: str


def work_on(task: ClusterTask) -> dict[str, Any]:
    """Do a job in a process of its own; runs in a Dask worker."""
    threads = task.threads or _threads_per_file()
    setup = WorkerSetup(task.job.work, threads, task.allowance.memory)
    with closing(_FarStop(task.stop_name)) as stop, Supervisor([setup], task.allowance, stop) as crew:
        ends = [event for event in crew.run(iter([task.job])) if isinstance(event, JobEnded)]
    return ends[0].outcome.plain() if ends else JobOutcome(JobStatus.FAILED, "interrupted").plain()


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
    def is_asked(self) -> bool:
        """Whether it has been uttered; a scheduler that cannot be asked has no use for the result."""
        now = time.monotonic()
        if now >= self._next and not super().is_asked:
            self._next = now + _ASK_SECONDS
            try:
                wished = self._wish.is_set()
            except Exception:
                wished = True
            if wished:
                self.ask()
        return super().is_asked

    @property
    def is_forced(self) -> bool:
        """There is nobody to wait for the rest."""
        return self.is_asked


def _introduce(dask_worker: Any) -> tuple[str, float]:
    """What a worker runs and how many files it takes at a time; runs in a Dask worker."""
    return version("demosaic-ntc"), dask_worker.state.total_resources.get(RESOURCE, 0)


class QuietClient(Client):  # type: ignore[misc]
    """A client that says nothing when it is given up: its own way waits for an answer, and complains."""

    def __del__(self) -> None:
        """Leave quietly; whoever was connected has been told before."""


def _client(address: str) -> QuietClient:
    """A client of the scheduler at an address; packages that differ are told by us, where it matters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VersionMismatchWarning)
        return QuietClient(address, timeout=_CONNECT_SECONDS, set_as_default=False)


def _silence() -> None:
    """Let Dask and what is below it not speak of failures: one line of ours does."""
    for name in ("distributed", "tornado", "asyncio", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):  # each has a level of its own
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _address(scheduler: str) -> str:
    """The address that was given, or that the file of a scheduler tells."""
    if _ADDRESS.fullmatch(scheduler) and not os.path.exists(scheduler):
        return scheduler
    if not os.path.exists(scheduler):
        message = f"{scheduler}: there is no such file, and it is not an address such as tcp://host:8786"
        raise ClusterError(f"{message}; give one of both")
    try:
        with open_regular(Path(scheduler), InputLimits()) as file:
            address = json.loads(file.read(2**20))["address"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        message = f"{scheduler}: is not the file of a Dask scheduler ({words(error)})"
        raise ClusterError(
            f"{message}; give the one that `dask scheduler --scheduler-file` writes"
        ) from error
    if not isinstance(address, str) or not _ADDRESS.fullmatch(address):
        raise ClusterError(f"{scheduler}: names no address of a scheduler; start `dask scheduler` again")
    return address


def _check_listens(address: str, named: str) -> None:
    """Refuse at once a place where nobody listens: Dask itself would try for long."""
    parts = _ADDRESS.fullmatch(address)
    if parts is None or parts["protocol"] not in (None, "tcp", "tls"):
        return
    try:
        place = parts["host"].strip("[]"), int(parts["port"])
        socket.create_connection(place, timeout=_CONNECT_SECONDS).close()
    except (OSError, OverflowError, UnicodeError) as error:
        message = f"no scheduler answers at {named} ({words(error)})"
        raise ClusterError(f"{message}; start `dask scheduler` or check the address") from error


def _within(seconds: float, work: Callable[[], Answer]) -> Answer:
    """What a call answers; TimeoutError if it does not in time, and then nobody waits for it any more."""
    answers: SimpleQueue[tuple[Answer | None, BaseException | None]] = SimpleQueue()

    def call() -> None:
        try:
            answers.put((work(), None))
        except BaseException as error:
            answers.put((None, error))

    Thread(target=call, daemon=True).start()
    try:
        answer, error = answers.get(timeout=seconds)
    except Empty:
        raise TimeoutError(f"no answer within {seconds:g} s") from None
    if error is not None:
        raise error
    return answer  # type: ignore[return-value]


def _check_visible(job: Job, outcome: JobOutcome) -> JobOutcome:
    """The outcome of a job whose result is where this machine sees it; a failure where it is not."""
    if outcome.status is not JobStatus.DONE:
        return outcome
    end = time.monotonic() + _SEEN_SECONDS
    while not _is_there(job, outcome):
        if time.monotonic() > end:
            reason = f"{job.target}: was written by a worker, but not where this machine sees it"
            return replace(
                outcome, status=JobStatus.FAILED, reason=f"{reason}; workers must share its folder"
            )
        time.sleep(_TICK_SECONDS)
    return outcome


def _is_there(job: Job, outcome: JobOutcome) -> bool:
    """Whether the result that a worker tells of lies at its target."""
    with suppress(InputError):  # storage that cannot be asked at the moment
        if outcome.result is None:
            return not is_absent(job.target)
        return state_of(job.target, outcome.result) is ResultState.UNCHANGED
    return False


class Cluster:
    """The workers of a scheduler; leaving the block cancels what they have not done."""

    def __init__(self, scheduler: str, allowance: JobLimits, threads: int | None, stop: Stop) -> None:
        self._scheduler = scheduler
        self._allowance = allowance
        self._threads = threads
        self._stop = stop
        self._stop_name = f"demosaic-ntc-stop-{token_hex(8)}"
        self._pending: dict[str, tuple[Future, Job]] = {}
        self._finished: SimpleQueue[str] = SimpleQueue()
        self._well = time.monotonic()  # when the scheduler was last known to be there
        self._staffed = self._counted = self._well  # when workers were last there, and last counted

    def __enter__(self) -> "Cluster":
        _silence()
        self._client = self._connect()
        try:
            self._slots = self._count_slots()
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(Exception):  # a scheduler that is gone has forgotten everything anyway
            self._call_off()
        self._leave()

    def run(self, jobs: Iterator[Job | None]) -> Iterator[BatchEvent]:
        """Let the workers do the jobs as they come; a None means that there is none at the moment."""
        more = True
        while not self._stop.is_asked:
            while more and len(self._pending) < _AHEAD * self._slots:
                try:
                    job = next(jobs)
                except StopIteration:
                    more = False
                    break
                if job is None:
                    break
                yield JobStarted(None, job)
                with self._translate_errors("does not take a file"):
                    self._submit(job)
            if not more and not self._pending:
                return
            yield from self._collect()

    def _connect(self) -> Client:
        """A client of the scheduler, named by its address or by the file that it has written."""
        address = _address(self._scheduler)
        _check_listens(address, self._scheduler)
        with self._translate_errors("is no Dask scheduler that can be used"):
            return _within(2 * _CONNECT_SECONDS, lambda: _client(address))

    def _count_slots(self) -> int:
        """How many files the workers take at a time; refuses workers that would do something else."""
        with self._translate_errors("does not tell its workers"):
            answers = _within(_CONNECT_SECONDS, lambda: self._client.run(_introduce, on_error="return"))
        ours, slots = version("demosaic-ntc"), 0.0
        for worker, answer in answers.items():
            if not isinstance(answer, (tuple, list)):
                reason = f"{worker} cannot run demosaic-ntc ({words(answer)})"
                raise ClusterError(f"{reason}; install {ours} where it runs")
            theirs, offered = answer
            if theirs != ours:
                raise ClusterError(
                    f"{worker} has demosaic-ntc {theirs}, not {ours}; install the same version"
                )
            slots += offered
        if slots < 1:
            message = f"no worker of {self._scheduler} offers the resource {RESOURCE}"
            raise ClusterError(f"{message}; start `dask worker --resources {RESOURCE}=1`")
        return int(slots)

    @contextmanager
    def _translate_errors(self, what: str) -> Iterator[None]:
        """The border of Dask: whatever it raises, plain exceptions among it, is a failure of the cluster."""
        try:
            yield
        except DemosaicNtcError:
            raise
        except Exception as error:  # of memory, too: nonsense from a port may announce terabytes
            message = f"{self._scheduler}: {what} ({words(error)}); look at its log, or check the address"
            raise ClusterError(message) from error

    def _leave(self) -> None:
        """Say goodbye; one who does not listen is not waited for."""
        with suppress(Exception):
            _within(_CONNECT_SECONDS, lambda: self._client.close(timeout=_CONNECT_SECONDS / 2))

    def _submit(self, job: Job) -> None:
        """Hand a job to the scheduler."""
        task = ClusterTask(job, self._allowance, self._threads, self._stop_name)
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
            yield JobEnded(None, job, _check_visible(job, self._outcome(future)))
        now = time.monotonic()
        if self._client.status == "running":
            self._well = now
        elif self._client.status != "connecting" or now - self._well > _LOST_SECONDS:
            raise ClusterError(
                f"{self._scheduler}: the scheduler is gone; go on with `resume` when it is back"
            )
        self._check_staffed(now)

    def _check_staffed(self, now: float) -> None:
        """Give up when nobody has been there for long who would do the work."""
        if now - self._counted < _COUNT_SECONDS:
            return
        self._counted = now
        with suppress(Exception):  # a busy scheduler tells it next time
            told = _within(_CONNECT_SECONDS, self._client.scheduler_info)["workers"].values()
            if any(worker["resources"].get(RESOURCE) for worker in told):
                self._staffed = now
        if now - self._staffed > _ALONE_SECONDS:
            raise ClusterError(
                f"{self._scheduler}: no worker is left; go on with `resume` when some are back"
            )

    def _outcome(self, future: Future) -> JobOutcome:
        """How a job ended, as far as the cluster knows."""
        if future.status == "cancelled":
            raise ClusterError(f"{self._scheduler}: the scheduler has lost its tasks; go on with `resume`")
        try:
            return JobOutcome.from_plain(future.result())
        except KilledWorker as error:
            reason = f"workers were lost while they worked on it ({error}); look at their logs"
            return JobOutcome(JobStatus.CRASHED, reason)
        except Exception as error:
            reason = f"the cluster failed ({type(error).__name__}: {words(error)}); look at its workers' logs"
            return JobOutcome(JobStatus.FAILED, reason)

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
