"""A report made from what is in its folder: tables, drawings and the page.

``results.json`` alone gives every table and every drawing but the errors, which need the pictures kept beside
it, as the comparison on the page does.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from demosaic_ntc.errors import InputError

from . import (
    demosaic_results,
    error_results,
    inpaint_results,
    noise_results,
    report_demosaic,
    report_errors,
    report_inpaint,
    report_noise,
    report_paper,
)
from .convergence import Trace
from .data_table import DataTable, cells, file_name, markdown
from .drawing import Drawing
from .gallery import Gallery
from .report_demosaic_view import DemosaicView
from .report_errors import ErrorView
from .report_file import NAME, ReportFile
from .report_inpaint import InpaintView
from .report_noise import NoiseView
from .report_paper import PaperView
from .viewer_page import Page, Scene, page_html
from .writing import write_rows, write_text

PAGE, PICTURES, TABLES, PLOTS = "index.html", "pictures", "tables", "plots"

_INTRODUCTION = (
    "Methods compared on pictures whose truth is known, and the solver beside the paper it comes from. Every "
    "figure is in results.json, from which these tables are made."
)


class View(Protocol):
    """What a report shows of one of its parts."""

    @property
    def tables(self) -> Iterator[DataTable]:
        """Its tables, most important first."""

    @property
    def drawings(self) -> Iterator[Drawing]:
        """Its drawings, for which there are results."""

    @property
    def scenes(self) -> Iterator[Scene]:
        """Its pictures to be compared."""

    @property
    def refused(self) -> list[str]:
        """What could not be run, and why."""


def gallery_of(file: ReportFile) -> Gallery:
    """The pictures of a report."""
    return Gallery(file.path.parent / PICTURES, whole=bool(file.get("whole pictures")))


def views(file: ReportFile) -> list[View]:
    """The parts of a report that there are."""
    gallery, shown, found = gallery_of(file), file.get("shown") or {}, list[View]()
    if plan := file.get("demosaic plan"):
        store = demosaic_results.Store(file.section("demosaic"), {})
        found.append(DemosaicView(report_demosaic.revived(plan), store, gallery, shown))
    if plan := file.get("noise plan"):
        denoised = noise_results.Store(file.section("noise"), {})
        found.append(NoiseView(report_noise.revived(plan), denoised))
    if plan := file.get("inpaint plan"):
        repairs = inpaint_results.Store(file.section("inpaint"), {})
        found.append(InpaintView(report_inpaint.revived(plan), repairs, gallery, shown))
    if plan := file.get("errors plan"):
        kept = error_results.Store(file.section("errors"), {})
        found.append(ErrorView(report_errors.revived(plan), kept))
    if plan := file.get("paper plan"):
        repetitions = report_paper.PaperStore(file.section("paper"), {})
        traces = tuple(Trace.decoded(trace) for trace in file.get("convergence") or ())
        summaries = report_paper.summaries(repetitions, plan, repetitions.reasons)
        found.append(PaperView(tuple(summaries), traces))
    return found


def write_report(folder: Path) -> Path:
    """Make tables, drawings and the page of a report anew; returns where the page is."""
    if not (folder / NAME).is_file():
        raise InputError(f"{folder}: holds no {NAME}; make a report with `benchmark all` first")
    file = ReportFile(folder / NAME)
    parts = views(file)
    tables = tuple(table for part in parts for table in part.tables)
    write_tables(folder / TABLES, tables)
    page = Page(
        "Benchmark report",
        _INTRODUCTION,
        facts(file) | _not_run(parts),
        tuple(scene for part in parts for scene in part.scenes),
        tables,
        tuple(drawing.written(folder / PLOTS) for part in parts for drawing in part.drawings),
    )
    write_text(folder / PAGE, page_html(page))
    return folder / PAGE


def write_tables(folder: Path, tables: Iterable[DataTable]) -> None:
    """Write every table as Markdown and as CSV."""
    folder.mkdir(parents=True, exist_ok=True)
    for table in tables:
        write_text(folder / f"{file_name(table)}.md", markdown(table))
        write_rows(folder / f"{file_name(table)}.csv", cells(table))


def facts(file: ReportFile) -> dict[str, str]:
    """How everything was made: the protocols of all parts."""
    told: dict[str, str] = dict(file.get("facts") or {})
    for part in ("demosaic", "noise", "inpaint", "errors", "paper"):
        section = file.get(part) or {}
        told |= {f"{part}: {name}": text for name, text in section.get("protocol", {}).items()}
    return told


def _not_run(parts: Iterable[View]) -> dict[str, str]:
    """What could not be run, if anything."""
    refused = dict.fromkeys(words for part in parts for words in part.refused)
    return {"not run": "; ".join(refused)} if refused else {}
