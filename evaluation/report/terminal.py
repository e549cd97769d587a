"""Tables of results on a terminal."""

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from .tables import NONE, DataTable

# Columns of words stand left, figures right.
_WORDS = ("picture", "method", "mask", "noise", "tensor", "status", "oracle calls")
# Wider than any table: in a narrow window a line may wrap, but no figure may lose its digits.
_WIDTH = 400
# Columns side by side: as many pictures as stay readable, or all quantities of a table.
_ACROSS = 12


def results_console() -> Console:
    """Standard output, wide enough for a table."""
    console = Console(highlight=False, soft_wrap=True)
    console.width = _WIDTH
    return console


def print_table(console: Console, table: DataTable) -> None:
    """Print a table, cut where it lists many pictures, and its notes, a line each."""
    by_picture = table.details and table.columns[0] == "method"
    for part in table.parts(_ACROSS) if by_picture else [table]:
        if part.rows:
            console.print(_text_table(part))
    for note in table.notes:
        console.print(note, markup=False)


def _text_table(table: DataTable) -> Table:
    """A table without frames, figures at the right; rows that share their first cell are a section."""
    shown = Table(title=table.title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    for column in table.columns:
        shown.add_column(column, no_wrap=True, justify="left" if column in _WORDS else "right")
    sections = [row[0].text for row in table.rows]
    for row, here, following in zip(table.rows, sections, [*sections[1:], ""], strict=True):
        ends = here != following and sections.count(here) > 1
        shown.add_row(*(cell.text or NONE for cell in row), end_section=ends)
    return shown
