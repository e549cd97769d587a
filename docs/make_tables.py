"""Write the README's tables of figures from measured results: ``python docs/make_tables.py [REPORT …]``.

With folders of reports, their results are first copied to ``docs/results.json``, without what pages need;
parts may come from different reports.
Tables stand between ``<!-- begin NAME -->`` and ``<!-- end NAME -->``; a test compares them with the results.
"""

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evaluation import (
    demosaic_results,
    inpaint_results,
    noise_results,
    report_demosaic,
    report_inpaint,
    report_noise,
    report_paper,
)
from evaluation.data_table import NONE, markdown_rows
from evaluation.demosaic_summary import SetSummary
from evaluation.inpaint_summary import summarise
from evaluation.metrics import RESOLUTION
from evaluation.report_file import NAME, ReportFile
from evaluation.summary import Summary

ROOT = Path(__file__).resolve().parents[1]
README, RESULTS = ROOT / "README.md", ROOT / "docs" / NAME

_LEFT_OUT = ("shown", "convergence")  # pictures and drawings, which are no figures

# The rows of the demosaicing table: method, and what it is called there.
_METHODS = {
    "ntc-best": "**ntc, best**",
    "ntc": "**ntc, normal** (the default)",
    "predict-only": "control `predict-only`: the same without completion",
    "ntc-fast": "**ntc, fast**",
    "blend": "blend of our two first guesses",
    "lmmse": "directional LMMSE (Zhang and Wu)",
    "menon": "Menon 2007 (colour-demosaicing)",
    "mlri": "residual interpolation (Kiku et al.)",
    "libraw-ahd": "LibRaw AHD",
    "bilinear": "bilinear",
}
# The columns of the paper's table: method, and what its radius is called there.
_RADII = {"ntc": "radius 1", "ntc-least": "least", "ntc-auto": "auto"}
# The rows of the table of noise.
_DENOISERS = {
    "ntc-best": "**ntc, best**",
    "ntc": "**ntc, normal** (the default)",
    "ntc-estimated": "the same, noise estimated from the mosaic",
    "predict-only": "control `predict-only`: the same without completion",
    "ntc-fast": "**ntc, fast**",
    "ntc-off+nl-means": "normal without denoising, then non-local means",
    "ntc-off+wavelet": "normal without denoising, then wavelets",
    "ntc-off": "normal without denoising",
    "mlri": "residual interpolation (Kiku et al.)",
    "lmmse": "directional LMMSE (Zhang and Wu)",
}
_REPAIRS = ("telea", "ns", "biharmonic", "predict-only", "ntc-fast", "ntc", "ntc-best")


def demosaic_table(file: ReportFile) -> str:
    """Mean CPSNR by method and set, and what it costs on the first set."""
    part = report_demosaic.revived(file.get("demosaic plan"))
    sets = part.summaries(demosaic_results.Store(file.section("demosaic"), {}))
    rows = [
        (
            name,
            *(_mean(each, method, "cpsnr", ".2f") for each in sets),
            _mean(sets[0], method, "cpu_s_per_mp", ".2g"),
        )
        for method, name in _METHODS.items()
        if sets[0].line(method)
    ]
    return markdown_rows(("method", *(each.set.name for each in sets), "CPU s/MP"), rows)


def noise_table(file: ReportFile) -> str:
    """Mean CPSNR of noisy mosaics by method, set and noise, and what it costs on the first set."""
    part = report_noise.revived(file.get("noise plan"))
    sets = part.summaries(noise_results.Store(file.section("noise"), {}))
    columns = [
        (f"{each.results.set.name.split()[0]} {each.noise}", each.results) for found in sets for each in found
    ]
    rows = [
        (
            name,
            *(_mean(results, method, "cpsnr", ".2f") for _, results in columns),
            _mean(columns[0][1], method, "cpu_s_per_mp", ".2g"),
        )
        for method, name in _DENOISERS.items()
        if columns[0][1].line(method)
    ]
    return markdown_rows(("method", *(title for title, _ in columns), "CPU s/MP"), rows)


