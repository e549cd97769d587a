"""One page to compare pictures in: template, style, script and data in a single file.

The page opens from a disk and asks for nothing from a network. Tables and facts are plain HTML, so that they
can be read, printed and copied where no script runs; the script adds the viewer, sorting and colour schemes.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from string import Template

from demosaic_ntc.viewer import shared_script, shared_style

from .tables import Cell, DataTable

_PARTS = Path(__file__).parents[1] / "viewer"
_SHARED = ("basics.js", "view.js", "gestures.js")
_SCRIPTS = ("viewer.js", "page.js")


@dataclass(frozen=True, slots=True)
class Version:
    """One rendering of a scene: where its picture is, and what is to be said about it."""

    name: str
    source: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """A part of a picture in several versions, all of one size; one of them may be the truth."""

    name: str
    width: int
    height: int
    versions: tuple[Version, ...]
    thumbnail: str
    box: tuple[float, float, float, float] | None = None  # left, top, width, height in the thumbnail, 0 … 1
    truth: str | None = None


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing and what it shows."""

    title: str
    caption: str
    source: str


@dataclass(frozen=True, slots=True)
class Page:
    """Everything the page shows."""

    title: str
    introduction: str
    facts: Mapping[str, str]
    scenes: tuple[Scene, ...] = ()
    tables: tuple[DataTable, ...] = ()
    plots: tuple[Plot, ...] = ()


def page_html(page: Page) -> str:
    """The page as one HTML document."""
    return Template(_part("page.html")).substitute(
        title=escape(page.title),
        introduction=escape(page.introduction),
        tables="\n".join(map(_table, page.tables)),
        plots="\n".join(map(_plot, page.plots)),
        facts="\n".join(map(_fact, page.facts.items())),
        scenes=_inert(json.dumps([asdict(scene) for scene in page.scenes], ensure_ascii=False)),
        style=shared_style() + _part("style.css"),
        script="\n".join([*map(shared_script, _SHARED), *map(_part, _SCRIPTS)]),
    )


def _part(name: str) -> str:
    """A file the page is made of."""
    return (_PARTS / name).read_text(encoding="utf-8")


def _inert(text: str) -> str:
    """JSON that cannot end the element it stands in, whatever a picture is called."""
    return text.replace("<", "\\u003c")


def _table(table: DataTable) -> str:
    """A table with its caption; it scrolls by itself where the page is narrow."""
    heads = "".join(f'<th scope="col">{escape(column)}</th>' for column in table.columns)
    body = "\n".join(_row(row, table.emphasised) for row in table.rows)
    return (
        f'<section><h2>{escape(table.title)}</h2>\n<p class="small">{escape(table.caption)}</p>\n'
        f'<div class="scroll"><table>\n<caption class="unseen">{escape(table.title)}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div></section>"
    )


def _row(row: Iterable[Cell], emphasised: Iterable[str]) -> str:
    """A line of a table."""
    cells = list(row)
    mark = ' class="ours"' if cells and cells[0].text in emphasised else ""
    return f"<tr{mark}>{''.join(map(_cell, cells))}</tr>"


def _cell(cell: Cell) -> str:
    """A cell; without a text it sorts last."""
    value = cell.text if cell.value is None else repr(cell.value)
    return f'<td data-value="{escape(value)}">{escape(cell.text) or "–"}</td>'


def _plot(plot: Plot) -> str:
    """A drawing under its title."""
    return (
        f"<section><h2>{escape(plot.title)}</h2><figure>"
        f'<img src="{escape(plot.source)}" alt="{escape(plot.caption)}" loading="lazy">'
        f"<figcaption>{escape(plot.caption)}</figcaption></figure></section>"
    )


def _fact(fact: tuple[str, str]) -> str:
    """A line of what a reader must know."""
    return f"    <dt>{escape(fact[0])}</dt><dd>{escape(fact[1])}</dd>"
