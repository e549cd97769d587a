"""A batch asked for on the command line: planned, shown or worked through."""

from collections.abc import Mapping
from typing import Any

from demosaic_ntc.batch.batch import Plan, plan_batch
from demosaic_ntc.batch.discovery import MASK_ENDINGS, make_output
from demosaic_ntc.batch.job import Job
from demosaic_ntc.batch.operations import Inpaint
from demosaic_ntc.batch.space import DiskSpace
from demosaic_ntc.errors import Clash

from ..flags import wrong_usage
from ..output.batch_summary import megabytes, plan_lines
from ..output.messages import print_lines, print_note
from .task import task_from
from .work import work_shown


def batch_files(options: Mapping[str, Any]) -> None:
    """Do what the options describe to all files that they name.

    A disk that is too small is no reason to refuse: what fits is done, and a later run goes on from there.
    """
    with wrong_usage(Clash):
        plan = plan_batch(task_from(options["sources"], options))
    if not plan.jobs:
        if not options["dry_run"]:
            make_output(plan.task.naming.output)
        print_note("no files to work on; folders are searched by extension, and below them with --recursive")
    elif options["dry_run"]:
        _tell_plan(plan, quiet=options["quiet"])
    else:
        with plan.begin() as begun:
            _tell_room(begun.room)
            work_shown(begun, len(plan.jobs), quiet=options["quiet"], verbose=options["verbose"])


def _tell_plan(plan: Plan, *, quiet: bool) -> None:
    """Say what would be done, and touch nothing."""
    decided = plan.decide()
    print_lines(plan_lines(decided))
    needed = [item for item in decided if isinstance(item, Job)]
    _tell_room(plan.room(needed), always=not quiet)
    if maskless := sum(map(_lacks_mask, needed)):
        endings = " or ".join(f"NAME{ending}" for ending in MASK_ENDINGS)
        print_note(f"{maskless} of them have no mask beside them ({endings}) and would fail")


def _lacks_mask(job: Job) -> bool:
    """Whether a job is a repair that does not know what to repair."""
    return isinstance(job.work, Inpaint) and job.work.mask is None and job.work.settings.needs_mask


def _tell_room(room: DiskSpace, *, always: bool = False) -> None:
    """Say how much room the results will take, if it matters."""
    if room.needed > room.free or always:
        print_note(f"results will take about {megabytes(room.needed)}; {megabytes(room.free)} are free")
