"""What a report shows as drawings: quality against time, gains, convergence, errors, the paper's figures."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from demosaic_ntc.errors import InputError
from demosaic_ntc.io.atomic import whole_file

from ..measure.metrics import Bytes

if TYPE_CHECKING:
    from ..measure.convergence import Trace
    from ..measure.results import SetResults
    from ..measure.summary import Summary
from dataclasses import dataclass
from io import BytesIO

import matplotlib

from demosaic_ntc.viewer.page import Plot
from demosaic_ntc.viewer.pictures import address, write_beside

_BLUE, _GREEN, _GREY, _BROWN, _RED, _INK = "#0b5cad", "#5b8f3a", "#8a8f98", "#b36b00", "#b3261e", "#1b1e23"
# Ours stand out; what it is made of and peers are told apart by shape as well as by colour.
_LOOKS: dict[str, dict[str, Any]] = {
    "ours": {"color": _BLUE, "marker": "o"},
    "part": {"color": _GREEN, "marker": "s"},
    "peer": {"color": _GREY, "marker": "^"},
    "reference": {"color": _BROWN, "marker": "x"},
}
#: How far the true error may be from the expected one.
TOLERANCE = 0.3
# Errors are drawn this many times as bright as they are.
_BRIGHTER = 8

FORMATS = ("png", "pdf", "svg")
#: Values of the paper's figures below are drawn here: an exact recovery would stretch the scale to 1e-30.
FLOOR = 1e-8
# The same figures give the same bytes: no dates, and names of parts that do not change.
_STEADY: dict[Any, Any] = {"svg.hashsalt": "demosaic-ntc", "svg.fonttype": "path"}
_KINDS = {"svg": "image/svg+xml", "png": "image/png"}
_METADATA = {"svg": {"Date": None}, "png": {"Software": None}}
_DOTS_PER_INCH = 150
_AXES = {"size": "size of each of three modes", "order": "order", "samples": "samples"}


def _panels(down: int, across: int, width: float, height: float) -> tuple[Figure, Any]:
    """A figure and its panels (down, across), one at least; width and height in inches are of all of it."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(max(down, 1), max(across, 1), squeeze=False)


def _label_panel(panel: Any, title: str, x: str = "", y: str = "", grid: str = "both") -> None:
    """A panel's title, the names of its axes, and lines to read it by."""
    panel.set_title(title, fontsize=10)
    panel.set_xlabel(x)
    panel.set_ylabel(y)
    panel.grid(axis=grid, alpha=0.3)


def quality_and_time(sets: "Sequence[SetResults]") -> Figure:
    """CPSNR against CPU seconds per megapixel: a point per method, a panel per set."""
    figure, panels = _panels(1, len(sets), 6.2 * max(len(sets), 1), 4.6)
    for panel, found in zip(panels[0], sets, strict=False):
        quality, cost = found.means("cpsnr"), found.means("cpu_s_per_mp")
        for role, look in _LOOKS.items():
            for name in found.list_methods(role):
                if quality[name] == quality[name] and cost[name] == cost[name]:
                    panel.plot(cost[name], quality[name], markersize=7, linestyle="", **look)
                    # What ours is made of has its name on the left, since it lies close to ours.
                    left = role == "part"
                    place: dict[str, Any] = {
                        "xytext": (-7, -3) if left else (6, 3),
                        "ha": "right" if left else "left",
                    }
                    point = (cost[name], quality[name])
                    panel.annotate(name, point, textcoords="offset points", fontsize=8, **place)
        panel.set_xscale("log")
        panel.margins(x=0.18)
        title = f"{found.set.name}, mean over {found.set.size} pictures"
        _label_panel(panel, title, "CPU seconds per megapixel", "CPSNR in dB")
    return figure


def gains(sets: "Sequence[SetResults]", method: str) -> Figure:
    """By how many decibels a method is above the best peer on each picture."""
    figure, panels = _panels(len(sets), 1, 9, 3.2 * max(len(sets), 1))
    for panel, found in zip(panels[:, 0], sets, strict=False):
        gained = found.gains(method, found.list_methods("peer"))
        panel.bar(list(gained.index), list(gained), color=[_BLUE if value >= 0 else _RED for value in gained])
        panel.axhline(0, color="black", linewidth=0.8)
        panel.tick_params(axis="x", rotation=90, labelsize=7)
        _label_panel(
            panel, f"{found.set.name}: {method} over the best peer of each picture", y="dB", grid="y"
        )
    return figure


