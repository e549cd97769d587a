"""A batch from its task to its end: planned and checked as a whole, then worked through by a crew."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field, replace

from demosaic_ntc.batch.discovery import check_apart, check_pairs, make_folders, make_output
from demosaic_ntc.batch.job import Event, Job, JobLimits, JobWork, Tally
from demosaic_ntc.batch.naming import tell_apart
from demosaic_ntc.batch.recorder import Run, WorkerPool, history_of
from demosaic_ntc.batch.records.resume import Skipped, decide
from demosaic_ntc.batch.space import DiskSpace, room_for
from demosaic_ntc.batch.spec import BatchTask, Workers
from demosaic_ntc.batch.workers.stop import Stop
from demosaic_ntc.batch.workers.supervisor import Supervisor
from demosaic_ntc.batch.workers.worker import WorkerSetup
from demosaic_ntc.errors import ClusterError
from demosaic_ntc.io.atomic import check_target, find_paths, is_absent, remove_stale
from demosaic_ntc.io.remote import RemotePath
from demosaic_ntc.jit.precompile import prepare_all
from demosaic_ntc.machine import available_memory, processors
from demosaic_ntc.workflows.costs import memory


@dataclass(frozen=True, slots=True)
class RunningBatch:
    """A batch for whose results there is a place."""

    task: BatchTask
    jobs: Iterable[Job | None]  # None: there is none at the moment
    workers: int  # more would be of no use, or not fit into memory
    room: DiskSpace  # for the results of files that are known
    stop: Stop  # whoever asks it ends the batch
    tally: Tally = field(default_factory=Tally)

    def events(self) -> Iterator[Event]:
        """Work through the jobs, telling what happens after it was recorded and counted."""
        with closing(Run(self.task, self.stop)) as run, _crew(self.task, self.workers, self.stop) as crew:
            for event in run.events(self.jobs, crew):
                self.tally.add(event)
                yield event


@dataclass(frozen=True, slots=True)
class Plan:
    """The jobs of a batch, checked against each other; nothing has been touched yet."""

    task: BatchTask
    jobs: tuple[Job, ...]

    def decide(self) -> list[Job | Skipped]:
        """What a run would do with every job."""
        history = history_of(self.task)
        return [decide(job, history) for job in self.jobs]

    def room(self, jobs: Iterable[Job]) -> DiskSpace:
        """What the results of some of the jobs will take, about."""
        sources, task = [job.source for job in jobs], self.task
        return room_for(sources, task.naming.output, task.kind.bytes_per_pixel)

    @contextmanager
    def begin(self) -> Iterator[RunningBatch]:
        """Make folders, clear what killed runs have left there, and see how many workers are of use.

        With a report to ask, the result of any job may have to be written.
        """
        task, everything = self.task, self.task.rules.asks_the_report
        make_output(task.naming.output)
        wanted = [job for job in self.jobs if everything or job.overwrite or is_absent(job.target)]
        check_target(task.report.path)
        make_folders(task.naming.output, (job.target for job in wanted))
        far = {job.source.parent for job in wanted if isinstance(job.source, RemotePath)}
        for folder in {job.target.parent for job in wanted} | far:
            remove_stale(folder)
        room = self.room(wanted)
        workers = min(len(wanted), workers_that_fit(room.largest_pixels))
        with closing(Stop()) as stop:
            yield RunningBatch(task, self.jobs, workers, room, stop)


def plan_batch(task: BatchTask) -> Plan:
    """Find the inputs of a batch and refuse results that would fall on each other or on what is read."""
    found = enumerate(task.search.files(task.sources), start=1)
    alone = [task.job(file, number) for number, file in found]
    targets = tell_apart([(job.source, job.target) for job in alone])
    jobs = tuple(replace(job, target=target) for job, target in zip(alone, targets, strict=True))
    works = {id(job.work): job.work for job in jobs}.values()  # files may share one
    read = [path for work in works for path in find_paths(work)]
    check_pairs(((job.source, job.target) for job in jobs), read)
    check_apart(task.report.path, (path for job in jobs for path in (job.source, job.target)), read)
    return Plan(task, jobs)


def run_batch(task: BatchTask, on_event: Callable[[Event], None] | None = None) -> Tally:
    """Do all that a task asks for, in processes of its own, and return what it amounts to.

    ``on_event`` is told of every `JobStarted`, `JobProgress` and `JobEnded`, after it was recorded. A file
    that fails is counted and costs no other; raises `OutputError` when results cannot be written any more.
    """
    plan = plan_batch(task)
    if not plan.jobs:
        return Tally()
    with plan.begin() as begun:
        for event in begun.events():
            if on_event is not None:
                on_event(event)
    return begun.tally


def _crew(task: BatchTask, most: int, stop: Stop) -> AbstractContextManager[WorkerPool]:
    """Those who do the work: processes of this machine, or of a cluster if one is named.

    What a cluster takes is imported here and nowhere else.
    """
    wish = task.workers
    allowance = JobLimits(wish.timeout, wish.memory)
    if not wish.scheduler:
        if most:
            prepare_all()  # once, not at the cost of the first jobs
        return Supervisor(team_for(task.kind.trial, wish, most), allowance, stop)
    try:
        from demosaic_ntc.batch.workers.cluster import Cluster  # noqa: PLC0415 (an extra)
    except ImportError as error:
        message = f"a scheduler needs {error.name}; pip install 'demosaic-ntc[cluster]'"
        raise ClusterError(message) from error
    return Cluster(wish.scheduler, allowance, wish.threads, stop)


def workers_that_fit(largest_pixels: int) -> int:
    """How many of the largest file fit into free memory at a time."""
    return max(int(available_memory() // memory(largest_pixels)), 1)


def team_for(work: JobWork, wish: Workers, most: int) -> list[WorkerSetup]:
    """The workers for a batch, whose threads together are as many as the processors.

    `most` bounds the number of workers that nobody has asked for.
    """
    cores = processors()
    workers = wish.jobs or max(min(cores // (wish.threads or 1), most), 1)
    share, rest = divmod(cores, workers)
    threads = [wish.threads or max(share + (worker < rest), 1) for worker in range(workers)]
    return [WorkerSetup(work, each, wish.memory) for each in threads]
