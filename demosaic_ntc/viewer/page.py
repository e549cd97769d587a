"""One page to compare pictures in: template, style, script and data in a single file.

The page opens from a disk and asks for nothing from a network. Tables and facts are plain HTML, so that they
can be read, printed and copied where no script runs; the script adds the viewer, sorting and colour schemes.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from string import Template

from demosaic_ntc.viewer import read_script, read_style

_SCRIPTS = ("basics.js", "view.js", "gestures.js", "viewer.js", "page.js")


@dataclass(frozen=True, slots=True)
class Version:
    """One rendering of a scene: where its picture is, and what is to be said about it."""

    name: str
    source: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class PageScene:
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
    scenes: tuple[PageScene, ...] = ()
    tables: tuple[str, ...] = ()  # sections of HTML
    plots: tuple[Plot, ...] = ()


def page_html(page: Page) -> str:
    """The page as one HTML document."""
    scenes = json.dumps([asdict(scene) for scene in page.scenes], ensure_ascii=False)
    return Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8")).substitute(
        title=escape(page.title),
        introduction=escape(page.introduction),
        tables="\n".join(page.tables),
        plots="\n".join(map(_plot, page.plots)),
        facts="\n".join(
            f"    <dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in page.facts.items()
        ),
        scenes=scenes.replace("<", "\\u003c"),  # cannot end its element, whatever a picture is called
        style=read_style() + read_style("style.css"),
        script="\n".join(map(read_script, _SCRIPTS)),
    )


def _plot(plot: Plot) -> str:
    """A drawing under its title."""
    return (
        f"<section><h2>{escape(plot.title)}</h2><figure>"
        f'<img src="{escape(plot.source)}" alt="{escape(plot.caption)}" loading="lazy">'
        f"<figcaption>{escape(plot.caption)}</figcaption></figure></section>"
    )
