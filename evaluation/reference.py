"""Figures that somebody measured before, shown beside ours where set and picture have the same names."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from demosaic_ntc.errors import InputError
from demosaic_ntc.files.sniff import Limits, named, open_regular

#: The columns a reference must have; one of them is the border that its figures leave out.
COLUMNS = ("method", "set", "image", "cpsnr_crop0", "cpsnr_crop10", "cpu_s_per_mp")
CROP = 10
CFA = "RGGB"


@dataclass(frozen=True, slots=True)
class Figures:
    """What a reference says about one method on one picture."""

    cpsnr_crop0: float
    cpsnr_crop10: float
    cpu_s_per_mp: float


#: Figures by set, method and picture.
Reference = Mapping[str, Mapping[str, Mapping[str, Figures]]]


def read_reference(path: Path) -> Reference:
    """Read a CSV file with the columns above; others are ignored."""
    with named(path), open_regular(path, Limits()) as file:
        lines = file.read().decode("utf-8", errors="replace").splitlines()
        rows = csv.DictReader(lines)
        missing = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
        if missing:
            raise InputError(f"has no column {missing[0]}; a reference has {', '.join(COLUMNS)}")
        found: dict[str, dict[str, dict[str, Figures]]] = {}
        for number, row in enumerate(rows, start=2):
            if not any(row[name] for name in COLUMNS[3:]):
                continue  # a method that refused this picture
            of_set = found.setdefault(row["set"], {})
            of_set.setdefault(row["method"].strip(), {})[row["image"]] = _figures(row, number)
    return found


def _figures(row: Mapping[str, str | None], number: int) -> Figures:
    """The numbers of one line."""
    try:
        return Figures(*(float(row[name] or "") for name in COLUMNS[3:]))
    except ValueError:
        raise InputError(f"line {number} has a figure that is no number; mend or remove it") from None
