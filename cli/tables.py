"""Benchmark results as text tables."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table

from .measuring import evaluation

if TYPE_CHECKING:
    from evaluation.paper import Experiment, Record
    from evaluation.summary import Estimate, Summary

_COMPARISON = (
    "tensor",
    "n",
    "method",
    "runs",
    "NMSE",
    "paper's NMSE",
    "seconds",
    "paper's seconds",
    "times faster",
    "gap at most",
    "status",
    "MiB",
)
_PROOFS = ("seed", "method", "objective", "lower bound", "certified gap", "status", "radius", "oracle calls")


def comparison_tables(summaries: Iterable["Summary"]) -> Iterator[Table]:
    """One table per table of the paper, our figures beside its."""
    for _, group in groupby(summaries, key=lambda summary: summary.experiment.table.name):
        rows = list(group)
        source = rows[0].experiment.table
        table = _plain_table(f"Table {source.name}: {source.caption}", _COMPARISON)
        for summary in rows:
            table.add_row(tensor_size(summary.experiment), *_comparison(summary))
        yield table


def proof_table(records: Iterable["Record"]) -> Table:
    """Repetition by repetition what was proven about the optimum."""
    table = _plain_table("Certificates", _PROOFS)
    for record in records:
        if (proof := record.proof) is not None:
            bounds = (f"{proof.objective:.9g}", f"{proof.lower_bound:.9g}", f"{proof.gap:.2g}")
            calls = ", ".join(f"{kind} {count}" for kind, count in proof.oracle_calls.items())
            name = record.method.name
            table.add_row(str(record.seed), name, *bounds, proof.status, f"{proof.radius:.4g}", calls)
    return table


def tensor_size(experiment: "Experiment") -> str:
    """The size as the paper writes it: all modes are alike."""
    return f"{experiment.row.size}^×{experiment.row.order}"


def _comparison(summary: "Summary") -> list[str]:
    """A line of the comparison after the tensor's size."""
    paper, faster, gap = summary.published, summary.times_faster, summary.worst_gap
    return [
        f"{summary.experiment.row.samples:,}",
        summary.method.name,
        str(len(summary.records)),
        _with_error(summary.nmse, resolution=evaluation("metrics").RESOLUTION),
        f"{paper.nmse:.3f} ± {paper.nmse_error:.3f}" if paper else "",
        _with_error(summary.seconds, resolution=0.0),
        f"{paper.seconds:.3g} ± {paper.seconds_error:.2g}" if paper else "",
        f"{faster:.3g}" if faster else "",
        f"{gap:.1e}" if gap is not None else "",
        ", ".join(f"{count} {name}" for name, count in summary.statuses.items()),
        f"{summary.peak_bytes / 1024**2:.0f}",
    ]


def _with_error(estimate: "Estimate", *, resolution: float) -> str:
    """A mean and its standard error, or that it is too small to be told from zero."""
    if estimate.mean < resolution:
        return f"< {resolution:g}"
    mean = f"{estimate.mean:.3g}"
    return mean if estimate.error is None else f"{mean} ± {estimate.error:.1g}"


def _plain_table(title: str, columns: Iterable[str]) -> Table:
    """A table without frames, so that its lines stay short."""
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    for column in columns:
        table.add_column(column, no_wrap=True)
    return table
