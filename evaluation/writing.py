"""Results on disk: texts and tables, each written whole or not at all."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from demosaic_ntc.files.atomic import whole_file


def write_text(target: Path, text: str) -> None:
    """Write a text in one piece."""
    with whole_file(target, overwrite=True) as file:
        file.write(text.encode())


def write_rows(target: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows with the same names as CSV; without rows the file is empty."""
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    write_text(target, text.getvalue())
