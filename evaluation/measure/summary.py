"""Our figures beside the paper's: means over repetitions with their standard errors."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from ..data.paper_tables import Published
from ..methods.completions import Completion
from ..methods.tensors import RESOLUTION
from ..report.plots import write_plot
from ..report.tables import Cell, DataTable, figure
from .case import Refusal, refusal_words
from .case import Row as Figures
from .results import MIB, Results
from .store import Store

if TYPE_CHECKING:
    from .paper import Experiment

_COMPARISON = (
    *("tensor", "n", "method", "runs", "NMSE", "paper's NMSE", "seconds", "CPU seconds", "paper's seconds"),
    *("times faster", "gap at most", "radius", "none below", "status", "oracle calls", "MiB"),
)
_NOTE = (
    "± standard error of the mean; the paper's times are of another machine, ours on all threads; "
    "none below: no tensor of a smaller norm fits, proven; oracle calls: mean per repetition"
)
_PROOFS = ("seed", "method", "objective", "lower bound", "certified gap", "status", "radius", "oracle calls")


@dataclass(frozen=True)
class Summary:
    """All repetitions of one method on one experiment; with one that it refused there are no means."""

    experiment: "Experiment"
    method: Completion
    frame: pd.DataFrame
    refusals: tuple[Refusal, ...] = ()

    @property
    def has_means(self) -> bool:
        """Whether every repetition has its figures."""
        return bool(len(self.frame)) and not self.refusals

    def estimate(self, quantity: str) -> tuple[float, float] | None:
        """The mean of a quantity and its standard error, NaN of a single one; None where one lacks it."""
        values = pd.to_numeric(self.frame[quantity])
        if not self.has_means or values.isna().any():
            return None
        return float(values.mean()), float(values.sem())

    @property
    def published_figures(self) -> Published | None:
        """What the paper has for this method and experiment."""
        return self.experiment.row.published.get(self.method.paper) if self.method.paper else None

    @property
    def times_faster(self) -> float | None:
        """The paper's seconds over ours, on all threads where they were taken; the machines differ."""
        cost = self.estimate("cpu_seconds") or self.estimate("seconds")
        return self.published_figures.seconds / cost[0] if self.published_figures and cost else None

    def select_known(self, *quantities: str) -> pd.DataFrame:
        """Quantities of the repetitions that have all of them."""
        return self.frame[list(quantities)].apply(pd.to_numeric).dropna()

    @property
    def worst_gap(self) -> float | None:
        """The largest certified gap, of methods that certify."""
        gaps = self.select_known("gap")["gap"]
        return float(gaps.max()) if len(gaps) else None

    @property
    def statuses(self) -> dict[str, int]:
        """How often the method ended in which way."""
        return {str(name): int(n) for name, n in self.frame["status"].dropna().value_counts().items()}

    @property
    def oracle_calls(self) -> dict[str, float]:
        """How often each oracle was called, on average."""
        total: Counter[str] = Counter()
        for words in self.frame["oracle_calls"].dropna() if "oracle_calls" in self.frame else ():
            total.update({kind: int(count) for kind, count in (each.split("=") for each in words.split())})
        return {kind: count / len(self.frame) for kind, count in total.items()}

    def encode(self) -> Figures:
        """The summary as JSON has it; None where there are no means."""
        means = {name: self.estimate(name) for name in ("nmse", "seconds", "cpu_seconds")}
        paper = self.published_figures
        return {
            "table": self.experiment.table.name,
            "row": self.experiment.label,
            "method": self.method.name,
            "repetitions": len(self.frame),
            **{n: e and {"mean": e[0], "error": e[1] if isfinite(e[1]) else None} for n, e in means.items()},
            "paper": {"nmse": paper.nmse, "seconds": paper.seconds} if paper else None,
            "times_faster": self.times_faster,
            "worst_gap": self.worst_gap,
            "statuses": self.statuses,
            "oracle_calls": self.oracle_calls,
        }


