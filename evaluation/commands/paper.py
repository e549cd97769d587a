"""The command ``benchmark paper``: the experiments of the paper, and our figures beside its."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import parts
from .running import check_targets, measure_and_show, prepared, split_names, usage

if TYPE_CHECKING:
    from ..measure.results import Results
    from ..measure.store import Store

CONTROL = "mean"


def paper(
    table: Annotated[str, typer.Option(help="Tables of the paper, 1 to 4, or noisy.")] = "1,2,3,4",
    rows: Annotated[
        str, typer.Option(help="Only these rows: size in table 1, order in 2, samples in 3 and 4, or 10^6.")
    ] = "",
    reps: Annotated[int, typer.Option(min=1, help="Repetitions of each row.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first repetition.")] = 0,
    methods: Annotated[
        str, typer.Option(help=f"Methods to compare; {CONTROL} always runs as a control.")
    ] = "ntc,ntc-least,ntc-auto,als,silrtc,tncp",
    gap: Annotated[float, typer.Option(min=0.0, help="Certified gap at which our solver stops.")] = 1e-6,
    deadline: Annotated[
        float | None, typer.Option(min=0.0, help="Seconds our solver may take for one tensor.")
    ] = None,
    json: Annotated[
        Path | None, typer.Option(help="Keep everything in this file; a file that is there is continued.")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write a line per repetition to this CSV file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the results (png, pdf or svg).")] = None,
) -> None:
    """Repeat the experiments of the paper and print our figures beside its.

    An interrupted run prints and writes the repetitions that are finished; with --json the next one does only
    what is missing.
    """
    prepared(1)
    with usage():
        names = [*split_names(methods), CONTROL]
        part = parts.paper_part(table, rows, range(seed, seed + reps), names, gap=gap, deadline=deadline)
        check_targets(json, csv, plot)
        _check_plot(plot)

    def keep(results: "Results", store: "Store", failed: bool) -> None:
        _keep(results, store, None if failed else plot)  # a drawing does not tell that half of it is missing

    measure_and_show(part, json, csv, details=True, keep=keep)


def _check_plot(plot: Path | None) -> None:
    """Refuse a plot whose name does not say a known format."""
    if plot is not None:
        from ..report.paper_plots import check_format

        check_format(plot)


def _keep(results: "Results", store: "Store", plot: Path | None) -> None:
    """Write summaries beside the repetitions, and draw them."""
    from ..report.paper import summaries, with_means
    from ..report.paper_plots import write_plot

    found = summaries(results)
    store.extra = {"summaries": [summary.encoded() for summary in found]}
    store.write()
    if plot is not None and with_means(found):
        write_plot(plot, with_means(found))
