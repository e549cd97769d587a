"""Tables of results, whatever they are shown on: a page, a terminal, Markdown or CSV."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from math import isfinite, isnan
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

NONE = "–"

# On a terminal columns of words stand left, figures right.
_WORDS = (
    *("picture", "raw", "camera", "method", "mask", "noise", "tensor"),
    *("status", "oracle calls", "outcome", "reason"),
)
# Wider than any table: in a narrow window a line may wrap, but no figure may lose its digits.
_WIDTH = 400
# Columns side by side: as many pictures as stay readable, or all quantities of a table.
_ACROSS = 12


@dataclass(frozen=True, slots=True)
class Cell:
    """What a table shows, and the number it is sorted by where that is not the text."""

    text: str
    value: float | None = None


@dataclass(frozen=True, slots=True)
class DataTable:
    """A table with its notes; rows whose first cell is in `emphasised` stand out, details come last."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    emphasised: tuple[str, ...] = ()
    details: bool = False

    @property
    def caption(self) -> str:
        """The notes in a line."""
        return ". ".join(self.notes)

    @property
    def is_empty(self) -> bool:
        """Whether nothing but names stands in it."""
        return not any(cell.text for row in self.rows for cell in row[1:])

    def parts(self, columns: int) -> Iterator["DataTable"]:
        """The table cut into tables of so many columns, each behind the first column again."""
        for start in range(1, len(self.columns), columns):
            chosen = (0, *range(start, min(start + columns, len(self.columns))))
            heads = tuple(self.columns[i] for i in chosen)
            yield replace(self, columns=heads, rows=tuple(tuple(row[i] for i in chosen) for row in self.rows))


def figure(value: float | None, form: str) -> Cell:
    """A number as it is printed; an empty cell where there is none."""
    if value is None or isnan(value):
        return Cell("")
    return Cell(format(value, form), float(value) if isfinite(value) else None)


def rows_of(
    names: Iterable[str], columns: Sequence[Mapping[Any, float]], forms: Sequence[str]
) -> Iterator[tuple[Cell, ...]]:
    """Lines of names with their figures: a mapping by name, such as a series, and a format per column."""
    for name in names:
        cells = (figure(column[name], form) for column, form in zip(columns, forms, strict=True))
        yield (Cell(str(name)), *cells)


def table_of(
    title: str, forms: Mapping[str, str], rows: Iterable[Mapping[str, Any]], *notes: str
) -> DataTable:
    """A table of rows by column, with the format of each; cells and texts stand as they are."""

    def cell(value: Any, form: str) -> Cell:
        plain = Cell(value) if isinstance(value, str) else value
        return plain if isinstance(plain, Cell) else figure(plain, form)

    cells = tuple(tuple(cell(row[name], form) for name, form in forms.items()) for row in rows)
    return DataTable(title, tuple(forms), cells, notes)


def markdown(table: DataTable) -> str:
    """The table as Markdown, under its title."""
    rows = [tuple(cell.text or NONE for cell in row) for row in table.rows]
    return f"## {table.title}\n\n{markdown_rows(table.columns, rows)}\n{table.caption}\n"


def markdown_rows(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Texts as a table of Markdown, the first column at its left, the others at their right."""
    aligned = ["---", *["--:"] * (len(columns) - 1)]
    texts = ([text.replace("|", "\\|") for text in line] for line in (columns, aligned, *rows))
    return "".join(f"| {' | '.join(line)} |\n" for line in texts)


def html(table: DataTable) -> str:
    """The table as a section of a page, with its caption; it scrolls by itself where the page is narrow."""

    def cell(each: Cell) -> str:
        value = each.text if each.value is None else repr(each.value)  # without a text it sorts last
        return f'<td data-value="{escape(value)}">{escape(each.text) or NONE}</td>'

    def line(row: Sequence[Cell]) -> str:
        mark = ' class="ours"' if row and row[0].text in table.emphasised else ""
        return f"<tr{mark}>{''.join(map(cell, row))}</tr>"

    heads = "".join(f'<th scope="col">{escape(column)}</th>' for column in table.columns)
    body = "\n".join(map(line, table.rows))
    return (
        f'<section><h2>{escape(table.title)}</h2>\n<p class="small">{escape(table.caption)}</p>\n'
        f'<div class="scroll"><table>\n<caption class="unseen">{escape(table.title)}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div></section>"
    )


def file_name(table: DataTable) -> str:
    """A name for the table's file: the title in small letters and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", table.title.lower()).strip("-")


def cells(table: DataTable) -> list[dict[str, str | float]]:
    """The table's rows by column, with numbers at full precision."""
    values = ([cell.text if cell.value is None else cell.value for cell in row] for row in table.rows)
    return [dict(zip(table.columns, row, strict=True)) for row in values]


def show(tables: Iterable[DataTable], lines: Iterable[str] = ()) -> None:
    """Print tables, cut where they list many pictures, with their notes, then lines as they are."""
    console = Console(highlight=False, soft_wrap=True)
    console.width = _WIDTH
    for table in tables:
        by_picture = table.details and table.columns[0] == "method"
        for part in table.parts(_ACROSS) if by_picture else [table]:
            if part.rows:
                console.print(_text_table(part))
        for note in table.notes:
            console.print(note, markup=False)
    for line in lines:
        console.print(line, markup=False)


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
