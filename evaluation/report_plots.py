"""What a report shows as drawings: quality against time, gains, convergence, errors and expected errors."""

from collections.abc import Sequence
from math import nan
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from .convergence import Trace
from .demosaic_summary import Line, SetSummary, best_on
from .error_bins import TOLERANCE
from .error_tables import Calibration
from .inpaint_summary import MaskSummary
from .pictures import Bytes

# Ours stand out; what it is made of and peers are told apart by shape as well as by colour.
_LOOKS: dict[str, dict[str, Any]] = {
    "ours": {"color": "#0b5cad", "marker": "o"},
    "part": {"color": "#5b8f3a", "marker": "s"},
    "peer": {"color": "#8a8f98", "marker": "^"},
    "reference": {"color": "#b36b00", "marker": "x"},
}

# The axes of a drawing without any point.
_UNIT = np.array([0.1, 10.0])

# Errors are drawn this many times as bright as they are.
_BRIGHTER = 8


def quality_and_time(summaries: Sequence[SetSummary]) -> Figure:
    """CPSNR against CPU seconds per megapixel: a point per method, a panel per set."""
    figure = Figure(figsize=(6.2 * max(len(summaries), 1), 4.6), layout="constrained")
    for panel, summary in zip(_row(figure, len(summaries)), summaries, strict=False):
        for line in summary.lines:
            quality, cost = line.mean("cpsnr"), line.mean("cpu_s_per_mp")
            if quality is None or cost is None:
                continue
            panel.plot(cost, quality, markersize=7, linestyle="", **_LOOKS[line.role])
            _name(panel, line, (cost, quality))
        panel.set_xscale("log")
        panel.margins(x=0.18)
        panel.set_title(f"{summary.set.name}, mean over {summary.set.size} pictures", fontsize=10)
        panel.set_xlabel("CPU seconds per megapixel")
        panel.set_ylabel("CPSNR in dB")
        panel.grid(alpha=0.3)
    return figure


def _name(panel: Any, line: Line, point: tuple[float, float]) -> None:
    """A method's name beside its point: what ours is made of on the left, since it lies close to ours."""
    left = line.role == "part"
    panel.annotate(
        line.method,
        point,
        xytext=(-7, -3) if left else (6, 3),
        textcoords="offset points",
        ha="right" if left else "left",
        fontsize=8,
    )


def gains(summaries: Sequence[SetSummary], method: str) -> Figure:
    """By how many decibels a method is above the best peer on each picture."""
    figure = Figure(figsize=(9, 3.2 * max(len(summaries), 1)), layout="constrained")
    panels = figure.subplots(max(len(summaries), 1), 1, squeeze=False)[:, 0]
    for panel, summary in zip(panels, summaries, strict=False):
        differences = gains_of(summary, method)
        names, values = list(differences), list(differences.values())
        colours = ["#0b5cad" if value >= 0 else "#b3261e" for value in values]
        panel.bar(names, values, color=colours)
        panel.axhline(0, color="black", linewidth=0.8)
        panel.set_title(f"{summary.set.name}: {method} over the best peer of each picture", fontsize=10)
        panel.set_ylabel("dB")
        panel.tick_params(axis="x", rotation=90, labelsize=7)
        panel.grid(axis="y", alpha=0.3)
    return figure


def gains_of(summary: SetSummary, method: str) -> dict[str, float]:
    """The gain of a method over the best peer, by picture."""
    own = summary.line(method)
    peers = [line for line in summary.lines if line.role == "peer"]
    if own is None:
        return {}
    return {
        image: figures["cpsnr"] - best[1]
        for image, figures in own.figures.items()
        if (best := best_on(image, peers)) is not None
    }


def mask_gains(summaries: Sequence[MaskSummary]) -> Figure:
    """By how many decibels ours is above what people use and above its own control, mask by mask."""
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    (panel,) = _row(figure, 1)
    places = np.arange(len(summaries))
    bars = (
        ("over biharmonic", "over_baseline", "#0b5cad"),
        ("over the group mean", "over_control", "#5b8f3a"),
    )
    for number, (label, quantity, colour) in enumerate(bars):
        gained = [getattr(summary, quantity) for summary in summaries]
        heights = [gain.mean if gain and gain.mean is not None else nan for gain in gained]
        panel.bar(places + 0.4 * number - 0.2, heights, width=0.4, color=colour, label=label)
    panel.set_xticks(places, [summary.mask for summary in summaries], rotation=30, fontsize=8)
    panel.axhline(0, color="black", linewidth=0.8)
    panel.set_ylabel("dB")
    panel.legend(fontsize=8)
    panel.grid(axis="y", alpha=0.3)
    return figure


