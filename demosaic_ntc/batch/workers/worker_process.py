"""A worker process seen from its parent: started, given jobs, listened to, ended."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from demosaic_ntc.batch.job import Identity, Job
from demosaic_ntc.batch.workers.worker import GO, WorkerSetup
from demosaic_ntc.machine import explain_exit, resident_bytes_of_family, start_interpreter

# Kept of what a worker says on stderr: enough for the trace of a crash.
_LOG_BYTES = 8192

# No answer is longer.
_ANSWER_BYTES = 2**20

# Libraries are kept from starting threads of their own.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

# How long a worker may take to leave once its channel is closed.
_LEAVING_SECONDS = 2.0


# The leash first: what follows takes a second to import, and a parent may be killed within it.
_PROGRAM = """
import sys
from demosaic_ntc.parent_death import die_with_parent
die_with_parent(int(sys.argv[1]))
from demosaic_ntc.batch.workers.worker import main
main()
"""


class HungUp(Exception):
    """The worker has ended, or speaks nonsense and must be."""


class WorkerProcess:
    """One process of a batch, which works on one file at a time."""

    def __init__(self, number: int, setup: WorkerSetup) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = start_interpreter(
                _PROGRAM,
                str(os.getpid()),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=_ONE_THREAD,
            )
        assert self._process.stderr is not None
        os.set_blocking(self._process.stderr.fileno(), False)
        self.number = number
        self.channel = Connection(ours.detach())
        self.stderr = self._process.stderr
        self.is_ready = False
        self.has_begun = False  # whether it is known to have got the last job
        self.job: Job | None = None
        self.identity: Identity | None = None
        self.stage = ""  # of the present job, once it has told one
        self.started, self._since = time.monotonic(), 0.0
        self._log = b""
        with suppress(OSError):  # one that ended at once is found to be gone when it is listened to
            self.channel.send(setup)

    @property
    def is_idle(self) -> bool:
        """Whether it could be given a job."""
        return self.is_ready and self.job is None

    @property
    def log(self) -> str:
        """The last words on stderr."""
        return self._log.decode(errors="replace")

    @property
    def seconds(self) -> float:
        """How long the present job has taken."""
        return time.monotonic() - self._since if self.job else 0.0

    @property
    def resident_bytes(self) -> int:
        """The memory in use, that of its decoder as well; nothing once the process is gone."""
        return resident_bytes_of_family(self._process.pid)

    def give(self, job: Job) -> None:
        """Let it work on a job."""
        self.job, self.identity, self.has_begun, self.stage = job, None, False, ""
        self._since, self._log = time.monotonic(), b""
        with suppress(OSError):
            self.channel.send(job)

    def acknowledge(self) -> None:
        """Let it give its result a name."""
        with suppress(OSError):
            self.channel.send(GO)

    def answers(self) -> Iterator[dict[str, Any]]:
        """What it has said since it was last listened to; ends by `HungUp` if it is gone."""
        self._read_log()
        try:
            while self.channel.poll():
                answer = json.loads(self.channel.recv_bytes(_ANSWER_BYTES))
                yield answer
        except (EOFError, OSError, ValueError):
            raise HungUp from None

    def _read_log(self) -> None:
        """Keep the end of what was said on stderr."""
        with suppress(OSError):
            while words := os.read(self.stderr.fileno(), _LOG_BYTES):
                self._log = (self._log + words)[-_LOG_BYTES:]

    def end(self) -> None:
        """Make sure that the process is gone."""
        if self.channel.closed:
            return
        self.channel.close()
        if not self.is_idle:
            self._process.kill()
        try:
            self._process.wait(_LEAVING_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._read_log()
        self.stderr.close()

    def last_words(self) -> str:
        """How a process that hung up has ended, once it is gone."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_LEAVING_SECONDS)
        self.end()
        return explain_exit(self._process.returncode)
