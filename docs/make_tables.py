"""Write the tables of the README and of docs/benchmarks.md: ``python docs/make_tables.py [REPORT …]``.

With folders of reports, their results are first copied to ``docs/results.json``, without what pages need.
Parts may come from different reports, and so may methods: ``make_tables.py docs REPORT`` adds what is new.
Tables stand between ``<!-- begin NAME -->`` and ``<!-- end NAME -->``; a test compares them with the results.
"""

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evaluation.measure.inpaint import InpaintBenchmark, mask_name
from evaluation.measure.noise import NoiseBenchmark
from evaluation.measure.results import Results, SetResults
from evaluation.measure.speed import stage_costs
from evaluation.measure.store import NAME, ReportFile
from evaluation.measure.summary import Summary, estimate_words, summaries
from evaluation.methods.tensors import RESOLUTION
from evaluation.report.report import load_results
from evaluation.report.tables import NONE, figure, markdown_rows

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / NAME
PAGES = (ROOT / "README.md", ROOT / "docs" / "benchmarks.md")

_LEFT_OUT = ("shown", "convergence")  # pictures and drawings, which are no figures

# The rows of the demosaicing table: method, and what it is called there.
_METHODS = {
    "gaussian-best": "**gaussian, best**",
    "gaussian": "**gaussian, normal** (the default)",
    "ntc": "**ntc, normal**: groups completed with the least norm",
    "gaussian-fast": "**gaussian, fast**",
    "blend": "blend of our two first guesses",
    "lmmse": "directional LMMSE (Zhang and Wu)",
    "menon": "Menon 2007 (colour-demosaicing)",
    "mlri": "residual interpolation (Kiku et al.)",
    "libraw-ahd": "LibRaw AHD",
    "bilinear": "bilinear",
    "ntc-tiled": "our solver on plain tensors of blocks",
    "ntc-whole": "our solver on plain tensors",
    "silrtc": "SiLRTC on plain tensors",
    "als": "ALS on plain tensors",
}
# The rows of the README's table: ours, the best classical methods, LibRaw.
_SUMMARY = ("gaussian-best", "gaussian", "gaussian-fast", "ntc", "lmmse", "mlri", "libraw-ahd")
# The columns of the paper's table: method, and what its radius is called there.
_RADII = {"ntc": "radius 1", "ntc-least": "least", "ntc-auto": "auto"}
# The rows of the table of noise.
_DENOISERS = {
    "gaussian-best": "**gaussian, best**",
    "gaussian": "**gaussian, normal** (the default)",
    "gaussian-estimated": "the same, noise estimated from the mosaic",
    "ntc": "**ntc, normal**: groups completed with the least norm",
    "gaussian-fast": "**gaussian, fast**",
    "gaussian-off+nl-means": "normal without denoising, then non-local means",
    "gaussian-off+wavelet": "normal without denoising, then wavelets",
    "gaussian-off": "normal without denoising",
    "mlri": "residual interpolation (Kiku et al.)",
    "lmmse": "directional LMMSE (Zhang and Wu)",
}
_REPAIRS = (
    *("als", "silrtc", "halrtc", "ntc-whole", "ntc-tiled", "telea", "ns", "biharmonic"),
    *("ntc", "gaussian-fast", "gaussian", "gaussian-best"),
)


# The rows of the table of plain tensors.
_TENSORS = {
    "gaussian": "**gaussian, normal**: groups of similar patches",
    "ntc": "**ntc, normal**: their samples completed",
    "bilinear": "bilinear",
    "ntc-tiled": "our solver, the tensor 16 × 16 × 8 × 8 × 3 of blocks",
    "ntc-whole": "our solver, the tensor 128 × 128 × 3",
    "silrtc": "SiLRTC, 128 × 128 × 3",
    "als": "ALS, 128 × 128 × 3",
}


def demosaic_table(results: Results, names: Mapping[str, str] = _METHODS) -> str:
    """Mean CPSNR and NMSE by method and set, and what it costs on the first set."""
    sets = [results.of_set(each) for each in results.part.sets]
    columns = [(each, quantity) for each in sets for quantity in ("cpsnr", "nmse")]
    forms = {"cpsnr": ".2f", "nmse": ".1e"}
    rows = [
        (
            name,
            *(_mean(each, method, quantity, forms[quantity]) for each, quantity in columns),
            _mean(sets[0], method, "cpu_s_per_mp", ".2g"),
        )
        for method, name in names.items()
        if method in sets[0].methods
    ]
    titles = [f"{each.set.name} {'dB' if quantity == 'cpsnr' else 'NMSE'}" for each, quantity in columns]
    return markdown_rows(("method", *titles, "CPU s/MP"), rows)


def summary_table(results: Results) -> str:
    """The most important rows of the same table."""
    return demosaic_table(results, {name: _METHODS[name] for name in _SUMMARY})


def tensors_table(results: Results) -> str:
    """The same of plain tensors."""
    return demosaic_table(results, _TENSORS)


def noise_table(results: Results) -> str:
    """Mean CPSNR of noisy mosaics by method, set and noise, and what it costs on the first set."""
    part = cast(NoiseBenchmark, results.part)
    columns = [
        (f"{each.name.split()[0]} {noise}", found)
        for each in part.sets
        for noise, found in results.of_set(each).by("noise", [noise.name for noise in part.work]).items()
    ]
    first = columns[0][1]
    rows = [
        (
            name,
            *(_mean(found, method, "cpsnr", ".2f") for _, found in columns),
            _mean(first, method, "cpu_s_per_mp", ".2g"),
        )
        for method, name in _DENOISERS.items()
        if method in first.methods
    ]
    return markdown_rows(("method", *(title for title, _ in columns), "CPU s/MP"), rows)


