"""A batch at work, with signals heard, progress shown, and a summary whatever happens."""

import typer

from demosaic_ntc.batch.batch import RunningBatch
from demosaic_ntc.errors import DemosaicNtcError

from ..failures import ExitCode
from ..interrupts import signals_ask
from ..output.batch_display import BatchView, Forecast, show_batch
from ..output.batch_summary import summary_lines
from ..output.messages import print_lines, print_note
from .prepare import prepare_shown


def work_shown(begun: RunningBatch, files: int | None, *, quiet: bool, verbose: bool) -> None:
    """Let a batch of so many files work, or of files still to appear; exit by what became of it."""
    task, tally, trouble, is_watch = begun.task, begun.tally, None, files is None
    with signals_ask(begun.stop) as heard:
        forecast = Forecast(task.kind.costs, begun.room.sizes)
        view = BatchView(
            tally, forecast, files, quiet, verbose or is_watch
        )  # a watch says what it has finished
        try:
            if begun.workers and not task.workers.scheduler:
                prepare_shown(quiet=quiet)
            with show_batch(view) as show:
                for event in begun.events():
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
