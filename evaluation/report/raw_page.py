"""A page of raws: our picture of each beside the camera's own, figures, notices, and what failed."""

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from demosaic_ntc.viewer.page import Page, page_html

from ..measure.protocol import commit, machine
from ..measure.raws import (
    CAPTIONS,
    FAULTS,
    RawsBenchmark,
    figures_of,
    is_far,
    make_converted_table,
    notices_of,
    raw_rows,
    source_of,
    totals,
)
from ..measure.results import Results
from ..measure.store import write_text
from ..methods.conversions import CONVERTED
from .tables import html

PAGE = "index.html"

_INTRODUCTION = (
    "Raws converted by default settings, each beside the picture that its camera stored, and the middle of "
    "ours at 1:1. Differences in brightness that are marked are larger than they should be."
)


def write_raw_page(results: Results, folder: Path) -> Path:
    """Write the page of all raws that are known; returns where it is."""
    rows, part = raw_rows(results), results.part
    made = [row for row in rows if row["outcome"] == CONVERTED]
    failures = [_failure(row) for row in rows if row["outcome"] != CONVERTED]
    sections = (
        _totals(rows),
        html(make_converted_table(made)),
        _section("Raw by raw", [_raw(row, folder) for row in made]),
        _section("Raws without a picture", ["<dl>", *failures, "</dl>"]) if failures else "",
    )
    facts = part.protocol | {"machine": machine(), "commit": commit()}
    write_text(folder / PAGE, page_html(Page("Raws", _INTRODUCTION, facts, tables=sections)))
    return folder / PAGE


def _section(title: str, lines: Iterable[str]) -> str:
    """A section of the page."""
    return f"<section><h2>{title}</h2>\n{chr(10).join(lines)}\n</section>"


def _failure(row: Mapping[str, Any]) -> str:
    """A raw that was not converted, and why."""
    mark = ' class="fault"' if row["outcome"] in FAULTS else ""
    told = escape(f"{row['outcome']}: {row['reason']}")
    return f"<dt>{escape(row['image'])}</dt><dd{mark}>{told}</dd>"


def _totals(rows: list[dict[str, Any]]) -> str:
    """What became of all raws; faults stand out."""
    fault = ' class="fault"' if any(row["outcome"] in FAULTS for row in rows) else ""
    first, *more = map(escape, totals(rows))
    return f"<p><strong{fault}>{first}</strong><br>{'<br>'.join(more)}</p>"


def _raw(row: Mapping[str, Any], folder: Path) -> str:
    """A raw with its pictures, figures and notices."""
    key = {name: row[name] for name in RawsBenchmark.keys}
    ours, camera, middle = (_figure(source_of(folder, key, name), text) for name, text in CAPTIONS.items())
    name = escape(f"{row['image']} – {row['camera'] or 'camera not stated'}, {row['width']}×{row['height']}")
    told = "\n".join(_facts(row))
    return (
        f'<article class="raw"><h3>{name}</h3>\n<div class="pair whole">\n{ours}\n{camera}\n</div>\n'
        f'<div class="pair">\n{middle}\n<dl>\n{told}\n</dl>\n</div>\n</article>'
    )


def _figure(source: str | None, caption: str) -> str:
    """A picture with its caption, or that there is none."""
    if source is None:
        return f'<p class="small">There is no picture: {caption}.</p>'
    image = f'<img src="{source}" alt="{caption}" loading="lazy">'
    return f"<figure>{image}<figcaption>{caption}</figcaption></figure>"


def _facts(row: Mapping[str, Any]) -> Iterator[str]:
    """The figures of a raw, a difference that is too large marked, and what the program said."""
    for title, cell in figures_of(dict(row)).items():
        mark = ' class="far"' if title == "difference" and is_far(dict(row)) else ""
        if cell.text:
            yield f"<dt>{escape(title)}</dt><dd{mark}>{escape(cell.text)}</dd>"
    for notice in notices_of(dict(row)):
        yield f"<dt>notice</dt><dd>{escape(notice)}</dd>"
