"""What a report shows as drawings: quality against time, gains, convergence, errors and expected errors."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ..measure.bins import TOLERANCE, Bin
from ..measure.convergence import Trace
from ..measure.likeness import Bytes
from ..measure.results import SetResults

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


def quality_and_time(sets: Sequence[SetResults]) -> Figure:
    """CPSNR against CPU seconds per megapixel: a point per method, a panel per set."""
    figure = Figure(figsize=(6.2 * max(len(sets), 1), 4.6), layout="constrained")
    for panel, found in zip(_row(figure, len(sets)), sets, strict=False):
        quality, cost = found.means("cpsnr"), found.means("cpu_s_per_mp")
        for role, look in _LOOKS.items():
            for name in found.named(role):
                if quality[name] == quality[name] and cost[name] == cost[name]:
                    panel.plot(cost[name], quality[name], markersize=7, linestyle="", **look)
                    _name(panel, name, (cost[name], quality[name]), left=role == "part")
        panel.set_xscale("log")
        panel.margins(x=0.18)
        panel.set_title(f"{found.set.name}, mean over {found.set.size} pictures", fontsize=10)
        panel.set_xlabel("CPU seconds per megapixel")
        panel.set_ylabel("CPSNR in dB")
        panel.grid(alpha=0.3)
    return figure


def _name(panel: Any, name: str, point: tuple[float, float], *, left: bool) -> None:
    """A method's name beside its point: what ours is made of on the left, since it lies close to ours."""
    panel.annotate(
        name,
        point,
        xytext=(-7, -3) if left else (6, 3),
        textcoords="offset points",
        ha="right" if left else "left",
        fontsize=8,
    )


def gains(sets: Sequence[SetResults], method: str) -> Figure:
    """By how many decibels a method is above the best peer on each picture."""
    figure = Figure(figsize=(9, 3.2 * max(len(sets), 1)), layout="constrained")
    panels = figure.subplots(max(len(sets), 1), 1, squeeze=False)[:, 0]
    for panel, found in zip(panels, sets, strict=False):
        gained = found.gains(method, found.named("peer"))
        colours = ["#0b5cad" if value >= 0 else "#b3261e" for value in gained]
        panel.bar(list(gained.index), list(gained), color=colours)
        panel.axhline(0, color="black", linewidth=0.8)
        panel.set_title(f"{found.set.name}: {method} over the best peer of each picture", fontsize=10)
        panel.set_ylabel("dB")
        panel.tick_params(axis="x", rotation=90, labelsize=7)
        panel.grid(axis="y", alpha=0.3)
    return figure


def mask_gains(masks: Sequence[str], gained: Mapping[str, Sequence[float]]) -> Figure:
    """By how many decibels ours is above two others, mask by mask; NaN where there is no mean."""
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    (panel,) = _row(figure, 1)
    places = np.arange(len(masks))
    for number, (label, heights) in enumerate(gained.items()):
        colour = ("#0b5cad", "#5b8f3a")[number]
        panel.bar(places + 0.4 * number - 0.2, heights, width=0.4, color=colour, label=label)
    panel.set_xticks(places, masks, rotation=30, fontsize=8)
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


def reliability(found: Mapping[str, Sequence[Bin]]) -> Figure:
    """True against expected error, a point per bin, with the diagonal and what is tolerated around it."""
    figure = Figure(figsize=(4.8 * max(len(found), 1), 4.6), layout="constrained")
    for panel, (task, bins) in zip(_row(figure, len(found)), found.items(), strict=False):
        points = [(one.expected, one.true, one.counts) for one in bins if one.expected > 0 and one.true > 0]
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
        panel.set_title(task, fontsize=10)
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
