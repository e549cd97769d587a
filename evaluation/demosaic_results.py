"""Results of the demosaicing benchmark as files, and continued from them."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .demosaic_benchmark import Key, Record
from .running import NO_COST, Refusal, empty_row, per_megapixel
from .store import ResultStore
from .writing import write_rows

FORMAT = "demosaic-ntc benchmark demosaic 1"


class Store(ResultStore[Record]):
    """The results of this benchmark."""

    form = FORMAT
    kind = Record
    key_kind = Key
    unbounded = ("cpsnr", "cpsnr_crop0", "psnr_red", "psnr_green", "psnr_blue", "nmse")


def write_csv(target: Path, records: Iterable[Record], refusals: Iterable[Refusal] = ()) -> None:
    """Write one line per result, and per refusal one with the reason instead of figures.

    With a crop of 10 the file can be given back as a reference.
    """
    done = [_flat(asdict(record)) | per_megapixel(record) | {"reason": None} for record in records]
    refused = [_flat(empty_row(Record, each)) | NO_COST | {"reason": each.reason} for each in refusals]
    write_rows(target, [*done, *refused])


def _flat(cells: dict[str, Any]) -> dict[str, Any]:
    """Named cells with the crop in a column's name."""
    renamed = {(f"cpsnr_crop{cells['crop']}" if name == "cpsnr" else name): v for name, v in cells.items()}
    return renamed | {"cpsnr_crop0": cells["cpsnr_crop0"]}