def convergence(traces: Sequence[Trace]) -> Figure:
    """Objective and proven bound by iteration, and the gap between them."""
    figure = Figure(figsize=(9, 3.4 * max(len(traces), 1)), layout="constrained")
    panels = figure.subplots(max(len(traces), 1), 2, squeeze=False)
    for (bounds, gap), trace in zip(panels, traces, strict=False):
        iterations = [step.iteration for step in trace.steps]
        objective = np.array([step.objective for step in trace.steps])
        lower = np.array([step.lower_bound for step in trace.steps])
        bounds.plot(iterations, objective, color="#0b5cad", label="objective")
        bounds.plot(iterations, lower, color="#b36b00", label="proven lower bound")
        bounds.set_yscale("symlog", linthresh=max(float(objective[-1]) / 10, 1e-9))
        bounds.set_title(trace.title, fontsize=10)
        bounds.legend(fontsize=8)
        gap.plot(iterations, np.maximum(objective - lower, 1e-16), color="#1b1e23")
        gap.set_yscale("log")
        gap.set_title("proven gap", fontsize=10)
        for panel in (bounds, gap):
            panel.set_xlabel("iteration")
            panel.grid(alpha=0.3)
    return figure


def error_maps(rows: Sequence[tuple[str, Bytes, Sequence[tuple[str, Bytes]]]]) -> Figure:
    """For each picture the truth, versions of it, and below them how far each is from the truth."""
    across = max((len(versions) for _, _, versions in rows), default=1) + 1
    figure = Figure(figsize=(2.1 * across, 4.4 * max(len(rows), 1)), layout="constrained")
    panels = figure.subplots(2 * max(len(rows), 1), across, squeeze=False)
    for panel in panels.flat:
        panel.axis("off")
    for number, (name, truth, versions) in enumerate(rows):
        _show(panels[2 * number, 0], truth, f"{name}: truth")
        for place, (version, pixels) in enumerate(versions, start=1):
            errors = np.abs(pixels.astype(np.int16) - truth) * _BRIGHTER
            _show(panels[2 * number, place], pixels, version)
            _show(
                panels[2 * number + 1, place],
                np.minimum(errors, 255).astype(np.uint8),
                f"errors ×{_BRIGHTER}",
            )
    return figure


def reliability(found: Sequence[Calibration]) -> Figure:
    """True against expected error, a point per bin, with the diagonal and what is tolerated around it."""
    figure = Figure(figsize=(4.8 * max(len(found), 1), 4.6), layout="constrained")
    for panel, each in zip(_row(figure, len(found)), found, strict=False):
        points = [
            (one.expected, one.true, one.counts) for one in each.bins if one.expected > 0 and one.true > 0
        ]
        ends = (
            np.array([min(min(p[:2]) for p in points), max(max(p[:2]) for p in points)]) if points else _UNIT
        )
        ends = ends * (0.7, 1.4)
        panel.fill_between(ends, ends * (1 - TOLERANCE), ends * (1 + TOLERANCE), color="#0b5cad", alpha=0.12)
        panel.plot(ends, ends, color="#8a8f98", linewidth=0.8)
        panel.plot([p[0] for p in points], [p[1] for p in points], color="#0b5cad", linewidth=0.8)
        for expected, true, counts in points:
            filled = "#0b5cad" if counts else "white"
            panel.plot(expected, true, color="#0b5cad", marker="o", markersize=6, markerfacecolor=filled)
        panel.set(xscale="log", yscale="log", xlim=tuple(ends), ylim=tuple(ends), aspect="equal")
        panel.set_title(f"{each.task}, pictures: {each.pictures}", fontsize=10)
        panel.set_xlabel("expected RMSE, of 255")
        panel.set_ylabel("true RMSE, of 255")
        panel.grid(alpha=0.3)
    return figure


def _show(panel: Any, pixels: Bytes, title: str) -> None:
    """A picture with square pixels."""
    panel.imshow(pixels, interpolation="nearest")
    panel.set_title(title, fontsize=8)


def _row(figure: Figure, count: int) -> list[Any]:
    """Panels side by side."""
    return list(figure.subplots(1, max(count, 1), squeeze=False)[0])
