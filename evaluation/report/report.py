"""A report: what is missing is measured and kept in its folder, and shown from what is there alone.

``results.json`` alone gives every table and every drawing but the errors, which need the pictures kept beside
it, as the comparison on the page does.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from demosaic_ntc.errors import InputError
from demosaic_ntc.viewer.crops import CropBox
from demosaic_ntc.viewer.page import Page, PageScene, Version, page_html
from demosaic_ntc.viewer.pictures import thumbnail

from ..bursts.part import MergeBenchmark
from ..measure import convergence
from ..measure.benchmark import Benchmark, Figure
from ..measure.case import Case, Measurement, refusal_words
from ..measure.completions import CompletionBenchmark
from ..measure.convert import ConvertBenchmark
from ..measure.demosaic import DemosaicBenchmark, QuadBenchmark, TensorBenchmark, XTransBenchmark
from ..measure.errors import ErrorBenchmark
from ..measure.inpaint import InpaintBenchmark
from ..measure.metrics import eight_bit
from ..measure.noise import NoiseBenchmark, WholeNoiseBenchmark
from ..measure.paper import PaperBenchmark
from ..measure.protocol import commit, machine
from ..measure.results import Results
from ..measure.speed import SpeedBenchmark
from ..measure.store import NAME, ReportFile, Store, write_text
from .gallery import Gallery
from .plots import Drawing
from .plots import convergence as convergence_figure
from .tables import DataTable, cells, file_name, html, markdown

PAGE, PICTURES, TABLES, PLOTS = "index.html", "pictures", "tables", "plots"
TRUTH = "truth"

_INTRODUCTION = (
    "Methods compared on pictures whose truth is known, and the solver beside the paper it comes from. Every "
    "figure is in results.json, from which these tables are made."
)

# The parts of a report. Another is a subclass of `Benchmark` in `evaluation/measure/` and a name here.
_ALL: tuple[type[Benchmark], ...] = (
    *(DemosaicBenchmark, TensorBenchmark, NoiseBenchmark, InpaintBenchmark),
    *(ErrorBenchmark, SpeedBenchmark, ConvertBenchmark, PaperBenchmark),
    *(CompletionBenchmark, XTransBenchmark, QuadBenchmark, WholeNoiseBenchmark),
    MergeBenchmark,
)
PARTS: dict[str, type[Benchmark]] = {part.name: part for part in _ALL}

#: Steps that are still to be done: how many, and what each was once it is done.
Work = tuple[int, Iterator[str]]


def load_results(file: ReportFile) -> dict[str, Results]:
    """The results of all parts that a report has, revived from their plans."""
    plans = {name: plan for name in PARTS if (plan := file.get(f"{name} plan"))}
    return {
        name: Results.of(Store(file, PARTS[name].from_plan(plan), {}), stamped=False)
        for name, plan in plans.items()
    }


def opened(folder: Path, *, whole: bool) -> ReportFile:
    """The report in a folder, made or continued."""
    folder.mkdir(parents=True, exist_ok=True)
    file = ReportFile(folder / NAME)
    file.put("whole pictures", whole)
    file.put("facts", {"machine": machine(), "commit": commit()})
    return file


def forget(folder: Path) -> None:
    """Remove the results and pictures of earlier runs; nothing else in the folder is touched."""
    for path in (folder / NAME, *(folder / PICTURES).glob("*.webp")):
        path.unlink(missing_ok=True)


def gallery_of(file: ReportFile) -> Gallery:
    """The pictures of a report."""
    return Gallery(file.path.parent / PICTURES, whole=bool(file.get("whole pictures")))


def work(file: ReportFile, part: Benchmark) -> Work:
    """What is still to be done of a part; each result is in the file, and its picture beside it, at once."""
    gallery, store = gallery_of(file), Store(file, part)
    file.put(f"{part.name} plan", part.plan)
    boxes = {look.key: gallery.box(look.picture, look.frame) for look in part.looks}
    shown = {look.key: _keep_scene(look, boxes[look.key], gallery) for look in part.looks}
    file.put("shown", (file.get("shown") or {}) | shown)

    def keep(case: Case, result: Measurement) -> None:
        if case.scene in boxes and result.restored is not None:
            gallery.keep(case.key, eight_bit(result.restored.image), boxes[case.scene])

    todo = [
        case
        for case in part.cases
        if case not in store or (case.scene in boxes and not gallery.has(case.key))
    ]
    return len(todo), (case.words for case in store.fill(todo, keep))


def _keep_scene(look: Figure, box: CropBox, gallery: Gallery) -> dict[str, Any]:
    """Keep what is shown of a scene beside methods; returns its size, place and thumbnail."""
    picture, frame = look.picture, look.frame
    pixels = picture.pixels()
    for name, version in look.versions(pixels).items():
        if not gallery.has(f"{name} {look.key}"):
            gallery.keep(f"{name} {look.key}", version, box)
    left, top = (frame.left, frame.top) if frame else (0, 0)
    place = replace(box, left=box.left + left, top=box.top + top).share((picture.height, picture.width))
    return {"width": box.width, "height": box.height, "box": place, "thumbnail": thumbnail(pixels)}


def trace_convergence(file: ReportFile) -> Work:
    """How some completions converge, as far as that is not known of this code."""
    fresh = convergence.fresh(file.get("convergence"))
    file.put("convergence", fresh)

    def steps() -> Iterator[str]:
        for row in convergence.ROWS[len(fresh) :]:
            file.put("convergence", [*file.get("convergence"), convergence.trace_completion(row)])
            yield f"convergence, {convergence.title(row)}"

    return len(convergence.ROWS) - len(fresh), steps()


def write_report(folder: Path) -> Path:
    """Make tables, drawings and the page of a report anew; returns where the page is."""
    if not (folder / NAME).is_file():
        raise InputError(f"{folder}: holds no {NAME}; make a report with `benchmark all` first")
    file = ReportFile(folder / NAME)
    gallery, results = gallery_of(file), load_results(file)
    tables = [table for found in results.values() for table in found.part.tables(found)]
    tables.sort(key=lambda table: table.details)
    _write_tables(folder / TABLES, tables)
    refused = refusal_words(refusal for found in results.values() for refusal in found.refusals)
    page = Page(
        "Benchmark report",
        _INTRODUCTION,
        _facts(file) | ({"not run": "; ".join(refused)} if refused else {}),
        tuple(scene for found in results.values() for scene in _scenes(found, gallery, file)),
        tuple(map(html, tables)),
        tuple(drawing.write(folder / PLOTS) for drawing in _drawings(results, gallery, file)),
    )
    write_text(folder / PAGE, page_html(page))
    return folder / PAGE


def _write_tables(folder: Path, tables: Iterable[DataTable]) -> None:
    """Write every table as Markdown and as CSV."""
    folder.mkdir(parents=True, exist_ok=True)
    for table in tables:
        write_text(folder / f"{file_name(table)}.md", markdown(table))
        lines = pd.DataFrame(cells(table), columns=list(table.columns), dtype=object)
        write_text(folder / f"{file_name(table)}.csv", lines.to_csv(index=False, lineterminator="\n"))


def _drawings(results: dict[str, Results], gallery: Gallery, file: ReportFile) -> Iterator[Drawing]:
    """The drawings of all parts, and of convergence."""
    for found in results.values():
        yield from found.part.drawings(found, gallery)
    if traces := file.get("convergence"):
        caption = "objective and proven lower bound by iteration: the optimum lies between them"
        yield Drawing("convergence", "Convergence", caption, convergence_figure(traces))


def _facts(file: ReportFile) -> dict[str, str]:
    """How everything was made: the protocols of all parts."""
    told: dict[str, str] = dict(file.get("facts") or {})
    for part in PARTS:
        section = file.get(part) or {}
        told |= {f"{part}: {name}": text for name, text in section.get("protocol", {}).items()}
    return told


def _scenes(results: Results, gallery: Gallery, file: ReportFile) -> Iterator[PageScene]:
    """Every scene in all versions: damage, the first method, the best peer, the truth, then the others."""
    shown = file.get("shown") or {}
    rows = results.frame.to_dict("records")
    for look in results.part.looks:
        truth, about = gallery.source(f"{TRUTH} {look.key}"), shown.get(look.key)
        versions = _versions(results.part, look, rows, gallery)
        if truth is None or about is None or not versions:
            continue
        damaged = gallery.source(f"damaged {look.key}")
        first = [Version("damaged", damaged)] if damaged else []
        yield PageScene(
            look.name,
            about["width"],
            about["height"],
            (*first, *versions[:2], Version(TRUTH, truth), *versions[2:]),
            about["thumbnail"],
            None if gallery.whole and look.frame is None else tuple(about["box"]),
            TRUTH,
        )


def _versions(part: Benchmark, look: Figure, rows: list[dict[str, Any]], gallery: Gallery) -> list[Version]:
    """A scene by each method: the first one, the best peer on it, then the others."""
    known = []
    for case in part.cases:
        source = gallery.source(case.key) if case.scene == look.key else None
        row = next((row for row in rows if all(row[n] == v for n, v in case.key.items())), None)
        if source is not None and row is not None:
            known.append((case, row["cpsnr"], source))
    peers = [entry for entry in known if entry[0].method.role == "peer"]
    best = max(peers, key=lambda entry: entry[1], default=None)
    known[1:] = sorted(known[1:], key=lambda entry: entry is not best)
    return [Version(case.method.name, source, f"{cpsnr:.2f} dB") for case, cpsnr, source in known]
