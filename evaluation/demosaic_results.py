"""Results of the demosaicing benchmark as files, and continued from them."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .demosaic_benchmark import Record
from .store import ResultStore
from .writing import write_rows

FORMAT = "demosaic-ntc benchmark demosaic 1"


class Store(ResultStore[Record]):
    """The results of this benchmark."""

    form = FORMAT
    kind = Record
    unbounded = ("cpsnr", "cpsnr_crop0", "psnr_red", "psnr_green", "psnr_blue", "nmse")


def write_csv(target: Path, records: Iterable[Record]) -> None:
    """Write one line per result; with a crop of 10 the file can be given back as a reference."""
    write_rows(target, [_flat(record) for record in records])


def _flat(record: Record) -> dict[str, Any]:
    """A result as named cells: the crop is in a column's name, times are also per megapixel."""
    cells = {
        (f"cpsnr_crop{record.crop}" if name == "cpsnr" else name): v for name, v in asdict(record).items()
    }
    cells["cpsnr_crop0"] = record.cpsnr_crop0
    cells["s_per_mp"] = record.seconds / record.megapixels
    cells["cpu_s_per_mp"] = record.cpu_seconds / record.megapixels
    return cells