def mask_gains(masks: Sequence[str], gained: Mapping[str, Sequence[float]]) -> Figure:
    """By how many decibels ours is above two others, mask by mask; NaN where there is no mean."""
    figure, ((panel,),) = _panels(1, 1, 9, 3.4)
    places = np.arange(len(masks))
    for number, ((label, heights), colour) in enumerate(zip(gained.items(), (_BLUE, _GREEN), strict=True)):
        panel.bar(places + 0.4 * number - 0.2, heights, width=0.4, color=colour, label=label)
    panel.set_xticks(places, masks, rotation=30, fontsize=8)
    panel.axhline(0, color="black", linewidth=0.8)
    panel.legend(fontsize=8)
    _label_panel(panel, "", y="dB", grid="y")
    return figure


def convergence(traces: "Sequence[Trace]") -> Figure:
    """Objective and proven bound by iteration, and the gap between them."""
    figure, panels = _panels(len(traces), 2, 9, 3.4 * max(len(traces), 1))
    for (bounds, gap), trace in zip(panels, traces, strict=False):
        steps = pd.DataFrame(trace["steps"])
        bounds.plot(steps["iteration"], steps["objective"], color=_BLUE, label="objective")
        bounds.plot(steps["iteration"], steps["lower_bound"], color=_BROWN, label="proven lower bound")
        bounds.set_yscale("symlog", linthresh=max(float(steps["objective"].iloc[-1]) / 10, 1e-9))
        bounds.legend(fontsize=8)
        apart = np.maximum(steps["objective"] - steps["lower_bound"], 1e-16)
        gap.plot(steps["iteration"], apart, color=_INK)
        gap.set_yscale("log")
        _label_panel(bounds, trace["title"], "iteration")
        _label_panel(gap, "proven gap", "iteration")
    return figure


def error_maps(rows: Sequence[tuple[str, Bytes, Sequence[tuple[str, Bytes]]]]) -> Figure:
    """For each picture the truth, versions of it, and below them how far each is from the truth."""
    across = max((len(versions) for _, _, versions in rows), default=1) + 1
    figure, panels = _panels(2 * max(len(rows), 1), across, 2.1 * across, 4.4 * max(len(rows), 1))
    for panel in panels.flat:
        panel.axis("off")

    def show(panel: Any, pixels: Bytes, title: str) -> None:
        panel.imshow(pixels, interpolation="nearest")
        panel.set_title(title, fontsize=8)

    for (above, below), (name, truth, versions) in zip(
        zip(panels[::2], panels[1::2], strict=True), rows, strict=False
    ):
        show(above[0], truth, f"{name}: truth")
        for place, (version, pixels) in enumerate(versions, start=1):
            errors = np.minimum(np.abs(pixels.astype(np.int16) - truth) * _BRIGHTER, 255)
            show(above[place], pixels, version)
            show(below[place], errors.astype(np.uint8), f"errors ×{_BRIGHTER}")
    return figure


def reliability(found: Mapping[str, pd.DataFrame]) -> Figure:
    """True against expected error, a point per bin, with the diagonal and what is tolerated around it."""
    figure, panels = _panels(1, len(found), 4.8 * max(len(found), 1), 4.6)
    for panel, (task, bins) in zip(panels[0], found.items(), strict=False):
        points = bins[(bins["expected"] > 0) & (bins["true"] > 0)]
        errors = points[["expected", "true"]].to_numpy(float)
        ends = np.array([errors.min(), errors.max()] if len(points) else [0.1, 10.0]) * (0.7, 1.4)
        panel.fill_between(ends, ends * (1 - TOLERANCE), ends * (1 + TOLERANCE), color=_BLUE, alpha=0.12)
        panel.plot(ends, ends, color=_GREY, linewidth=0.8)
        panel.plot(errors[:, 0], errors[:, 1], color=_BLUE, linewidth=0.8)
        for (expected, true), counts in zip(errors, points["counts"], strict=True):
            look = {"marker": "o", "markersize": 6, "markerfacecolor": _BLUE if counts else "white"}
            panel.plot(expected, true, color=_BLUE, **look)
        panel.set(xscale="log", yscale="log", xlim=tuple(ends), ylim=tuple(ends), aspect="equal")
        _label_panel(panel, task, "expected RMSE, of 255", "true RMSE, of 255")
    return figure


