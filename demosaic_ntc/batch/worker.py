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
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import Any

import psutil

from demosaic_ntc.batch.identity import identify
from demosaic_ntc.batch.job import Identity, Job, Outcome, Status, Work
from demosaic_ntc.errors import DemosaicNtcError, Exists
from demosaic_ntc.imaging.restored import Progress
from demosaic_ntc.memory import peak_bytes, reset_peak

# Reports of progress are for eyes: more often than this is of no use.
_REPORT_SECONDS = 0.2

# Among all processes, the system ends a worker first when memory runs out, never the parent.
_EXPENDABLE = "500"


@dataclass(frozen=True, slots=True)
class Terms:
    """What a worker is told once."""

    work: Work  # what to prepare for
    threads: int
    memory: int | None  # bytes


def main() -> None:
    """Work on what comes until the parent hangs up."""
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    channel = _channel()
    _die_with_parent()
    terms: Terms = channel.recv()
    inbox: queue.SimpleQueue[Job] = queue.SimpleQueue()
    Thread(target=_listen, args=(channel, inbox), daemon=True).start()
    terms.work.prepare()
    _limit_memory(terms.memory)
    _answer(channel, ready=True)
    while True:
        _work_on(inbox.get(), terms, channel)


def _channel() -> Connection:
    """The socket at standard input, kept away from libraries and their children; so is standard output."""
    channel = Connection(os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return channel


def _listen(channel: Connection, inbox: "queue.SimpleQueue[Job]") -> None:
    """Take jobs; end the process, whatever it does, when the parent is gone or wants no more."""
    with suppress(EOFError, OSError):
        while True:
            inbox.put(channel.recv())
    os._exit(0)


def _die_with_parent() -> None:
    """Let the system end this process with its parent, even while compiled code holds every thread."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_EXPENDABLE)
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 (needed nowhere else)

        set_death_signal = 1  # PR_SET_PDEATHSIG of prctl(2)
        ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)


def _limit_memory(limit: int | None) -> None:
    """Let allocations beyond the limit fail, where the system can: an error is better than being killed.

    Address space is what the system limits; much of it is reserved but never used. So what may still be
    reserved is what is left of the limit.
    """
    if limit is None:
        return
    now = psutil.Process().memory_info()
    with suppress(ValueError, OSError):
        most = now.vms + max(limit - now.rss, 0)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _answer(channel: Connection, **facts: Any) -> None:
    """Tell the parent."""
    with suppress(BrokenPipeError):  # the listening thread is about to end this process
        channel.send_bytes(json.dumps(facts).encode())


def _work_on(job: Job, terms: Terms, channel: Connection) -> None:
    """Do a job and tell how it ended."""
    reset_peak()
    identity = identify(job.source)
    _answer(channel, identity=identity and asdict(identity))
    outcome = _outcome(job, terms, _Reporter(channel), identity)
    _answer(channel, outcome=replace(outcome, peak_bytes=peak_bytes()).plain())


class _Reporter:
    """Passes progress on, now and then."""

    def __init__(self, channel: Connection) -> None:
        self._channel = channel
        self._next = 0.0

    def __call__(self, progress: Progress) -> None:
        """Report, unless the last report was a moment ago."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _REPORT_SECONDS
            _answer(self._channel, stage=progress.stage, share=progress.done / max(progress.total, 1))


def _outcome(job: Job, terms: Terms, report: _Reporter, identity: Identity | None) -> Outcome:
    """Do the work; whatever it raises becomes an outcome."""
    try:
        done = job.work(
            job.source, job.target, overwrite=job.overwrite, threads=terms.threads, progress=report
        )
    except Exception as error:
        return _failure(error, terms, identity)
    return Outcome(
        Status.DONE,
        identity=identity,
        pixels=done.pixels,
        seconds=done.seconds,
        certified_share=done.certified_share,
        notices=done.notices,
    )


def _failure(error: Exception, terms: Terms, identity: Identity | None) -> Outcome:
    """What an error means for its file."""
    name = type(error).__name__
    match error:
        case Exists():
            return Outcome(Status.SKIPPED, str(error), name, identity)
        case DemosaicNtcError():
            return Outcome(Status.FAILED, str(error), name, identity)
        case MemoryError():
            return Outcome(Status.FAILED, out_of_memory(terms.memory), name, identity)
        case _:
            reason = f"internal error ({name}: {error}); please report it with this file's line of the report"
            log = "".join(traceback.format_exception(error))
            return Outcome(Status.FAILED, reason, name, identity, log=log)


def out_of_memory(limit: int | None) -> str:
    """What to say of a file that needs too much."""
    if limit is None:
        return "out of memory; give fewer --jobs or a smaller file"
    return f"memory limit of {limit / 1e9:g} GB reached; raise it with --memory or give a smaller file"
