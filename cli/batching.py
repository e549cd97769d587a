"""A batch asked for on the command line: planned and checked as a whole, then worked through."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from demosaic_ntc.batch.job import Job
from demosaic_ntc.batch.journal import Journal
from demosaic_ntc.batch.plan import check_output, check_pairs, make_folders
from demosaic_ntc.batch.resume import History, decide
from demosaic_ntc.batch.space import expect, free_bytes
from demosaic_ntc.batch.work import Inpaint
from demosaic_ntc.errors import Clash
from demosaic_ntc.files.atomic import check_target
from demosaic_ntc.files.partial import remove_stale

from .assignment import Assignment, conversion, repair
from .batch_summary import megabytes, plan_lines
from .saying import mention, say
from .team import workers_that_fit
from .working import Extent, work_through


def batch_files(options: Mapping[str, Any]) -> None:
    """Do what the options describe to all files that they name."""
    task = repair(options) if options["inpainting"] else conversion(options)
    jobs = [task.job(found) for found in task.search.files(options["sources"])]
    try:
        check_pairs(((job.source, job.target) for job in jobs), filter(None, map(_mask, jobs)))
    except Clash as error:
        raise typer.BadParameter(str(error)) from error
    check_output(task.naming.output)
    if not jobs:
        mention("no files to work on; folders are searched by extension, and below them with --recursive")
    elif options["dry_run"]:
        _tell_plan(jobs, task)
    else:
        _work_on(jobs, task)


def _mask(job: Job) -> Path | None:
    """The mask that is read for a job."""
    return job.work.mask if isinstance(job.work, Inpaint) else None


def _tell_plan(jobs: Sequence[Job], task: Assignment) -> None:
    """Say what would be done, and touch nothing."""
    history = None
    if task.options["resume"]:
        history = History.of(task.report.records(), Journal(task.report.path).adopt())
    say(plan_lines(decide(job, history) for job in jobs))
    _tell_room(jobs, task)


def _work_on(jobs: Sequence[Job], task: Assignment) -> None:
    """Make room for the results and work through the jobs."""
    resume = task.options["resume"]
    needed = [job for job in jobs if resume or job.overwrite or not os.path.lexists(job.target)]
    check_target(task.report.path)
    make_folders(task.naming.output, (job.target for job in needed))
    for folder in {job.target.parent for job in needed}:
        remove_stale(folder)
    largest = _tell_room(needed, task)
    sizes = {str(job.source): job.source.stat().st_size for job in jobs if job.source.is_file()}
    extent = Extent(len(jobs), sizes, min(len(needed), workers_that_fit(largest)))
    work_through(jobs, extent, task, resume=resume)


def _tell_room(jobs: Sequence[Job], task: Assignment) -> int:
    """Say how much room the results will take, if it matters; return the pixels of the largest.

    A disk that is too small is no reason to refuse: what fits is done, and a later run goes on from there.
    """
    expected = expect([job.source for job in jobs])
    needed, free = task.room(expected), free_bytes(task.naming.output)
    if needed > free or (task.options["dry_run"] and not task.options["quiet"]):
        mention(f"results will take about {megabytes(needed)}; {megabytes(free)} are free")
    return expected.largest_pixels
