"""Tables of results on a terminal."""

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table

from .measuring import evaluation

if TYPE_CHECKING:
    from evaluation.data_table import DataTable

# Columns of words stand left, figures right.
_WORDS = ("picture", "method", "mask", "noise", "tensor", "status", "oracle calls")


def text_table(table: "DataTable") -> Table:
    """A table without frames, figures at the right; rows that share their first cell are a section."""
    missing = evaluation("data_table").NONE
    shown = Table(title=table.title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    for column in table.columns:
        shown.add_column(column, no_wrap=True, justify="left" if column in _WORDS else "right")
    sections = [row[0].text for row in table.rows]
    for row, here, following in zip(table.rows, sections, [*sections[1:], ""], strict=True):
        ends = here != following and sections.count(here) > 1
        shown.add_row(*(cell.text or missing for cell in row), end_section=ends)
    return shown