def inpaint_table(results: Results) -> str:
    """Mean PSNR, then mean NMSE, by mask and method on the first set."""
    part = cast(InpaintBenchmark, results.part)
    found = results.of_set(part.sets[0])
    masks, known = found.by("mask", part.masks), [name for name in _REPAIRS if name in found.methods]

    def table(title: str, quantity: str, form: str) -> str:
        rows = [
            (mask_name(mask, under, ".0%"), *(_mean(under, m, quantity, form) for m in known))
            for mask, under in masks.items()
        ]
        return markdown_rows((title, *known), rows)

    return f"{table('mask (missing): dB', 'cpsnr', '.2f')}\n{table('mask: NMSE', 'nmse', '.1e')}"


def paper_table(results: Results) -> str:
    """NMSE of our solver by radius beside the paper's, and the time of radius 1 beside the paper's."""
    rows: dict[tuple[str, int], dict[str, Summary]] = {}
    for each in summaries(results):
        if each.method.name in _RADII and each.published_figures and each.has_means:
            rows.setdefault((each.experiment.table.name, each.experiment.label), {})[each.method.name] = each
    return markdown_rows(
        ("tensor, samples", *_RADII.values(), "paper", "radius 1: CPU s", "paper: s", "times faster"),
        [_paper_row(ours) for ours in rows.values()],
    )


def _paper_row(ours: Mapping[str, Summary]) -> tuple[str, ...]:
    """A row of the paper's tables."""
    given = ours["ntc"]
    row, paper = given.experiment.row, given.published_figures
    cost = given.estimate("cpu_seconds") or given.estimate("seconds")
    assert paper is not None
    assert cost is not None
    accuracies = [_accuracy(ours[method]) if method in ours else NONE for method in _RADII]
    times = (f"{cost[0]:.2g}", f"{paper.seconds:g}", f"{given.times_faster:.0f}")
    return (f"{row.size}^×{row.order}, {row.samples:,}", *accuracies, f"{paper.nmse:g}", *times)


def _accuracy(summary: Summary) -> str:
    """A mean NMSE with its standard error."""
    nmse = summary.estimate("nmse")
    return NONE if nmse is None else estimate_words(nmse, ".2g", RESOLUTION)


def speed_table(results: Results) -> str:
    """Mean CPU seconds per megapixel of the engine's stages, by set and quality."""
    columns: dict[str, Any] = {}
    for name, found in results.frame.groupby("set", sort=False):
        by_quality = stage_costs(found)
        columns |= {f"{str(name).split()[0]}, {quality}": by_quality[quality] for quality in by_quality}
    stages = next(iter(columns.values())).index
    rows = [(stage, *(f"{column[stage]:.2f}" for column in columns.values())) for stage in stages]
    return markdown_rows(("stage", *columns), rows)


def convert_table(results: Results) -> str:
    """What every program takes for every raw."""
    (table,) = results.part.tables(Results(results.part, results.frame, []))
    return markdown_rows(table.columns, [[cell.text or NONE for cell in row] for row in table.rows])


# Each table by its name: the part of the results that it shows, and what writes it.
TABLES: dict[str, tuple[str, Callable[[Results], str]]] = {
    "summary": ("demosaic", summary_table),
    "demosaic": ("demosaic", demosaic_table),
    "tensors": ("tensors", tensors_table),
    "noise": ("noise", noise_table),
    "inpaint": ("inpaint", inpaint_table),
    "paper": ("paper", paper_table),
    "speed": ("speed", speed_table),
    "convert": ("convert", convert_table),
}


def with_tables(text: str, file: ReportFile) -> str:
    """A text with its tables made anew; those without results stay as they are."""
    results = load_results(file)
    for name, (part, write) in TABLES.items():
        before, begin, rest = text.partition(f"<!-- begin {name} -->\n")
        _, end, after = rest.partition(f"<!-- end {name} -->")
        if end and part in results:
            text = before + begin + write(results[part]) + end + after
    return text


def keep_results(reports: Iterable[Path]) -> None:
    """Copy the figures of reports; where several have a part, methods that a later one has are its own."""
    kept: dict[str, Any] = {}
    for report in reports:
        content = json.loads((report / NAME).read_text(encoding="utf-8"))
        for name, part in content.items():
            if name not in _LEFT_OUT:
                kept[name] = _joined(kept.get(name), part)
    RESULTS.write_text(json.dumps(kept, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


def _joined(earlier: Any, later: Any) -> Any:
    """A section of two reports: the methods of both, the results of each that the later one has not."""
    if not (isinstance(earlier, dict) and isinstance(later, dict)):
        return later
    if "methods" in earlier and "methods" in later:
        methods = {method["name"]: method for method in (*earlier["methods"], *later["methods"])}
        return later | {"methods": list(methods.values())}
    if "results" in earlier and "results" in later:
        own = {row.get("method") for row in later["results"]}
        others = [row for row in earlier["results"] if row.get("method") not in own]
        return {
            **later,
            "protocol": earlier["protocol"] | later["protocol"],
            "results": others + later["results"],
        }
    return later


def _mean(found: SetResults, method: str, quantity: str, form: str) -> str:
    """A mean over a whole set, or that there is none."""
    mean = found.means(quantity).get(method, float("nan"))
    form = ".0f" if form == ".2g" and mean >= 100 else form
    return figure(mean, form).text.replace("e-0", "e-") or NONE


def main(arguments: list[str]) -> None:
    """Take over the results of reports, if any are named, and write the tables."""
    if arguments:
        keep_results(map(Path, arguments))
    for page in PAGES:
        page.write_text(with_tables(page.read_text(encoding="utf-8"), ReportFile(RESULTS)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