def inpaint_table(file: ReportFile) -> str:
    """Mean PSNR by mask and method on the first set."""
    part = report_inpaint.revived(file.get("inpaint plan"))
    records = part.finished(inpaint_results.Store(file.section("inpaint"), {}))
    masks = summarise(part.sets[0], [damage.mask for damage in part.damages], part.methods, records)
    rows = [
        (f"{each.mask} ({each.share or 0:.0%})", *(_mean(each.results, m, "cpsnr", ".2f") for m in _REPAIRS))
        for each in masks
    ]
    return markdown_rows(("mask (missing)", *_REPAIRS), rows)


def paper_table(file: ReportFile) -> str:
    """NMSE of our solver by radius beside the paper's, and the time of radius 1 beside the paper's."""
    store = report_paper.PaperStore(file.section("paper"), {})
    rows: dict[tuple[str, int], dict[str, Summary]] = {}
    for each in report_paper.summaries(store, file.get("paper plan")):
        if each.method.name in _RADII and each.published and each.has_means:
            rows.setdefault((each.experiment.table.name, each.experiment.label), {})[each.method.name] = each
    return markdown_rows(
        ("tensor, samples", *_RADII.values(), "paper", "radius 1: CPU s", "paper: s", "times faster"),
        [_paper_row(ours) for ours in rows.values()],
    )


def _paper_row(ours: Mapping[str, Summary]) -> tuple[str, ...]:
    """A row of the paper's tables."""
    given = ours["ntc"]
    row, paper, cost = given.experiment.row, given.published, given.cpu_seconds or given.seconds
    assert paper is not None
    accuracies = [_accuracy(ours[method]) if method in ours else NONE for method in _RADII]
    times = (f"{cost.mean:.2g}", f"{paper.seconds:g}", f"{given.times_faster:.0f}")
    return (f"{row.size}^×{row.order}, {row.samples:,}", *accuracies, f"{paper.nmse:g}", *times)


def _accuracy(summary: Summary) -> str:
    """A mean NMSE with its standard error."""
    nmse = summary.nmse
    if nmse.mean < RESOLUTION:
        return f"< {RESOLUTION:g}"
    return f"{nmse.mean:.2g}" + (f" ± {nmse.error:.1g}" if nmse.error is not None else "")


TABLES: dict[str, Callable[[ReportFile], str]] = {
    "demosaic": demosaic_table,
    "noise": noise_table,
    "inpaint": inpaint_table,
    "paper": paper_table,
}


def with_tables(text: str, file: ReportFile) -> str:
    """A text with its tables made anew; those without results stay as they are."""
    for name, make in TABLES.items():
        if file.get(f"{name} plan"):
            before, begin, rest = text.partition(f"<!-- begin {name} -->\n")
            _, end, after = rest.partition(f"<!-- end {name} -->")
            text = before + begin + make(file) + end + after if end else text
    return text


def keep_results(reports: Iterable[Path]) -> None:
    """Copy the figures of reports; of a part that several have, the last one's."""
    contents = [json.loads((report / NAME).read_text(encoding="utf-8")) for report in reports]
    kept = {name: part for content in contents for name, part in content.items() if name not in _LEFT_OUT}
    RESULTS.write_text(json.dumps(kept, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


def _mean(summary: SetSummary, method: str, quantity: str, form: str) -> str:
    """A mean over a whole set, or that there is none."""
    line = summary.line(method)
    value = line.mean(quantity) if line else None
    return NONE if value is None else format(value, form)


def main(arguments: list[str]) -> None:
    """Take over the results of reports, if any are named, and write the tables."""
    if arguments:
        keep_results(map(Path, arguments))
    README.write_text(with_tables(README.read_text(encoding="utf-8"), ReportFile(RESULTS)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
