"""Results as files: JSON with everything, CSV with one line per repetition; whole or not at all."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .paper import Record, Refusal
from .summary import Summary, summarise
from .writing import write_rows, write_text


def write_json(
    target: Path, protocol: Mapping[str, str], records: Iterable[Record], refusals: Iterable[Refusal]
) -> None:
    """Write protocol, summaries beside the paper's figures, refusals and all repetitions."""
    records = list(records)
    content = {
        "protocol": protocol,
        "summaries": [_summary(summary) for summary in summarise(records)],
        "refusals": [
            {
                "table": r.experiment.table.name,
                "row": r.experiment.label,
                "method": r.method.name,
                "reason": r.reason,
            }
            for r in refusals
        ],
        "repetitions": [flat(record) for record in records],
    }
    write_text(target, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def write_csv(target: Path, records: Iterable[Record]) -> None:
    """Write one line per repetition."""
    write_rows(target, [flat(record) for record in records])


def flat(record: Record) -> dict[str, Any]:
    """One repetition as names and plain values; what a method does not prove is None."""
    row, proof = record.experiment.row, record.proof
    return {
        "table": record.experiment.table.name,
        "size": row.size,
        "order": row.order,
        "samples": row.samples,
        "noise": row.noise,
        "method": record.method.name,
        "seed": record.seed,
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
    """One method on one row, with the paper's figures where there are any."""
    return {
        "table": summary.experiment.table.name,
        "row": summary.experiment.label,
        "method": summary.method.name,
        "repetitions": len(summary.records),
        "nmse": asdict(summary.nmse),
        "seconds": asdict(summary.seconds),
        "cpu_seconds": asdict(summary.cpu_seconds) if summary.cpu_seconds else None,
        "paper": asdict(summary.published) if summary.published else None,
        "times_faster": summary.times_faster,
        "worst_gap": summary.worst_gap,
        "statuses": summary.statuses,
        "peak_bytes": summary.peak_bytes,
    }
