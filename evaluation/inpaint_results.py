"""Results of the inpainting benchmark as files, and continued from them."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .inpaint_benchmark import Record
from .store import ResultStore
from .writing import write_rows

FORMAT = "demosaic-ntc benchmark inpaint 1"


class Store(ResultStore[Record]):
    """The results of this benchmark."""

    form = FORMAT
    kind = Record
    unbounded = ("cpsnr", "psnr_missing")


def write_csv(target: Path, records: Iterable[Record]) -> None:
    """Write one line per result."""
    write_rows(target, [_flat(record) for record in records])


def _flat(record: Record) -> dict[str, Any]:
    """A result as named cells; times are also per megapixel."""
    return asdict(record) | {
        "s_per_mp": record.seconds / record.megapixels,
        "cpu_s_per_mp": record.cpu_seconds / record.megapixels,
    }