def summaries(results: Results) -> list[Summary]:
    """The repetitions by experiment and method, in the order of the part."""
    part, found = cast(Any, results.part), []
    for experiment in part.experiments:
        place = pd.Series(experiment.place)
        frame = results.frame[(results.frame[place.index] == place).all(axis=1)]
        for method in part.methods:
            own, row = frame[frame["method"] == method.name], f"{experiment.table.name} {experiment.label}"
            refused = tuple(r for r in results.refusals if r.case.row == f"{row} {method.name}")
            if len(own) or refused:
                found.append(Summary(experiment, method, own, refused))
    return found


def select_with_means(found: Iterable[Summary]) -> list[Summary]:
    """The summaries that have means."""
    return [summary for summary in found if summary.has_means]


def keep_summaries(results: Results, store: Store, plot: Path | None) -> None:
    """Write summaries beside the repetitions, and draw them."""
    found = summaries(results)
    store.extra = {"summaries": [summary.encode() for summary in found]}
    store.write()
    if plot is not None and select_with_means(found):
        write_plot(plot, select_with_means(found))


def comparison_tables(found: Iterable[Summary]) -> Iterator[DataTable]:
    """One table per table of the paper, our figures beside its."""
    for _, group in groupby(found, key=lambda each: each.experiment.table.name):
        rows = list(group)
        source = rows[0].experiment.table
        notes = (_NOTE, *refusal_words(refusal for each in rows for refusal in each.refusals))
        title = f"Table {source.name}: {source.caption}"
        yield DataTable(title, _COMPARISON, tuple(map(_comparison, rows)), notes)


def proof_table(frame: pd.DataFrame) -> DataTable:
    """Repetition by repetition what was proven about the optimum of noisy tensors."""
    noisy = frame[(pd.to_numeric(frame["noise"]) > 0) & frame["status"].notna()] if len(frame) else frame
    rows = tuple(
        (
            Cell(str(row["seed"])),
            Cell(row["method"]),
            *(Cell(format(row[name], ".9g")) for name in ("objective", "lower_bound")),
            Cell(f"{row['gap']:.2g}"),
            Cell(row["status"]),
            Cell(f"{row['radius']:.4g}"),
            Cell((row["oracle_calls"] or "").replace(" ", ", ").replace("=", " ")),
        )
        for row in noisy.to_dict("records")
    )
    return DataTable("Certificates", _PROOFS, rows, ("the optimum lies between the bounds",))


def _comparison(summary: Summary) -> tuple[Cell, ...]:
    """A line of the comparison."""
    paper, row, radii = (
        summary.published_figures,
        summary.experiment.row,
        summary.select_known("least_radius", "radius").mean(),
    )
    memory = summary.frame["peak_bytes"].max() / MIB if summary.has_means else None
    return (
        Cell(f"{row.size}^×{row.order}"),
        Cell(f"{row.samples:,}", row.samples),
        Cell(summary.method.name),
        Cell(str(len(summary.frame))),
        _estimate_mean(summary.estimate("nmse"), RESOLUTION),
        Cell(f"{paper.nmse:.3f} ± {paper.nmse_error:.3f}", paper.nmse) if paper else Cell(""),
        _estimate_mean(summary.estimate("seconds")),
        _estimate_mean(summary.estimate("cpu_seconds")),
        Cell(f"{paper.seconds:.3g} ± {paper.seconds_error:.2g}", paper.seconds) if paper else Cell(""),
        figure(summary.times_faster, ".3g"),
        figure(summary.worst_gap, ".1e"),
        figure(radii["radius"], ".3f"),
        figure(radii["least_radius"], ".3f"),
        Cell(", ".join(f"{count} {name}" for name, count in summary.statuses.items())),
        Cell(", ".join(f"{kind} {count:.3g}" for kind, count in summary.oracle_calls.items())),
        figure(memory, ".0f"),
    )


def _estimate_mean(estimate: tuple[float, float] | None, resolution: float = 0.0) -> Cell:
    """A mean with its standard error."""
    return Cell(estimate_words(estimate, resolution=resolution), estimate[0]) if estimate else Cell("")


def estimate_words(estimate: tuple[float, float], form: str = ".3g", resolution: float = 0.0) -> str:
    """A mean and its standard error, or that it is too small to be told from zero."""
    mean, error = estimate
    if mean < resolution:
        return f"< {resolution:g}"
    return f"{mean:{form}} ± {error:.1g}" if isfinite(error) else format(mean, form)
