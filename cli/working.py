"""Jobs worked through by a crew, with signals heard, progress shown, and a summary whatever happens."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import typer

from demosaic_ntc.batch.job import Allowance, Job
from demosaic_ntc.batch.run import Crew, Run
from demosaic_ntc.batch.stop import Stop
from demosaic_ntc.batch.supervisor import Supervisor
from demosaic_ntc.errors import ClusterError, OutputError

from .assignment import Assignment
from .batch_display import Forecast, View, shown_batch
from .batch_summary import Tally
from .failures import ExitCode
from .interrupts import signals_ask
from .preparing import prepare_shown
from .saying import say
from .team import team_for

if TYPE_CHECKING:
    from demosaic_ntc.batch.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Extent:
    """How much there is to do; files that are still to appear are in no list."""

    files: int | None
    sizes: dict[str, int]  # bytes, by path
    workers: int  # more would be of no use, or not fit into memory


def work_through(jobs: Iterable[Job | None], extent: Extent, task: Assignment, *, resume: bool) -> None:
    """Do the jobs; exit by what became of them."""
    quiet = task.options["quiet"]
    tally = Tally()
    trouble: OutputError | ClusterError | None = None
    with closing(Stop()) as stop, signals_ask(stop) as heard:
        run = Run(task.naming.output, task.report, stop, resume=resume)
        forecast = Forecast(task.costs, extent.sizes)
        view = View(tally, forecast, extent.files, quiet, task.options["verbose"])
        try:
            with crew_for(task, extent, stop) as crew, shown_batch(view) as show:
                for event in run.events(jobs, crew):
                    tally.add(event)
                    show(event)
        except (OutputError, ClusterError) as error:
            trouble = error
        run.close()
    if not quiet and (tally.counts or trouble is None):
        say(tally.lines(task.report.path))
    heard.raise_again()
    if trouble is not None:
        raise trouble
    if tally.failed:
        raise typer.Exit(ExitCode.SOME_FAILED)


@contextmanager
def crew_for(task: Assignment, extent: Extent, stop: Stop) -> Iterator[Crew]:
    """Those who do the work: processes of this machine, or of a cluster if one is named."""
    options = task.options
    if options["scheduler"]:
        with _cluster(options["scheduler"])(task.allowance, options["threads"], stop) as crew:
            yield crew
        return
    team = team_for(
        task.trial,
        jobs=options["jobs"],
        threads=options["threads"],
        memory=task.allowance.memory,
        most=extent.workers,
    )
    if extent.workers:
        prepare_shown(task.kernels, quiet=options["quiet"])
    with Supervisor(team, task.allowance, stop) as crew:
        yield crew


def _cluster(scheduler: str) -> "Callable[[Allowance, int | None, Stop], Cluster]":
    """The cluster of a scheduler; what it takes is imported here and nowhere else."""
    try:
        from demosaic_ntc.batch.cluster import Cluster
    except ImportError as error:
        message = f"--scheduler needs {error.name}; pip install 'demosaic-ntc[cluster]'"
        raise ClusterError(message) from error
    return partial(Cluster, scheduler)
