"""Those who do the work: processes of the batch layer, fed with tasks as a person wishes them.

Two lanes: one for what is quick (opening, looking for dust, previews), one for what takes long (repairs,
saving). Whatever happens in a process costs the task it works on and nothing else.
"""

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from demosaic_ntc.batch.job import (
    Event,
    Job,
    JobEnded,
    JobLimits,
    JobOutcome,
    JobProgress,
    JobStarted,
    JobStatus,
)
from demosaic_ntc.batch.workers.stop import Stop
from demosaic_ntc.batch.workers.supervisor import Supervisor
from demosaic_ntc.batch.workers.worker import WorkerSetup
from demosaic_ntc.errors import DemosaicNtcError
from demosaic_ntc.studio.work.base import StudioWork

# Where so much is done, what is left can be told from how long it took.
_TELLING_SHARE = 0.03

#: The kind of the task that starts a worker; nobody asked for it.
READY = "ready"

_GLANCE_SECONDS = 0.05

# A worker is ended within two seconds, of a processor that a busy machine may give to others meanwhile.
_LEAVING_SECONDS = 60.0

_ENGINE = "groups"  # the stage that takes nearly all of the time


class TaskState(StrEnum):
    """How far a task is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(slots=True, eq=False)
class StudioTask:
    """Something a person has asked for."""

    kind: str
    picture: int
    job: Job
    finish: Callable[[JobOutcome], dict[str, Any]]  # what to do with a result; returns what there is to tell
    early: dict[str, Callable[[], None]] = field(default_factory=dict)  # what to do when a stage begins
    number: int = field(default_factory=itertools.count(1).__next__)
    state: TaskState = TaskState.WAITING
    stage: str = ""
    share: float = 0.0
    reason: str = ""
    notices: tuple[str, ...] = ()
    result: dict[str, Any] = field(default_factory=dict)
    _since: float = 0.0
    _engine_since: float = 0.0

    def plain(self) -> dict[str, Any]:
        """The task in types that JSON has."""
        return {
            "number": self.number,
            "kind": self.kind,
            "picture": self.picture,
            "state": self.state.value,
            "stage": self.stage,
            "share": self.share,
            "left": self.seconds_left,
            "reason": self.reason,
            "notices": list(self.notices),
            "result": self.result,
        }

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state in (TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED)

    @property
    def seconds_left(self) -> float | None:
        """How long it will still take, about; None where that cannot be told."""
        if self.state is not TaskState.RUNNING or self.stage != _ENGINE or self.share < _TELLING_SHARE:
            return None
        return (time.monotonic() - self._engine_since) * (1 - self.share) / self.share

    def begin(self) -> None:
        """Take note that a worker has it."""
        self.state, self._since = TaskState.RUNNING, time.monotonic()

    def move(self, stage: str, share: float) -> None:
        """Take note of how far it is."""
        if stage == _ENGINE and self.stage != _ENGINE:
            self._engine_since = time.monotonic()
        self.stage, self.share = stage, share
        if stage in self.early:
            with suppress(Exception):  # what makes no sense yet is told at the end
                self.early.pop(stage)()

    def end(self, outcome: JobOutcome) -> None:
        """Take note of how it ended, and use what came of it."""
        self.notices, self.reason, self.share = outcome.notices, outcome.reason, 1.0
        if outcome.status is JobStatus.ABANDONED:
            self.state, self.reason = TaskState.CANCELLED, "cancelled"
        elif outcome.status is not JobStatus.DONE:
            self.state = TaskState.FAILED
        else:
            self._finish(outcome)

    def _finish(self, outcome: JobOutcome) -> None:
        """Use a result; what does not make sense is the fault of the process that made it."""
        try:
            self.result = self.finish(outcome)
            self.state = TaskState.DONE
        except DemosaicNtcError as error:
            self.state, self.reason = TaskState.FAILED, str(error)
        except Exception as error:
            self.state = TaskState.FAILED
            self.reason = f"internal error ({type(error).__name__}: {error}); please report it"


Tell = Callable[[StudioTask], None]


class Lane:
    """A worker process and the tasks that wait for it, one after the other."""

    def __init__(self, setup: WorkerSetup, allowance: JobLimits, tell: Tell) -> None:
        self._setup, self._allowance, self._tell = setup, allowance, tell
        self._waiting: deque[StudioTask] = deque()
        self._given: dict[int, StudioTask] = {}  # by the identity of their jobs
        self._lock = Lock()
        self._stop = Stop()
        self._supervisor: Supervisor | None = None
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def submit(self, task: StudioTask) -> None:
        """Let a task be done when its turn comes."""
        with self._lock:
            self._waiting.append(task)
        self._tell(task)

    def cancel(self, task: StudioTask) -> None:
        """Give up a task, wherever it is."""
        with self._lock:
            waits = task in self._waiting
            if waits:
                self._waiting.remove(task)
        if waits:
            task.end(JobOutcome(JobStatus.ABANDONED))
            self._tell(task)
        elif self._supervisor is not None and id(task.job) in self._given:
            self._supervisor.abandon(task.job)

    def close(self) -> None:
        """End the worker, and wait until it is gone."""
        self._stop.ask()
        self._stop.ask()
        self._thread.join(timeout=_LEAVING_SECONDS)
        self._stop.close()

    def _run(self) -> None:
        """Work until told to stop; where no worker comes up, the tasks fail and the next ones are tried."""
        while not self._stop.is_asked:
            try:
                with Supervisor([self._setup], self._allowance, self._stop) as supervisor:
                    self._supervisor = supervisor
                    for event in supervisor.run(self._jobs()):
                        self._hear(event)
            except RuntimeError as error:
                self._fail_all(str(error))

    def _jobs(self) -> Iterator[Job | None]:
        """The jobs as they come; None where there is none at the moment."""
        while True:
            with self._lock:
                task = self._waiting.popleft() if self._waiting else None
                if task is not None:
                    self._given[id(task.job)] = task
            yield None if task is None else task.job

    def _hear(self, event: Event) -> None:
        """Take note of what happens."""
        task = self._given.get(id(event.job))
        if task is None:
            return
        match event:
            case JobStarted():
                task.begin()
            case JobProgress():
                task.move(event.stage, event.share)
            case JobEnded():
                del self._given[id(event.job)]
                task.end(event.outcome)
            case _:
                return
        self._tell(task)

    def _fail_all(self, reason: str) -> None:
        """Nobody can do anything: say so to everybody who waits."""
        with self._lock:
            tasks = [*self._given.values(), *self._waiting]
            self._given.clear()
            self._waiting.clear()
        for task in tasks:
            task.end(JobOutcome(JobStatus.FAILED, reason))
            self._tell(task)


class TaskQueue:
    """Two lanes and the tasks in them."""

    def __init__(self, quick: WorkerSetup, long: WorkerSetup, allowance: JobLimits, tell: Tell) -> None:
        self.tasks: dict[int, StudioTask] = {}
        self._lanes = {
            "quick": Lane(quick, allowance, tell),
            "long": Lane(long, allowance, tell),
        }
        self._of: dict[int, Lane] = {}
        self._first = [
            StudioTask(READY, 0, Job(Path(), Path(), StudioWork()), lambda outcome: {}) for _ in self._lanes
        ]
        for lane, task in zip(self._lanes.values(), self._first, strict=True):
            lane.submit(task)  # processes start before somebody waits for them

    def wait_until_ready(self, seconds: float) -> bool:
        """Wait until all workers have started; return whether they have."""
        end = time.monotonic() + seconds
        while not all(task.is_over for task in self._first) and time.monotonic() < end:
            time.sleep(_GLANCE_SECONDS)
        return all(task.state is TaskState.DONE for task in self._first)

    def submit(self, lane: str, task: StudioTask) -> StudioTask:
        """Let a task be done."""
        self._forget_old()
        self.tasks[task.number] = task
        self._of[task.number] = self._lanes[lane]
        self._lanes[lane].submit(task)
        return task

    def cancel(self, number: int) -> bool:
        """Give up a task; return whether there is one of this number."""
        task = self.tasks.get(number)
        if task is None:
            return False
        if not task.is_over:
            self._of[number].cancel(task)
        return True

    def _forget_old(self) -> None:
        """Keep the last tasks that are over; nobody asks for those before."""
        over = [number for number, task in self.tasks.items() if task.is_over]
        for number in over[:-100]:
            del self.tasks[number], self._of[number]

    def close(self) -> None:
        """End all workers."""
        for lane in self._lanes.values():
            lane.close()
