"""A watch asked for on the command line: every file that arrives becomes a job."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

from demosaic_ntc.batch.job import Job
from demosaic_ntc.batch.plan import check_output, make_folders
from demosaic_ntc.batch.watch import Arrivals
from demosaic_ntc.errors import InputError
from demosaic_ntc.files.atomic import check_target
from demosaic_ntc.files.partial import remove_stale

from .assignment import Assignment, conversion
from .saying import mention
from .team import processors
from .working import Extent, work_through


def watch_folder(folder: Path, options: Mapping[str, Any]) -> None:
    """Convert what appears in a folder until somebody stops it."""
    task, place = conversion(options), Path(os.path.abspath(folder))
    if not place.is_dir():
        raise InputError(f"{folder}: there is no such folder; give the one in which raws appear")
    if os.path.realpath(place) == os.path.realpath(task.naming.output) and _would_see_results(task):
        raise typer.BadParameter("results would be taken for new raws; give another --output")
    check_output(task.naming.output)
    check_target(task.report.path)
    remove_stale(task.naming.output)
    arrivals = Arrivals(
        place, task.search, settle=options["settle"], existing=options["existing"], poll=options["poll"]
    )
    if not options["quiet"]:
        mention(f"watching {folder}; Ctrl-C ends it")
    with arrivals:
        extent = Extent(files=None, sizes={}, workers=processors())
        work_through(_jobs(arrivals, task), extent, task, resume=True)


def _would_see_results(task: Assignment) -> bool:
    """Whether results look like inputs."""
    return task.search.takes(f"any{task.naming.suffix}")


def _jobs(arrivals: Arrivals, task: Assignment) -> Iterator[Job | None]:
    """The jobs of files as they arrive; no result takes the place of another input's."""
    owners: dict[Path, Path] = {}
    for found in arrivals:
        if found is None:
            yield None
            continue
        job = task.job(found)
        if (owner := owners.setdefault(job.target, job.source)) != job.source:
            mention(f"{job.source}: passed over, {job.target} is the result of {owner}; give --name")
            continue
        make_folders(task.naming.output, [job.target])
        yield job
