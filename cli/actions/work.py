"""A batch at work, with signals heard, progress shown, and a summary whatever happens."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass

import typer

from demosaic_ntc.batch.job import Event
from demosaic_ntc.batch.tally import Tally
from demosaic_ntc.batch.task import BatchTask
from demosaic_ntc.batch.workers.stop import Stop
from demosaic_ntc.errors import DemosaicNtcError

from ..failures import ExitCode
from ..interrupts import signals_ask
from ..output.batch_display import Forecast, View, shown_batch
from ..output.batch_summary import summary_lines
from ..output.words import mention, say
from .prepare import prepare_shown


@dataclass(frozen=True, slots=True)
class Manners:
    """How much is said."""

    quiet: bool
    verbose: bool


def work_shown(
    events: Callable[[Stop], Iterator[Event]],
    task: BatchTask,
    manners: Manners,
    *,
    files: int | None,
    sizes: Mapping[str, int],
    prepares: bool,
) -> None:
    """Let a batch work; exit by what became of it.

    `sizes` are the bytes of inputs by path; without a number of files, they are still to appear.
    """
    tally, trouble, is_watch = Tally(), None, files is None
    with closing(Stop()) as stop, signals_ask(stop) as heard:
        # A watch says what it has finished.
        every_file = manners.verbose or is_watch
        view = View(tally, Forecast(task.costs, sizes), files, manners.quiet, every_file)
        try:
            if prepares and not task.workers.scheduler:
                prepare_shown(task.kernels, quiet=manners.quiet)
            with shown_batch(view) as show:
                for event in events(stop):
                    tally.add(event)
                    show(event)
        except DemosaicNtcError as error:
            trouble = error
    if not manners.quiet and (tally.counts or trouble is None):
        say(summary_lines(tally, task.report.path))
    if heard.signal is not None and not is_watch and not manners.quiet:
        mention("the same command with --resume goes on from here")
    heard.raise_again()
    if trouble is not None:
        raise trouble
    if tally.failed:
        raise typer.Exit(ExitCode.SOME_FAILED)
