"""Results of the demosaicing benchmark as files, and continued from them.

The JSON file is replaced as a whole after every result: whatever ends the run, everything finished is in it,
and the next run does only what is missing. JSON has no infinity: the PSNR of an exact result is null there.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from math import inf, isfinite
from pathlib import Path
from typing import Any

from demosaic_ntc.errors import InputError

from .demosaic_benchmark import Key, Record
from .writing import write_rows, write_text

FORMAT = "demosaic-ntc benchmark demosaic 1"

# Numbers that may be infinite and are then null.
_UNBOUNDED = ("cpsnr", "cpsnr_crop0", "psnr_red", "psnr_green", "psnr_blue", "nmse")


class Store:
    """The results of this run and of earlier ones, on disk if there is a file for them."""

    def __init__(self, path: Path | None, protocol: Mapping[str, str]) -> None:
        self._path = path
        self._protocol = protocol
        self._records = {record.key: record for record in _read(path)}

    def __contains__(self, key: Key) -> bool:
        """Whether there is a result for this key."""
        return key in self._records

    def get(self, key: Key) -> Record | None:
        """The result for this key."""
        return self._records.get(key)

    def add(self, record: Record) -> None:
        """Keep a result, on disk at once."""
        self._records[record.key] = record
        if self._path is not None:
            rows = [_encoded(each) for each in self._records.values()]
            content = {"format": FORMAT, "protocol": self._protocol, "results": rows}
            write_text(self._path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


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


def _encoded(record: Record) -> dict[str, Any]:
    """A result as JSON has it."""
    cells = asdict(record)
    return {name: value if _is_finite(value) else None for name, value in cells.items()}


def _is_finite(value: object) -> bool:
    """Whether JSON can hold a value."""
    return not isinstance(value, float) or isfinite(value)


def _read(path: Path | None) -> list[Record]:
    """The results of earlier runs; none when there is no file yet."""
    if path is None or not path.exists():
        return []
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise KeyError("format")
        return [_decoded(row) for row in content["results"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: holds no results of this benchmark; choose another name") from error


def _decoded(row: dict[str, Any]) -> Record:
    """A result from its JSON form; raises KeyError or TypeError when it is none."""
    if set(row) != {field.name for field in fields(Record)}:
        raise KeyError("fields")
    unbounded = {name: inf for name in _UNBOUNDED if row[name] is None}
    return Record(**(row | unbounded))
