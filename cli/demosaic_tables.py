"""Results of the demosaicing benchmark as text tables."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table

from .measuring import evaluation

if TYPE_CHECKING:
    from rich.console import Console

    from evaluation.demosaic_summary import Line, SetSummary

# Pictures side by side in a table: as many as stay readable.
_ACROSS = 12

_MEMORY = "mib"
_CPSNR = ("cpsnr", "cpsnr_crop0")

# Columns after the CPSNRs: title, quantity, format.
_COLUMNS = (
    ("R", "psnr_red", ".2f"),
    ("G", "psnr_green", ".2f"),
    ("B", "psnr_blue", ".2f"),
    ("SSIM", "ssim", ".4f"),
    ("NMSE", "nmse", ".2e"),
    ("s/MP", "s_per_mp", ".3g"),
    ("CPU s/MP", "cpu_s_per_mp", ".3g"),
    ("MiB", _MEMORY, ".0f"),
)

_NONE = "–"
_WORDS = ("picture", "method")


def print_set(
    console: "Console", summary: "SetSummary", crop: int, conditions: str, *, details: bool
) -> None:
    """Print the figures of a set: by picture, the means with their conditions, and what they say."""
    by_picture = (detail_table(summary, crop),) if details else picture_tables(summary, crop)
    for table in (*by_picture, *mean_tables(summary, crop)):
        console.print(table)
    for text in (conditions, *gaps_in(summary), *findings(summary)):
        console.print(text, markup=False)
    console.print()


def picture_tables(summary: "SetSummary", crop: int) -> Iterator[Table]:
    """The CPSNR of each method on each picture, some pictures at a time."""
    names = [picture.name for picture in summary.set.pictures]
    for start in range(0, len(names), _ACROSS):
        across = names[start : start + _ACROSS]
        table = _table(f"{summary.set.name}: CPSNR in dB, crop {crop}", ("method", *across))
        for line in summary.lines:
            figures = (line.figures.get(name, {}).get("cpsnr") for name in across)
            table.add_row(_label(line), *(_text(figure, ".2f") for figure in figures))
        yield table


def detail_table(summary: "SetSummary", crop: int) -> Table:
    """All quantities of each method on each picture."""
    columns = ("picture", "method", f"CPSNR crop {crop}", "crop 0", *(title for title, _, _ in _COLUMNS))
    table = _table(f"{summary.set.name}: by picture", columns)
    for picture in summary.set.pictures:
        for line in summary.lines:
            figures = line.figures.get(picture.name, {})
            heads = (_text(figures.get(quantity), ".2f") for quantity in _CPSNR)
            cells = (_text(figures.get(quantity), form) for _, quantity, form in _COLUMNS)
            table.add_row(picture.name, _label(line), *heads, *cells)
        table.add_section()
    return table


def mean_tables(summary: "SetSummary", crop: int) -> Iterator[Table]:
    """The means over the whole set, the best method first; no table where there are none."""
    lines = [line for line in summary.lines if not line.missing]
    if not lines:
        return
    titles = (title for title, _, _ in _COLUMNS)
    columns = ("method", f"CPSNR crop {crop}", "crop 0", *titles, "lowest CPSNR", "groups certified")
    table = _table(f"{summary.set.name}: means over {summary.set.size} pictures", columns)
    for line in sorted(lines, key=_rank):
        heads = (_text(line.mean(quantity), ".2f") for quantity in _CPSNR)
        cells = (_text(_over_set(line, quantity), form) for _, quantity, form in _COLUMNS)
        table.add_row(_label(line), *heads, *cells, *_extremes(line))
    yield table


def gaps_in(summary: "SetSummary") -> Iterator[str]:
    """Which pictures keep which methods from having a mean."""
    by_missing: dict[tuple[str, ...], list[str]] = {}
    for line in summary.lines:
        if line.missing:
            by_missing.setdefault(line.missing, []).append(_label(line))
    for missing, methods in by_missing.items():
        yield f"no mean over {summary.set.name} without {', '.join(missing)}: {', '.join(methods)}"
    if any(line.role == "reference" for line in summary.lines):
        yield "* figures of the reference, measured elsewhere"


def findings(summary: "SetSummary") -> Iterator[str]:
    """What completion adds to its own control, and where a peer is closest or ahead."""
    module = evaluation("demosaic_summary")
    gain = module.gain(summary)
    if gain is not None:
        mean = "no mean" if gain.mean is None else f"{gain.mean:+.2f} dB on the mean"
        image, lowest = gain.lowest
        yield (
            f"{module.OURS} over {module.CONTROL} on {summary.set.name}: {mean}, better on "
            f"{gain.helped} of {gain.compared} pictures, least {lowest:+.2f} dB ({image})"
        )
    for worst in module.shortfalls(summary):
        yield (
            f"{worst.method} against the best peer of the run on each picture of {summary.set.name}: "
            f"at worst {worst.cpsnr - worst.peer_cpsnr:+.2f} dB on {worst.image} "
            f"({worst.cpsnr:.2f} dB, {worst.peer} {worst.peer_cpsnr:.2f} dB)"
        )


def _over_set(line: "Line", quantity: str) -> float | None:
    """The mean of a quantity; of memory, the most."""
    return line.most(quantity) if quantity == _MEMORY else line.mean(quantity)


def _extremes(line: "Line") -> tuple[str, str]:
    """The picture on which a method is worst, and what it proved."""
    lowest, certified, gap = line.lowest(), line.certified(), line.most("worst_gap")
    worst = f"{lowest[1]:.2f} {lowest[0]}" if lowest else _NONE
    proven = f"{certified[0]} of {certified[1]}, gap ≤ {gap:.1e}" if certified and gap is not None else ""
    return worst, proven


def _rank(line: "Line") -> float:
    """Lines with a mean come first, the best of them at the top."""
    mean = line.mean("cpsnr")
    return -mean if mean is not None else float("inf")


def _label(line: "Line") -> str:
    """The name of a method, and that it was not measured here if it was not."""
    return f"{line.method} *" if line.role == "reference" else line.method


def _text(figure: float | None, form: str) -> str:
    """A figure, or that there is none."""
    return _NONE if figure is None else format(figure, form)


def _table(title: str, columns: tuple[str, ...]) -> Table:
    """A table without frames, figures aligned at their right."""
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    for column in columns:
        table.add_column(column, no_wrap=True, justify="left" if column in _WORDS else "right")
    return table
