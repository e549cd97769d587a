"""Our figures beside the paper's: means over repetitions with their standard errors."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import cast

import pandas as pd

from ..data.paper_tables import Published
from ..measure.case import Refusal, Row, refusal_words
from ..measure.paper import Experiment, PaperPart
from ..measure.results import MIB, Results
from ..methods.completions import Completion
from ..methods.metrics import RESOLUTION
from .drawing import Drawing
from .gallery import Gallery
from .paper_plots import paper_figure
from .tables import Cell, DataTable, figure

_COMPARISON = (
    *("tensor", "n", "method", "runs", "NMSE", "paper's NMSE", "seconds", "CPU seconds", "paper's seconds"),
    *("times faster", "gap at most", "radius", "none below", "status", "MiB"),
)
_NOTE = (
    "± standard error of the mean; the paper's times are of another machine, ours on all threads; "
    "none below: no tensor of a smaller norm fits, proven"
)
_PROOFS = ("seed", "method", "objective", "lower bound", "certified gap", "status", "radius", "oracle calls")


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean of some repetitions and its standard error (NaN for a single one)."""

    mean: float
    error: float

    def words(self, form: str, error_form: str, resolution: float = 0.0) -> str:
        """The mean and its error, or that it is too small to be told from zero."""
        if self.mean < resolution:
            return f"< {resolution:g}"
        shown = format(self.mean, form)
        return f"{shown} ± {self.error:{error_form}}" if self.error == self.error else shown


@dataclass(frozen=True)
class Summary:
    """All repetitions of one method on one experiment; with one that it refused there are no means."""

    experiment: Experiment
    method: Completion
    frame: pd.DataFrame
    refusals: tuple[Refusal, ...] = ()

    @property
    def has_means(self) -> bool:
        """Whether every repetition has its figures."""
        return bool(len(self.frame)) and not self.refusals

    def estimate(self, quantity: str) -> Estimate | None:
        """The mean of a quantity; None where a repetition lacks it."""
        values = pd.to_numeric(self.frame[quantity])
        if not self.has_means or values.isna().any():
            return None
        return Estimate(float(values.mean()), float(values.sem()))

    @property
    def published(self) -> Published | None:
        """What the paper has for this method and experiment."""
        return self.experiment.row.published.get(self.method.paper) if self.method.paper else None

    @property
    def times_faster(self) -> float | None:
        """The paper's seconds over ours, on all threads where they were taken; the machines differ."""
        cost = self.estimate("cpu_seconds") or self.estimate("seconds")
        return self.published.seconds / cost.mean if self.published and cost else None

    @property
    def radii(self) -> tuple[float, float] | None:
        """The mean least radius, where one was sought: proven, and reached."""
        known = self.frame[["least_radius", "radius"]].apply(pd.to_numeric).dropna()
        return (float(known["least_radius"].mean()), float(known["radius"].mean())) if len(known) else None

    @property
    def worst_gap(self) -> float | None:
        """The largest certified gap, of methods that certify."""
        gaps = pd.to_numeric(self.frame["gap"]).dropna()
        return float(gaps.max()) if len(gaps) else None

    @property
    def statuses(self) -> dict[str, int]:
        """How often the method ended in which way."""
        return {str(name): int(n) for name, n in self.frame["status"].dropna().value_counts().items()}

    def encoded(self) -> Row:
        """The summary as JSON has it; None where there are no means."""
        means = {name: self.estimate(name) for name in ("nmse", "seconds", "cpu_seconds")}
        plain = {
            name: None if e is None else {"mean": e.mean, "error": e.error if e.error == e.error else None}
            for name, e in means.items()
        }
        paper = self.published
        return {
            "table": self.experiment.table.name,
            "row": self.experiment.label,
            "method": self.method.name,
            "repetitions": len(self.frame),
            **plain,
            "paper": {"nmse": paper.nmse, "seconds": paper.seconds} if paper else None,
            "times_faster": self.times_faster,
            "worst_gap": self.worst_gap,
            "statuses": self.statuses,
        }


def summaries(results: Results) -> list[Summary]:
    """The repetitions by experiment and method, in the order of the part."""
    part, found = cast(PaperPart, results.part), []
    for experiment in part.experiments:
        row = experiment.row
        frame = results.frame
        place = {"table": experiment.table.name, "size": row.size, "order": row.order}
        place |= {"samples": row.samples, "noise": row.noise}
        for name, value in place.items():
            frame = frame[frame[name] == value]
        for method in cast(tuple[Completion, ...], part.methods):
            own = frame[frame["method"] == method.name]
            refused = tuple(r for r in results.refusals if r.case.row == _row(experiment, method))
            if len(own) or refused:
                found.append(Summary(experiment, method, own, refused))
    return found


def _row(experiment: Experiment, method: Completion) -> str:
    """What cases of one method on one experiment are called."""
    return f"{experiment.table.name} {experiment.label} {method.name}"


def tables(results: Results, *, details: bool = False) -> Iterator[DataTable]:
    """One table per table of the paper, our figures beside its, and what was proven about noisy tensors."""
    for _, group in groupby(summaries(results), key=lambda each: each.experiment.table.name):
        rows = list(group)
        source = rows[0].experiment.table
        notes = (_NOTE, *refusal_words(refusal for each in rows for refusal in each.refusals))
        title = f"Table {source.name}: {source.caption}"
        yield DataTable(title, _COMPARISON, tuple(map(_comparison, rows)), notes)
    if details:
        proofs = proof_table(results.frame)
        yield from [proofs] if proofs.rows else []


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
    paper, row, radii = summary.published, summary.experiment.row, summary.radii or (None, None)
    memory = summary.frame["peak_bytes"].max() / MIB if summary.has_means else None
    return (
        Cell(f"{row.size}^×{row.order}"),
        Cell(f"{row.samples:,}", row.samples),
        Cell(summary.method.name),
        Cell(str(len(summary.frame))),
        _estimated(summary.estimate("nmse"), RESOLUTION),
        Cell(f"{paper.nmse:.3f} ± {paper.nmse_error:.3f}", paper.nmse) if paper else Cell(""),
        _estimated(summary.estimate("seconds")),
        _estimated(summary.estimate("cpu_seconds")),
        Cell(f"{paper.seconds:.3g} ± {paper.seconds_error:.2g}", paper.seconds) if paper else Cell(""),
        figure(summary.times_faster, ".3g"),
        figure(summary.worst_gap, ".1e"),
        figure(radii[1], ".3f"),
        figure(radii[0], ".3f"),
        Cell(", ".join(f"{count} {name}" for name, count in summary.statuses.items())),
        figure(memory, ".0f"),
    )


def _estimated(estimate: Estimate | None, resolution: float = 0.0) -> Cell:
    """A mean with its standard error."""
    return Cell(estimate.words(".3g", ".1g", resolution), estimate.mean) if estimate else Cell("")


def drawings(results: Results, _: Gallery) -> Iterator[Drawing]:
    """The paper's figures with ours."""
    found = with_means(summaries(results))
    if found:
        caption = "NMSE and seconds, with bars of one standard error; dashed: the paper's means"
        yield Drawing("paper", "The paper's experiments", caption, paper_figure(found))


def with_means(found: Iterable[Summary]) -> list[Summary]:
    """The summaries that have means."""
    return [summary for summary in found if summary.has_means]
