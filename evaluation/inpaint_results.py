"""Results of the inpainting benchmark as files, and continued from them."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from .inpaint_benchmark import Key, Record
from .running import NO_COST, Refusal, empty_row, per_megapixel
from .store import ResultStore
from .writing import write_rows

FORMAT = "demosaic-ntc benchmark inpaint 1"


class Store(ResultStore[Record]):
    """The results of this benchmark."""

    form = FORMAT
    kind = Record
    key_kind = Key
    unbounded = ("cpsnr", "psnr_missing")


def write_csv(target: Path, records: Iterable[Record], refusals: Iterable[Refusal] = ()) -> None:
    """Write one line per result, and per refusal one with the reason instead of figures."""
    done = [asdict(record) | per_megapixel(record) | {"reason": None} for record in records]
    refused = [empty_row(Record, each) | NO_COST | {"reason": each.reason} for each in refusals]
    write_rows(target, [*done, *refused])
