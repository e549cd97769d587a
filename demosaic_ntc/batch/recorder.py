"""A batch from its first file to its last: what is needed is decided, what happens is put on record."""

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from demosaic_ntc.batch.discovery import check_output
from demosaic_ntc.batch.job import Event, Job, JobEnded, JobOutcome, JobStatus, Publishing, Result
from demosaic_ntc.batch.records.pending_outputs import PendingOutputs
from demosaic_ntc.batch.records.report import record_of
from demosaic_ntc.batch.records.result import ResultState, state_of
from demosaic_ntc.batch.records.resume import History, Skipped, decide
from demosaic_ntc.batch.spec import BatchTask
from demosaic_ntc.batch.workers.stop import Stop
from demosaic_ntc.errors import DiskFull, InputError, NotWritable, OutputError
from demosaic_ntc.io.remote import Place

# Ends of jobs whose worker did not report a result itself.
_UNREPORTED = (JobStatus.CRASHED, JobStatus.TIMEOUT, JobStatus.ABANDONED)


class WorkerPool(Protocol):
    """Whoever works on jobs: processes of this machine, or of a cluster."""

    def run(self, jobs: Iterator[Job | None]) -> Iterator[Event]:
        """Work on the jobs as they come, telling what happens."""


def history_of(task: BatchTask, begun: PendingOutputs | None = None) -> History | None:
    """What earlier runs have made; `begun` takes over what those that were killed have left."""
    if not task.rules.asks_the_report:
        return None
    published = (begun or PendingOutputs(task.report.path)).adopt()
    return History.of(task.report.records(), published, again=not task.rules.resume)


class Run:
    """One run over the jobs of a batch."""

    def __init__(self, task: BatchTask, stop: Stop) -> None:
        self._task = task
        self._stop = stop
        self._begun = PendingOutputs(task.report.path)
        task.report.mend()
        self._history = history_of(task, self._begun)
        self._skipped: deque[Skipped] = deque()
        self._open: dict[Place, Result] = {}  # what was announced, by place
        self._trouble: OutputError | None = None

    def events(self, jobs: Iterable[Job | None], crew: WorkerPool) -> Iterator[Event]:
        """What happens, told after it has been recorded; raises when results cannot be written any more."""
        for event in crew.run(self._needed(jobs)):
            yield from self._select_skipped()
            event = self._see_whether_done(event)
            self._note(event)
            if not isinstance(event, Publishing):
                yield event
        yield from self._select_skipped()
        if self._trouble is not None:
            raise self._trouble

    def close(self) -> None:
        """End the run; what was begun is forgotten once the report tells the end of all of it."""
        if not self._open:
            self._begun.close()

    def _needed(self, jobs: Iterable[Job | None]) -> Iterator[Job | None]:
        """The jobs that are to be done, decided when their turn comes: another run may have done them."""
        for job in jobs:
            try:
                wanted = job and decide(job, self._history)
            except InputError as error:  # of storage that cannot be asked; a None is no job that could
                wanted = job and Skipped(job, str(error), JobStatus.FAILED)
            if isinstance(wanted, Skipped):
                self._skipped.append(wanted)
            else:
                yield wanted

    def _select_skipped(self) -> Iterator[Event]:
        """The jobs that were found not to be needed."""
        while self._skipped:
            skipped = self._skipped.popleft()
            event = JobEnded(None, skipped.job, JobOutcome(skipped.status, skipped.reason))
            self._note(event)
            yield event

    def _see_whether_done(self, event: Event) -> Event:
        """Count a picture that got its name as done, even if its worker ended before it could say so."""
        if not isinstance(event, JobEnded) or event.outcome.status not in _UNREPORTED:
            return event
        announced = self._open.get(event.job.target)
        if announced is None or not _is_published(event.job.target, announced):
            return event
        said = f"written; then: {event.outcome.reason}"
        done = replace(event.outcome, status=JobStatus.DONE, reason="", error="", result=announced)
        return replace(event, outcome=replace(done, notices=(*done.notices, said)))

    def _note(self, event: Event) -> None:
        """Put on record what must survive this process."""
        match event:
            case Publishing():
                self._open[event.job.target] = event.result
                self._begun.publish(event.job, event.result)
            case JobEnded():
                self._open.pop(event.job.target, None)
                record = record_of(event.job, event.outcome)
                self._task.report.append(record)
                if self._history is not None:  # a watched file may change and come again
                    self._history.add(record)
                self._see_to_trouble(event)

    def _see_to_trouble(self, event: JobEnded) -> None:
        """Stop when the results' disk is full or gone: every further file would fail alike."""
        if event.outcome.error == DiskFull.__name__:
            self._end_with(DiskFull(event.outcome.reason))
        elif event.outcome.error == NotWritable.__name__:
            try:
                check_output(self._task.naming.output)
            except OutputError as error:
                self._end_with(error)

    def _end_with(self, error: OutputError) -> None:
        """Start nothing more."""
        if self._trouble is None:
            self._trouble = error
            with suppress(OSError):
                self._stop.ask()


def _is_published(target: Place, announced: Result) -> bool:
    """Whether this result lies at its place; not if its storage cannot be asked."""
    with suppress(InputError):
        return state_of(target, announced, proven=True) is ResultState.UNCHANGED
    return False
