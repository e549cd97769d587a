"""Our figures beside the paper's, as tables."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from .data_table import Cell, DataTable
from .metrics import RESOLUTION
from .paper import Experiment, Record
from .summary import Estimate, Summary

_COMPARISON = (
    "tensor",
    "n",
    "method",
    "runs",
    "NMSE",
    "paper's NMSE",
    "seconds",
    "CPU seconds",
    "paper's seconds",
    "times faster",
    "gap at most",
    "radius",
    "none below",
    "status",
    "MiB",
)
_CAPTION = (
    "± standard error of the mean; the paper's times are of another machine, ours on all threads; "
    "none below: no tensor of a smaller norm fits, proven"
)
_PROOFS = ("seed", "method", "objective", "lower bound", "certified gap", "status", "radius", "oracle calls")


def comparison_tables(summaries: Iterable[Summary]) -> Iterator[DataTable]:
    """One table per table of the paper, our figures beside its."""
    for _, group in groupby(summaries, key=lambda summary: summary.experiment.table.name):
        rows = list(group)
        source = rows[0].experiment.table
        title = f"Table {source.name}: {source.caption}"
        caption = "; ".join((_CAPTION, *refusal_words(rows)))
        yield DataTable(title, caption, _COMPARISON, tuple(_comparison(summary) for summary in rows))


def refusal_words(summaries: Iterable[Summary]) -> list[str]:
    """Why methods have no figures, each reason once."""
    refusals = (refusal for summary in summaries for refusal in summary.refusals)
    return list(dict.fromkeys(f"{refusal.method.name}: {refusal.reason}" for refusal in refusals))


def proof_table(records: Iterable[Record]) -> DataTable:
    """Repetition by repetition what was proven about the optimum."""
    rows = []
    for record in records:
        if (proof := record.proof) is not None:
            bounds = (f"{proof.objective:.9g}", f"{proof.lower_bound:.9g}", f"{proof.gap:.2g}")
            calls = ", ".join(f"{kind} {count}" for kind, count in proof.oracle_calls.items())
            texts = (
                str(record.seed),
                record.method.name,
                *bounds,
                proof.status,
                f"{proof.radius:.4g}",
                calls,
            )
            rows.append(tuple(map(Cell, texts)))
    return DataTable("Certificates", "the optimum lies between the bounds", _PROOFS, tuple(rows))


def tensor_size(experiment: Experiment) -> str:
    """The size as the paper writes it: all modes are alike."""
    return f"{experiment.row.size}^×{experiment.row.order}"


def _comparison(summary: Summary) -> tuple[Cell, ...]:
    """A line of the comparison."""
    paper, faster, gap = summary.published, summary.times_faster, summary.worst_gap
    samples, nmse, seconds, memory = summary.experiment.row.samples, Cell(""), Cell(""), Cell("")
    cpu, radii = summary.cpu_seconds, summary.radii
    if summary.has_means:
        nmse = Cell(_with_error(summary.nmse, resolution=RESOLUTION), summary.nmse.mean)
        seconds = Cell(_with_error(summary.seconds, resolution=0.0), summary.seconds.mean)
        memory = Cell(f"{summary.peak_bytes / 1024**2:.0f}")
    return (
        Cell(tensor_size(summary.experiment)),
        Cell(f"{samples:,}", samples),
        Cell(summary.method.name),
        Cell(str(len(summary.records))),
        nmse,
        Cell(f"{paper.nmse:.3f} ± {paper.nmse_error:.3f}", paper.nmse) if paper else Cell(""),
        seconds,
        Cell(_with_error(cpu, resolution=0.0), cpu.mean) if cpu else Cell(""),
        Cell(f"{paper.seconds:.3g} ± {paper.seconds_error:.2g}", paper.seconds) if paper else Cell(""),
        Cell(f"{faster:.3g}", faster) if faster else Cell(""),
        Cell(f"{gap:.1e}", gap) if gap is not None else Cell(""),
        Cell(f"{radii[1]:.3f}", radii[1]) if radii else Cell(""),
        Cell(f"{radii[0]:.3f}", radii[0]) if radii else Cell(""),
        Cell(", ".join(f"{count} {name}" for name, count in summary.statuses.items())),
        memory,
    )


def _with_error(estimate: Estimate, *, resolution: float) -> str:
    """A mean and its standard error, or that it is too small to be told from zero."""
    if estimate.mean < resolution:
        return f"< {resolution:g}"
    mean = f"{estimate.mean:.3g}"
    return mean if estimate.error is None else f"{mean} ± {estimate.error:.1g}"
