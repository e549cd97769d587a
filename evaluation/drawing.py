"""Figures into files: the same drawing as SVG and as PNG."""

from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from demosaic_ntc.files.atomic import whole_file

# The same figures give the same bytes: no dates, and names of parts that do not change.
_STEADY: dict[Any, Any] = {"svg.hashsalt": "demosaic-ntc", "svg.fonttype": "path"}
_METADATA = {"svg": {"Date": None}, "png": {"Software": None}}
_DOTS_PER_INCH = 150


def drawn(figure: Figure, kind: str) -> bytes:
    """The figure in a format."""
    buffer = BytesIO()
    with matplotlib.rc_context(_STEADY):
        figure.savefig(buffer, format=kind, dpi=_DOTS_PER_INCH, metadata=_METADATA[kind])
    return buffer.getvalue()


def write_drawing(folder: Path, name: str, figure: Figure) -> None:
    """Write a figure as SVG and as PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in _METADATA:
        with whole_file(folder / f"{name}.{kind}", overwrite=True) as file:
            file.write(drawn(figure, kind))
