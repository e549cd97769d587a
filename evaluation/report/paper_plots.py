"""The paper's figures 1 to 4 with our measurements: NMSE and seconds on logarithmic scales.

Solid lines are measured here, with bars of one standard error; dashed lines of the same colour are the
paper's means for the method named first.
"""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from demosaic_ntc.errors import InputError
from demosaic_ntc.files.atomic import whole_file

from ..data.paper_tables import PaperMethod, Table

if TYPE_CHECKING:
    from .paper import Summary

FORMATS = ("png", "pdf", "svg")

#: Values below are drawn here: an exact recovery would stretch the scale to 1e-30.
FLOOR = 1e-8

_AXES = {"size": "size of each of three modes", "order": "order", "samples": "samples"}


def check_format(target: Path) -> None:
    """Refuse a plot whose name does not say a known format."""
    if target.suffix[1:] not in FORMATS:
        raise InputError(f"{target}: plots are written as {', '.join(FORMATS)}; name the file accordingly")


def write_plot(target: Path, summaries: "Sequence[Summary]") -> None:
    """Draw the tables and write them in the format the name says."""
    with whole_file(target, overwrite=True) as file:
        paper_figure(summaries).savefig(file, format=target.suffix[1:], dpi=150)


def paper_figure(summaries: "Sequence[Summary]") -> Figure:
    """Draw two panels per table, NMSE and seconds, of what has means."""
    by_table = [list(group) for _, group in groupby(summaries, key=lambda s: s.experiment.table.name)]
    figure = Figure(figsize=(11, 4.2 * max(len(by_table), 1)), layout="constrained")
    panels = figure.subplots(max(len(by_table), 1), 2, squeeze=False)
    for (accuracy, time), group in zip(panels, by_table, strict=False):
        _draw(accuracy, group, "nmse", f"NMSE (below {FLOOR:g} drawn there)")
        _draw(time, group, "seconds", "seconds")
        accuracy.legend(fontsize="small")
    return figure


def _draw(axes: Any, summaries: "list[Summary]", quantity: str, name: str) -> None:
    """One panel: a solid line per method and the paper's dashed ones."""
    table = summaries[0].experiment.table
    methods = list(dict.fromkeys(summary.method.name for summary in summaries))
    drawn: set[PaperMethod] = set()
    for number, method in enumerate(methods):
        own = [summary for summary in summaries if summary.method.name == method]
        colour = f"C{number}"
        _draw_measured(axes, own, quantity, colour)
        paper = own[0].method.paper
        if paper and paper not in drawn:
            drawn.add(paper)
            _draw_published(axes, own, quantity, colour)
    _scale(axes, table, name)


def _draw_measured(axes: Any, own: "list[Summary]", quantity: str, colour: str) -> None:
    """Our means with bars of one standard error."""
    estimates = [estimate for summary in own if (estimate := summary.estimate(quantity))]
    means = [max(estimate.mean, FLOOR) for estimate in estimates]
    above = [estimate.error if estimate.error == estimate.error else 0.0 for estimate in estimates]
    below = [min(error, mean - FLOOR) for error, mean in zip(above, means, strict=True)]
    axes.errorbar(
        [summary.experiment.label for summary in own],
        means,
        yerr=[below, above],
        color=colour,
        marker="o",
        markersize=3,
        capsize=2,
        label=own[0].method.name,
    )


def _draw_published(axes: Any, own: "list[Summary]", quantity: str, colour: str) -> None:
    """The paper's means for the rows that were measured and that it has."""
    points = [(s.experiment.label, getattr(s.published, quantity)) for s in own if s.published]
    if points:
        places, values = zip(*points, strict=True)
        name = f"{own[0].method.paper} (paper)"
        axes.plot(places, values, color=colour, linestyle="--", marker="x", markersize=4, label=name)


def _scale(axes: Any, table: Table, name: str) -> None:
    """Logarithmic scales and names of the axes."""
    axes.set_yscale("log")
    if table.varies == "samples":
        axes.set_xscale("log")
    else:
        axes.set_xticks([getattr(row, table.varies) for row in table.rows])
    axes.set_xlabel(_AXES[table.varies])
    axes.set_ylabel(name)
    axes.set_title(f"Table {table.name}: {table.caption}", fontsize="small")
    axes.grid(alpha=0.3)
