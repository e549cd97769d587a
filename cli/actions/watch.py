"""A watch asked for on the command line: every file that arrives becomes a job."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

from demosaic_ntc.batch.job import Event, Job
from demosaic_ntc.batch.plan import make_folders, make_output
from demosaic_ntc.batch.planned import work_through
from demosaic_ntc.batch.task import BatchTask
from demosaic_ntc.batch.watch import Arrivals
from demosaic_ntc.batch.workers.stop import Stop
from demosaic_ntc.errors import InputError
from demosaic_ntc.files.atomic import check_target
from demosaic_ntc.files.partial import remove_stale
from demosaic_ntc.machine import processors

from ..output.words import mention
from .task import conversion
from .work import Manners, work_shown


def watch_folder(folder: Path, options: Mapping[str, Any]) -> None:
    """Convert what appears in a folder until somebody stops it."""
    task, place = conversion([folder], options), Path(os.path.abspath(folder))
    if not place.is_dir():
        raise InputError(f"{folder}: there is no such folder; give the one in which raws appear")
    if os.path.realpath(place) == os.path.realpath(task.naming.output) and _would_see_results(task):
        raise typer.BadParameter("results would be taken for new raws; give another --output")
    make_output(task.naming.output)
    check_target(task.report.path)
    remove_stale(task.naming.output)
    arrivals = Arrivals(
        place, task.search, settle=options["settle"], existing=options["existing"], poll=options["poll"]
    )
    if not options["quiet"]:
        mention(f"watching {folder}; Ctrl-C ends it")
    with arrivals:

        def events(stop: Stop) -> Iterator[Event]:
            return work_through(_jobs(arrivals, task), task, processors(), stop)

        manners = Manners(options["quiet"], options["verbose"])
        work_shown(events, task, manners, files=None, sizes={}, prepares=True)


def _would_see_results(task: BatchTask) -> bool:
    """Whether results look like inputs."""
    return task.search.takes(f"any{task.naming.suffix}")


def _jobs(arrivals: Arrivals, task: BatchTask) -> Iterator[Job | None]:
    """The jobs of files as they arrive; no result takes the place of another input's."""
    owners: dict[Path, Path] = {}
    for number, found in enumerate(arrivals, start=1):
        if found is None:
            yield None
            continue
        job = task.job(found, number)
        if (owner := owners.setdefault(job.target, job.source)) != job.source:
            mention(f"{job.source}: passed over, {job.target} is the result of {owner}; give --name")
            continue
        if os.path.realpath(job.target) == os.path.realpath(task.report.path):
            mention(f"{job.source}: passed over, {job.target} is the report; give --name")
            continue
        make_folders(task.naming.output, [job.target])
        yield job
