"""A batch from its task to its end: planned and checked as a whole, then worked through by a crew."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from demosaic_ntc.batch.job import Event, Job
from demosaic_ntc.batch.plan import check_apart, check_pairs, make_folders, make_output
from demosaic_ntc.batch.records.begun_outputs import BegunOutputs
from demosaic_ntc.batch.records.resume import History, Skipped, decide
from demosaic_ntc.batch.resources import team_for, workers_that_fit
from demosaic_ntc.batch.run import Crew, Run
from demosaic_ntc.batch.space import expect
from demosaic_ntc.batch.tally import Tally
from demosaic_ntc.batch.task import BatchTask
from demosaic_ntc.batch.work import Inpaint
from demosaic_ntc.batch.workers.stop import Stop
from demosaic_ntc.batch.workers.supervisor import Supervisor
from demosaic_ntc.errors import ClusterError
from demosaic_ntc.files.atomic import check_target
from demosaic_ntc.files.partial import remove_stale
from demosaic_ntc.imaging.kernels.examples import prepare_kernels
from demosaic_ntc.machine import free_bytes

if TYPE_CHECKING:
    from demosaic_ntc.batch.workers.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Room:
    """What the results of some jobs will take."""

    needed: int  # bytes
    free: int  # bytes where they go
    largest_pixels: int  # of one input


@dataclass(frozen=True, slots=True)
class Plan:
    """The jobs of a batch, checked against each other; nothing has been touched yet."""

    task: BatchTask
    jobs: tuple[Job, ...]

    def decided(self) -> list[Job | Skipped]:
        """What a run would do with every job."""
        rules, history = self.task.rules, None
        if rules.asks_the_report:
            published = BegunOutputs(self.task.report.path).adopt()
            history = History.of(self.task.report.records(), published, again=not rules.resume)
        return [decide(job, history) for job in self.jobs]

    def wanted(self) -> list[Job]:
        """The jobs whose result may have to be written; with a report to ask, any of them."""
        everything = self.task.rules.asks_the_report
        return [job for job in self.jobs if everything or job.overwrite or not os.path.lexists(job.target)]

    def room(self, jobs: Sequence[Job]) -> Room:
        """What the results of jobs will take, about: enough to warn of a disk that is far too small."""
        expected = expect([job.source for job in jobs])
        output = self.task.naming.output
        return Room(self.task.room(expected), free_bytes(output), expected.largest_pixels)

    def sizes(self) -> dict[str, int]:
        """The bytes of every input that is there, by path."""
        return {str(job.source): job.source.stat().st_size for job in self.jobs if job.source.is_file()}

    def begin(self) -> "Begun":
        """Make folders, clear what killed runs have left there, and see how many workers are of use."""
        wanted, output = self.wanted(), self.task.naming.output
        make_output(output)
        check_target(self.task.report.path)
        make_folders(output, (job.target for job in wanted))
        for folder in {job.target.parent for job in wanted}:
            remove_stale(folder)
        room = self.room(wanted)
        return Begun(self, room, min(len(wanted), workers_that_fit(room.largest_pixels)))


@dataclass(frozen=True, slots=True)
class Begun:
    """A batch for whose results there is a place."""

    plan: Plan
    room: Room
    workers: int  # more would be of no use, or not fit into memory

    def events(self, stop: Stop) -> Iterator[Event]:
        """Work through the jobs, telling what happens."""
        return work_through(self.plan.jobs, self.plan.task, self.workers, stop)


def plan_batch(task: BatchTask) -> Plan:
    """Find the inputs of a batch and refuse results that would fall on each other or on what is read."""
    found = enumerate(task.search.files(task.sources), start=1)
    jobs = tuple(task.job(file, number) for number, file in found)
    masks = [job.work.mask for job in jobs if isinstance(job.work, Inpaint) and job.work.mask is not None]
    check_pairs(((job.source, job.target) for job in jobs), masks)
    check_apart(task.report.path, (path for job in jobs for path in (job.source, job.target)), masks)
    return Plan(task, jobs)


def run_batch(task: BatchTask, on_event: Callable[[Event], None] | None = None) -> Tally:
    """Do all that a task asks for, in processes of its own, and return what it amounts to.

    ``on_event`` is told of every `Started`, `Moved` and `Ended`, after it was recorded. A file that fails is
    counted and costs no other; raises `OutputError` when results cannot be written any more.
    """
    plan, tally = plan_batch(task), Tally()
    with closing(Stop()) as stop:
        for event in plan.begin().events(stop) if plan.jobs else ():
            tally.add(event)
            if on_event is not None:
                on_event(event)
    return tally


def work_through(jobs: Iterable[Job | None], task: BatchTask, workers: int, stop: Stop) -> Iterator[Event]:
    """Do jobs as they come, telling what happens after it was recorded; None lets events through."""
    rules = task.rules
    run = Run(task.naming.output, task.report, stop, resume=rules.resume, overwrite_ours=rules.overwrite_ours)
    try:
        with _crew(task, workers, stop) as crew:
            yield from run.events(jobs, crew)
    finally:
        run.close()


@contextmanager
def _crew(task: BatchTask, most: int, stop: Stop) -> Iterator[Crew]:
    """Those who do the work: processes of this machine, or of a cluster if one is named."""
    wish = task.workers
    if wish.scheduler:
        with _cluster(wish.scheduler, task, stop) as crew:
            yield crew
        return
    if most:
        prepare_kernels(task.kernels)
    team = team_for(task.trial, jobs=wish.jobs, threads=wish.threads, memory=wish.memory, most=most)
    with Supervisor(team, wish.allowance, stop) as crew:
        yield crew


def _cluster(scheduler: str, task: BatchTask, stop: Stop) -> "Cluster":
    """The cluster of a scheduler; what it takes is imported here and nowhere else."""
    try:
        from demosaic_ntc.batch.workers.cluster import Cluster  # noqa: PLC0415 (an extra)
    except ImportError as error:
        message = f"a scheduler needs {error.name}; pip install 'demosaic-ntc[cluster]'"
        raise ClusterError(message) from error
    return Cluster(scheduler, task.workers.allowance, task.workers.threads, stop)
