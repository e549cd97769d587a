"""Results as files: JSON with everything, CSV with one line per repetition; whole or not at all."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .paper import Record, Refusal
from .summary import Summary, summarise
from .writing import write_rows, write_text

# What a repetition that was refused does not have.
_FIGURES = (
    *("nmse", "seconds", "peak_bytes", "status", "objective"),
    *("lower_bound", "gap", "radius", "iterations", "oracle_calls"),
)


def write_json(target: Path, protocol: Mapping[str, str], results: Iterable[Record | Refusal]) -> None:
    """Write protocol, summaries beside the paper's figures, refusals and all repetitions."""
    results = list(results)
    content = {
        "protocol": protocol,
        "summaries": [_summary(summary) for summary in summarise(results)],
        "refusals": [_refusal(result) for result in results if isinstance(result, Refusal)],
        "repetitions": [_line(result) for result in results],
    }
    write_text(target, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def write_csv(target: Path, results: Iterable[Record | Refusal]) -> None:
    """Write one line per repetition; one that was refused has its reason instead of figures."""
    write_rows(target, [_line(result) for result in results])


def flat(record: Record) -> dict[str, Any]:
    """One repetition as names and plain values; what a method does not prove is None."""
    return _place(record) | _figures(record)


def _line(result: Record | Refusal) -> dict[str, Any]:
    """One repetition, done or refused: the same names for both."""
    if isinstance(result, Refusal):
        return _place(result) | dict.fromkeys(_FIGURES) | {"reason": result.reason}
    return flat(result) | {"reason": None}


def _place(result: Record | Refusal) -> dict[str, Any]:
    """Which repetition it is."""
    row = result.experiment.row
    return {
        "table": result.experiment.table.name,
        "size": row.size,
        "order": row.order,
        "samples": row.samples,
        "noise": row.noise,
        "method": result.method.name,
        "seed": result.seed,
    }


def _figures(record: Record) -> dict[str, Any]:
    """What a repetition gave."""
    proof = record.proof
    return {
        "nmse": record.nmse,
        "seconds": record.seconds,
        "peak_bytes": record.peak_bytes,
        "status": proof.status if proof else None,
        "objective": proof.objective if proof else None,
        "lower_bound": proof.lower_bound if proof else None,
        "gap": proof.gap if proof else None,
        "radius": proof.radius if proof else None,
        "iterations": proof.iterations if proof else None,
        "oracle_calls": _calls(proof.oracle_calls) if proof else None,
        "least_radius": proof.least_radius if proof else None,
        "cpu_seconds": record.cpu_seconds,
    }


def _calls(calls: Mapping[str, int]) -> str:
    """Oracle calls by kind, in one cell."""
    return " ".join(f"{kind}={count}" for kind, count in calls.items())


def _summary(summary: Summary) -> dict[str, Any]:
    """One method on one row, with the paper's figures where there are any; None where there are no means."""
    return {
        "table": summary.experiment.table.name,
        "row": summary.experiment.label,
        "method": summary.method.name,
        "repetitions": len(summary.records),
        "nmse": asdict(summary.nmse) if summary.has_means else None,
        "seconds": asdict(summary.seconds) if summary.has_means else None,
        "cpu_seconds": asdict(summary.cpu_seconds) if summary.cpu_seconds else None,
        "paper": asdict(summary.published) if summary.published else None,
        "times_faster": summary.times_faster,
        "worst_gap": summary.worst_gap,
        "statuses": summary.statuses,
        "peak_bytes": summary.peak_bytes if summary.has_means else None,
    }


def _refusal(refusal: Refusal) -> dict[str, Any]:
    """Which method has no figures where, and why."""
    return {
        "table": refusal.experiment.table.name,
        "row": refusal.experiment.label,
        "method": refusal.method.name,
        "seed": refusal.seed,
        "reason": refusal.reason,
    }