def check_format(target: Path | None) -> None:
    """Refuse a plot whose name does not say a known format."""
    if target is not None and target.suffix[1:] not in FORMATS:
        raise InputError(f"{target}: plots are written as {', '.join(FORMATS)}; name the file accordingly")


def write_plot(target: Path, summaries: "Sequence[Summary]") -> None:
    """Draw the paper's tables and write them in the format the name says."""
    with whole_file(target, overwrite=True) as file:
        paper_figure(summaries).savefig(file, format=target.suffix[1:], dpi=_DOTS_PER_INCH)


def paper_figure(summaries: "Sequence[Summary]") -> Figure:
    """The paper's figures 1 to 4 with ours: NMSE and seconds of what has means, two panels per table.

    Solid lines are measured here, with bars of one standard error; dashed lines of the same colour are the
    paper's means for the method named first.
    """
    by_table = [list(group) for _, group in groupby(summaries, key=lambda s: s.experiment.table.name)]
    figure, panels = _panels(len(by_table), 2, 11, 4.2 * max(len(by_table), 1))
    for (accuracy, time), group in zip(panels, by_table, strict=False):
        _draw(accuracy, group, "nmse", f"NMSE (below {FLOOR:g} drawn there)")
        _draw(time, group, "seconds", "seconds")
        accuracy.legend(fontsize="small")
    return figure


def _draw(panel: Any, summaries: "list[Summary]", quantity: str, name: str) -> None:
    """One panel of the paper's figures: a solid line per method and the paper's dashed ones."""
    table, drawn = summaries[0].experiment.table, set()
    for number, method in enumerate(dict.fromkeys(summary.method.name for summary in summaries)):
        own, colour = [s for s in summaries if s.method.name == method], f"C{number}"
        _draw_measured(panel, own, quantity, colour)
        paper = own[0].method.paper
        points = [
            (s.experiment.label, getattr(s.published_figures, quantity)) for s in own if s.published_figures
        ]
        if paper not in drawn and points:
            label = f"{paper} (paper)"
            panel.plot(*zip(*points, strict=True), "x--", color=colour, markersize=4, label=label)
        drawn.add(paper)
    panel.set_yscale("log")
    if table.varies == "samples":
        panel.set_xscale("log")
    else:
        panel.set_xticks([getattr(row, table.varies) for row in table.rows])
    _label_panel(panel, "", _AXES[table.varies], name)
    panel.set_title(f"Table {table.name}: {table.caption}", fontsize="small")


def _draw_measured(panel: Any, own: "list[Summary]", quantity: str, colour: str) -> None:
    """Our means with bars of one standard error."""
    estimates = np.array([estimate for summary in own if (estimate := summary.estimate(quantity))])
    means, above = np.maximum(estimates[:, 0], FLOOR), np.nan_to_num(estimates[:, 1])
    labels = [summary.experiment.label for summary in own]
    look = {"color": colour, "marker": "o", "markersize": 3, "capsize": 2}
    bars = [np.minimum(above, means - FLOOR), above]
    panel.errorbar(labels, means, yerr=bars, label=own[0].method.name, **look)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure with its words."""

    name: str
    title: str
    caption: str
    figure: Figure
    kind: str = "svg"  # what a page shows

    def write(self, folder: Path) -> Plot:
        """Write the drawing as SVG and as PNG; returns it as a page shows it."""
        files = draw(self.figure)
        for kind, content in files.items():
            write_beside(folder, f"{self.name}.{kind}", content)
        return Plot(self.title, self.caption, address(files[self.kind], _KINDS[self.kind]))


def draw(figure: Figure) -> dict[str, bytes]:
    """The figure in every format; it is laid out once."""
    files = {}
    for kind in _KINDS:
        buffer = BytesIO()
        with matplotlib.rc_context(_STEADY):
            figure.savefig(buffer, format=kind, dpi=_DOTS_PER_INCH, metadata=_METADATA[kind])
        figure.set_layout_engine("none")
        files[kind] = buffer.getvalue()
    return files
