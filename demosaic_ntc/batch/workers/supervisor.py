"""Workers that cost no more than their own file: watched, ended at their limits, replaced when they die."""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from multiprocessing.connection import wait

from demosaic_ntc.batch.job import (
    Event,
    Identity,
    Job,
    JobEnded,
    JobLimits,
    JobOutcome,
    JobProgress,
    JobStarted,
    JobStatus,
    Publishing,
    result_from,
)
from demosaic_ntc.batch.workers.stop import Stop
from demosaic_ntc.batch.workers.worker import WorkerSetup, out_of_memory
from demosaic_ntc.batch.workers.worker_process import HungUp, WorkerProcess
from demosaic_ntc.io.atomic import remove_stale
from demosaic_ntc.io.remote import RemotePath
from demosaic_ntc.workflows.costs import DECODING

# How often limits are checked and new jobs looked for.
_TICK_SECONDS = 0.2

# What is under way may still be finished this long after a wish to stop.
_GRACE_SECONDS = 1.5

# A worker that is not ready after so long never will be: it loads libraries and kernels, and may wait for
# others that compile them. No limit of a file counts before.
_STARTING_SECONDS = 900.0

# This many workers in a row that end before they have begun a file mean that none ever will.
_FALSE_STARTS = 3


class Supervisor(AbstractContextManager["Supervisor"]):
    """A team of workers, each started when there is something to do; leaving the block ends them all."""

    def __init__(self, team: Sequence[WorkerSetup], allowance: JobLimits, stop: Stop) -> None:
        self._team = team
        self._allowance = allowance
        self._stop = stop
        self._workers: dict[int, WorkerProcess] = {}
        self._waiting: deque[Job] = deque()
        self._unwanted: deque[Job] = deque()
        self._false_starts = 0

    def __exit__(self, *_: object) -> None:
        for worker in self._workers.values():
            _dismiss(worker)

    def abandon(self, job: Job) -> None:
        """Give up a job that was fetched, soon; may be called from any thread."""
        self._unwanted.append(job)

    def run(self, jobs: Iterator[Job | None]) -> Iterator[Event]:
        """Work on the jobs as they come, telling what happens; a None means that there is none at the moment.

        A job is given to its worker only after its `JobStarted` has been taken note of.
        """
        more = True
        while not self._stop.is_asked:
            more = more and self._fetch(jobs)
            yield from self._drop_unwanted()
            if not more and not self._waiting and not self._busy():
                return
            yield from self._hand_out()
            yield from self._watch()
        yield from self._wind_down()

    def _fetch(self, jobs: Iterator[Job | None]) -> bool:
        """Take as many jobs as there is room for; return whether more may come."""
        for _ in range(len(self._team) - len(self._busy()) - len(self._waiting)):
            try:
                job = next(jobs)
            except StopIteration:
                return False
            if job is None:
                return True
            self._waiting.append(job)
        return True

    def _hand_out(self) -> Iterator[Event]:
        """Start as many workers as there are jobs, and give a job to everybody who waits for one."""
        needed = len(self._busy()) + len(self._waiting)
        for number, setup in enumerate(self._team):
            if len(self._workers) < needed and number not in self._workers:
                self._workers[number] = WorkerProcess(number, setup)
        for worker in self._workers.values():
            if worker.is_idle and self._waiting:
                job = self._waiting.popleft()
                yield JobStarted(worker.number, job)
                worker.give(job)

    def _drop_unwanted(self) -> Iterator[Event]:
        """Give up what is no longer wanted, whether it waits or is under way."""
        while self._unwanted:
            job = self._unwanted.popleft()
            if job in self._waiting:
                self._waiting.remove(job)
                yield JobEnded(None, job, JobOutcome(JobStatus.ABANDONED, "given up"))
            for worker in [worker for worker in self._busy() if worker.job is job]:
                yield from self._give_up(worker, JobStatus.ABANDONED, "given up")

    def _busy(self) -> list[WorkerProcess]:
        """Who is at work."""
        return [worker for worker in self._workers.values() if worker.job]

    def _wind_down(self) -> Iterator[Event]:
        """Let what is nearly done be finished; the rest is given up when the block is left."""
        end = time.monotonic() + _GRACE_SECONDS
        while self._busy() and time.monotonic() < end and not self._stop.is_forced:
            yield from self._watch()

    def _watch(self) -> Iterator[Event]:
        """Wait until something happens, then see to everybody."""
        voices = [
            voice.fileno() for worker in self._workers.values() for voice in (worker.channel, worker.stderr)
        ]
        if self._stop.fileno() in wait([*voices, self._stop.fileno()], _TICK_SECONDS):
            self._stop.hear()
        for worker in list(self._workers.values()):
            try:
                yield from self._hear(worker)
                yield from self._enforce_limits(worker)
            except (HungUp, KeyError, TypeError, ValueError):  # gone, or its answers make no sense
                yield from self._reap(worker)

    def _hear(self, worker: WorkerProcess) -> Iterator[Event]:
        """Take in what a worker says."""
        for answer in worker.answers():
            if "ready" in answer:
                worker.is_ready = True
            elif "identity" in answer:
                worker.has_begun, self._false_starts = True, 0
                worker.identity = answer["identity"] and Identity(**answer["identity"])
            elif worker.job and "stage" in answer:
                worker.stage = str(answer["stage"])
                yield JobProgress(worker.number, worker.job, answer["stage"], answer["share"])
            elif worker.job and "publishing" in answer:
                yield Publishing(worker.number, worker.job, result_from(answer["publishing"]))
                worker.acknowledge()
            elif worker.job and "outcome" in answer:
                outcome = JobOutcome.from_plain(answer["outcome"])
                job, worker.job = worker.job, None
                yield JobEnded(worker.number, job, outcome)

    def _enforce_limits(self, worker: WorkerProcess) -> Iterator[Event]:
        """End a worker that takes too long or too much."""
        if not worker.is_ready and time.monotonic() - worker.started > _STARTING_SECONDS:
            raise HungUp
        seconds, memory = self._allowance.seconds, self._allowance.memory
        if seconds is not None and worker.seconds > seconds:
            reason = f"took longer than {seconds:g} s; raise `timeout` or choose a faster `quality`"
            yield from self._give_up(worker, JobStatus.TIMEOUT, reason)
        elif memory is not None and worker.job and worker.resident_bytes > memory:
            yield from self._give_up(worker, JobStatus.FAILED, out_of_memory(memory))

    def _give_up(self, worker: WorkerProcess, status: JobStatus, reason: str) -> Iterator[Event]:
        """End a worker in the middle of its job; another will take its place."""
        job, identity, seconds = worker.job, worker.identity, worker.seconds
        self._remove(worker)
        if job is not None:
            outcome = JobOutcome(status, reason, identity=identity, seconds={"total": seconds})
            yield JobEnded(worker.number, job, outcome)

    def _reap(self, worker: WorkerProcess) -> Iterator[Event]:
        """See what became of a worker that has ended by itself; another will take its place."""
        job, seconds = worker.job, worker.seconds
        ending = worker.last_words()
        self._remove(worker)
        if not worker.has_begun:  # no file can be blamed
            self._count_false_start(worker, ending)
            self._waiting.extendleft([job] if job else [])
        elif job is not None:
            reason = _explain_crash(worker.stage, ending)
            known = JobOutcome(JobStatus.CRASHED, reason, identity=worker.identity, log=worker.log)
            yield JobEnded(worker.number, job, replace(known, seconds={"total": seconds}))

    def _count_false_start(self, worker: WorkerProcess, ending: str) -> None:
        """Give up when no worker comes up."""
        self._false_starts += 1
        if self._false_starts >= _FALSE_STARTS:
            raise RuntimeError(f"workers end before they begin ({ending}): {worker.log}")

    def _remove(self, worker: WorkerProcess) -> None:
        """End a worker and give its place free."""
        _dismiss(worker)
        del self._workers[worker.number]


def _explain_crash(stage: str, ending: str) -> str:
    """Why a file failed whose worker ended by itself: that is no proof of any damage in the file."""
    if "SIGKILL" in ending:
        return f"the process working on it crashed ({ending}), as when memory runs out; give fewer `jobs`"
    who = "the decoder" if stage in ("", DECODING) else "the process working on it"
    return f"{who} crashed ({ending}); please report it with this file's line of the report"


def _dismiss(worker: WorkerProcess) -> None:
    """End a worker, and clear away what it leaves half-written."""
    worker.end()
    if worker.job is not None:
        for place in (worker.job.source, worker.job.target):
            if isinstance(place, RemotePath) or place is worker.job.target:
                remove_stale(place.parent)
