"""A batch or a watch asked for on the command line: planned, shown or worked through."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from demosaic_ntc.batch.batch import Plan, RunningBatch, plan_batch
from demosaic_ntc.batch.discovery import MASK_ENDINGS, make_output
from demosaic_ntc.batch.job import Job
from demosaic_ntc.batch.operations import Inpaint
from demosaic_ntc.batch.space import DiskSpace
from demosaic_ntc.batch.spec import BatchTask, Rules, Workers
from demosaic_ntc.batch.watch import Arrivals, begin_watch, check_watched
from demosaic_ntc.errors import Clash, DemosaicNtcError, InputError

from ..failures import ExitCode, print_lines, print_note, wrong_usage
from ..interrupts import signals_ask
from ..output.batch_display import BatchView, Forecast, show_batch
from ..output.batch_summary import megabytes, plan_lines, summary_lines
from ..output.progress import prepare_shown
from . import convert, inpaint


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
        with plan.begin() as running:
            _tell_room(running.room)
            work_shown(running, len(plan.jobs), quiet=options["quiet"], verbose=options["verbose"])


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
    free = "" if room.free is None else f"; {megabytes(room.free)} are free"
    if always or (room.free is not None and room.needed > room.free):
        print_note(f"results will take about {megabytes(room.needed)}{free}")


_SAME_NAMES = ("output", "name", "recursive", "report")


def task_from(sources: Sequence[str], options: Mapping[str, Any]) -> BatchTask:
    """The work on all files that the options describe; what makes no sense is wrong usage."""
    of_workers = {name: options[name] for name in ("jobs", "threads", "timeout", "scheduler")}
    gigabytes = options["memory"]
    where = {name: options[name] for name in _SAME_NAMES} | {
        "workers": Workers(memory=gigabytes and round(gigabytes * 1e9), **of_workers),
        "rules": Rules(options["overwrite"], options["resume"], options["overwrite_ours"]),
    }
    with wrong_usage(InputError):
        if options["inpainting"]:
            pictures = inpaint.settings_from(options)
            return BatchTask.repair(sources, settings=pictures, format=options["format"], **where)
        raws, format = convert.settings_from(options), options["format"] or "png"
        return BatchTask.convert(sources, settings=raws, format=format, **where)


def work_shown(running: RunningBatch, files: int | None, *, quiet: bool, verbose: bool) -> None:
    """Let a batch of so many files work, or of files still to appear; exit by what became of it."""
    task, tally, trouble, is_watch = running.task, running.tally, None, files is None
    with signals_ask(running.stop) as heard:
        forecast = Forecast(task.kind.costs, running.room.sizes)
        view = BatchView(
            tally, forecast, files, quiet, verbose or is_watch
        )  # a watch says what it has finished
        try:
            if running.workers and not task.workers.scheduler:
                prepare_shown(quiet=quiet)
            with show_batch(view) as show:
                for event in running.events():
                    show(event)
        except DemosaicNtcError as error:
            trouble = error
    if not quiet and (tally.counts or trouble is None):
        print_lines(summary_lines(tally, task.report.path))
    if heard.signal is not None and not is_watch and not quiet:
        print_note("the same command with --resume goes on from here")
    heard.raise_again()
    if trouble is not None:
        raise trouble
    if tally.failures:
        raise typer.Exit(ExitCode.SOME_FAILED)


def watch_folder(options: Mapping[str, Any]) -> None:
    """Convert what appears in a folder until somebody stops it."""
    task = task_from([options["folder"]], options)
    with wrong_usage(Clash):
        folder = check_watched(task)
    how = {name: options[name] for name in ("settle", "existing", "poll")}
    arrivals = Arrivals(Path(os.path.abspath(folder)), task.search, **how)
    with begin_watch(task, arrivals, print_note) as running:
        if not options["quiet"]:
            print_note(f"watching {folder}; Ctrl-C ends it")
        work_shown(running, None, quiet=options["quiet"], verbose=options["verbose"])
