"""Figures into files: the same drawing as SVG and as PNG."""

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from demosaic_ntc.viewer.page import Plot
from demosaic_ntc.viewer.pictures import address, write_beside

# The same figures give the same bytes: no dates, and names of parts that do not change.
_STEADY: dict[Any, Any] = {"svg.hashsalt": "demosaic-ntc", "svg.fonttype": "path"}
_KINDS = {"svg": "image/svg+xml", "png": "image/png"}
_METADATA = {"svg": {"Date": None}, "png": {"Software": None}}
_DOTS_PER_INCH = 150


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure with its words."""

    name: str
    title: str
    caption: str
    figure: Figure
    kind: str = "svg"  # what a page shows

    def write(self, folder: Path) -> Plot:
        """Write the drawing as SVG and as PNG; returns it as a page shows it."""
        files = draw(self.figure)
        for kind, content in files.items():
            write_beside(folder, f"{self.name}.{kind}", content)
        return Plot(self.title, self.caption, address(files[self.kind], _KINDS[self.kind]))


def draw(figure: Figure) -> dict[str, bytes]:
    """The figure in every format; it is laid out once."""
    files = {}
    for kind in _KINDS:
        buffer = BytesIO()
        with matplotlib.rc_context(_STEADY):
            figure.savefig(buffer, format=kind, dpi=_DOTS_PER_INCH, metadata=_METADATA[kind])
        figure.set_layout_engine("none")
        files[kind] = buffer.getvalue()
    return files
