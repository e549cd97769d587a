"""Tables of results, whatever they are shown on: a page, a terminal, Markdown or CSV."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan
from typing import Any

NONE = "–"


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
            yield replace(
                self,
                columns=tuple(self.columns[i] for i in chosen),
                rows=tuple(tuple(row[i] for i in chosen) for row in self.rows),
            )


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


def markdown(table: DataTable) -> str:
    """The table as Markdown, under its title."""
    rows = [tuple(cell.text or NONE for cell in row) for row in table.rows]
    return f"## {table.title}\n\n{markdown_rows(table.columns, rows)}\n{table.caption}\n"


def markdown_rows(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Texts as a table of Markdown, the first column at its left, the others at their right."""
    aligned = ["---", *["--:"] * (len(columns) - 1)]
    return "".join(f"{_line(line)}\n" for line in (columns, aligned, *rows))


def file_name(table: DataTable) -> str:
    """A name for the table's file: the title in small letters and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", table.title.lower()).strip("-")


def cells(table: DataTable) -> list[dict[str, str | float]]:
    """The table's rows by column, with numbers at full precision."""
    return [
        {
            column: cell.text if cell.value is None else cell.value
            for column, cell in zip(table.columns, row, strict=True)
        }
        for row in table.rows
    ]


def _line(texts: Sequence[str]) -> str:
    """A line of Markdown; a bar within a text would end its cell."""
    return f"| {' | '.join(text.replace('|', chr(92) + '|') for text in texts)} |"
