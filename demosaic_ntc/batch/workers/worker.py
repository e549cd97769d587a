"""The process that works on files, one at a time, and dies with its parent.

Its standard input is a socket to the parent, from which jobs come and to which answers go. Jobs are pickled:
the parent is trusted. Answers are JSON: a process that has decoded a hostile file is not.
"""

import faulthandler
import json
import os
import queue
import resource
import signal
import time
import traceback
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import Any

from demosaic_ntc.batch.job import Identity, Job, JobOutcome, JobStatus, JobWork, Result
from demosaic_ntc.batch.records.result import ResultState, measure, state_of
from demosaic_ntc.batch.records.resume import explain_keeping
from demosaic_ntc.batch.workers.copies import Copies, hold_copies
from demosaic_ntc.errors import Changed, DemosaicNtcError, Exists
from demosaic_ntc.io.atomic import ask_before_publishing
from demosaic_ntc.machine import address_space, keep_freed_memory, resident_bytes
from demosaic_ntc.peak_memory import peak_bytes, reset_peak
from demosaic_ntc.run import Progress

# Reports of progress are for eyes: more often than this is of no use.
_REPORT_SECONDS = 0.2

# What the parent says once it has taken note of a result.
GO = "go"


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """What a worker is told once."""

    work: JobWork  # what to prepare for
    threads: int
    memory: int | None  # bytes


def main() -> None:
    """Work on what comes until the parent hangs up."""
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    channel = _channel()
    setup: WorkerSetup = channel.recv()
    inbox: queue.SimpleQueue[Job] = queue.SimpleQueue()
    nods: queue.SimpleQueue[str] = queue.SimpleQueue()
    Thread(target=_receive, args=(channel, inbox, nods), daemon=True).start()
    keep_freed_memory()
    setup.work.prepare()
    _limit_memory(setup.memory)
    _answer(channel, ready=True)
    while True:
        _work_on(inbox.get(), setup, channel, nods)


def _channel() -> Connection:
    """The socket at standard input, kept away from libraries and their children; so is standard output."""
    channel = Connection(os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return channel


def _receive(channel: Connection, inbox: "queue.SimpleQueue[Job]", nods: "queue.SimpleQueue[str]") -> None:
    """Take jobs and nods; end the process, whatever it does, when the parent is gone or wants no more."""
    with suppress(EOFError, OSError):
        while True:
            message = channel.recv()
            nods.put(message) if message == GO else inbox.put(message)
    os._exit(0)


def _limit_memory(limit: int | None) -> None:
    """Let allocations beyond the limit fail, where the system can: an error is better than being killed.

    Address space is what the system limits; much of it is reserved but never used. So what may still be
    reserved is what is left of the limit.
    """
    if limit is None:
        return
    unused = address_space()
    if unused is not None:
        with suppress(ValueError, OSError):
            most = max(limit, resident_bytes(os.getpid())) + unused
            resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _answer(channel: Connection, **facts: Any) -> None:
    """Tell the parent."""
    with suppress(BrokenPipeError):  # the listening thread is about to end this process
        channel.send_bytes(json.dumps(facts).encode())


def _work_on(job: Job, setup: WorkerSetup, channel: Connection, nods: "queue.SimpleQueue[str]") -> None:
    """Do a job and tell how it ended."""
    reset_peak()
    _answer(channel, identity=None)  # it has begun
    try:
        with hold_copies(job) as copies:
            outcome = _outcome(copies, setup, channel, _Publisher(copies, channel, nods))
    except OSError as error:  # there is no room for copies
        outcome = _failure(error, setup, None)
    _answer(channel, outcome=replace(outcome, peak_bytes=peak_bytes()).plain())


class _Publisher:
    """Asks the parent before a result gets its name, so that it is known whoever is killed afterwards."""

    def __init__(self, copies: Copies, channel: Connection, nods: "queue.SimpleQueue[str]") -> None:
        self.result: Result | None = None
        self._job, self._channel, self._nods = copies.job, channel, nods
        self._place = Path(os.path.realpath(copies.target))

    def __call__(self, place: Path, finished: Path) -> None:
        """Tell what the result is known by, and wait until the parent has taken note."""
        if place != self._place:
            return
        replaced = self._job.replaces
        if replaced is not None and state_of(self._job.target, replaced, proven=True) is ResultState.CHANGED:
            raise Changed(explain_keeping(self._job.target))
        self.result = measure(finished)
        _answer(self._channel, publishing=asdict(self.result))
        self._nods.get()


class _Reporter:
    """Passes progress on, now and then."""

    def __init__(self, channel: Connection) -> None:
        self._channel = channel
        self._next, self._stage = 0.0, ""

    def __call__(self, progress: Progress) -> None:
        """Report a new stage at once, its progress unless the last report was a moment ago."""
        now = time.monotonic()
        if now >= self._next or progress.stage != self._stage:
            self._next, self._stage = now + _REPORT_SECONDS, progress.stage
            _answer(self._channel, stage=progress.stage, share=progress.done / max(progress.total, 1))


def _outcome(copies: Copies, setup: WorkerSetup, channel: Connection, publisher: _Publisher) -> JobOutcome:
    """Do the work; whatever it raises becomes an outcome."""
    identity, job = None, copies.job
    report = _Reporter(channel)
    try:
        identity = copies.fetch()
        _answer(channel, identity=identity and asdict(identity))
        with ask_before_publishing(publisher):
            done = job.work(
                copies.source,
                copies.target,
                overwrite=copies.overwrite,
                threads=setup.threads,
                progress=report,
            )
        result = publisher.result and copies.publish(publisher.result)
    except Exception as error:
        return copies.name_originals(_failure(error, setup, identity))
    outcome = JobOutcome(
        JobStatus.DONE,
        identity=identity,
        result=result,
        pixels=done.pixels,
        seconds=done.seconds,
        certified_share=done.certified_share,
        check=done.check,
        notices=done.notices,
    )
    return copies.name_originals(outcome)


def _failure(error: Exception, setup: WorkerSetup, identity: Identity | None) -> JobOutcome:
    """What an error means for its file."""
    name = type(error).__name__
    match error:
        case Changed():
            return JobOutcome(JobStatus.KEPT, str(error), name, identity)
        case Exists():
            return JobOutcome(JobStatus.SKIPPED, str(error), name, identity)
        case DemosaicNtcError():
            return JobOutcome(JobStatus.FAILED, str(error), name, identity)
        case OSError() if error.errno is not None:
            reason = f"the system refuses ({error.strerror}); look whether files, memory or disks ran out"
            return JobOutcome(JobStatus.FAILED, reason, name, identity)
        case MemoryError():
            return JobOutcome(JobStatus.FAILED, out_of_memory(setup.memory), name, identity)
        case _:
            reason = f"internal error ({name}: {error}); please report it with this file's line of the report"
            log = "".join(traceback.format_exception(error))
            return JobOutcome(JobStatus.FAILED, reason, name, identity, log=log)


def out_of_memory(limit: int | None) -> str:
    """What to say of a file that needs too much."""
    if limit is None:
        return "out of memory; give fewer `jobs` or a smaller file"
    return f"memory limit of {limit / 1e9:g} GB reached; raise it with `memory` or give a smaller file"
