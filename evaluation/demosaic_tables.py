"""What the demosaicing benchmark found, as tables and sentences."""

from collections.abc import Iterator

from .data_table import Cell, DataTable, figure
from .demosaic_summary import Line, SetSummary, gain, shortfalls
from .demosaicers import CONTROL, OURS

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


def picture_table(summary: SetSummary, crop: int) -> DataTable:
    """The CPSNR of each method on each picture."""
    names = [picture.name for picture in summary.set.pictures]
    rows = tuple(
        (Cell(label(line)), *(figure(line.figures.get(name, {}).get("cpsnr"), ".2f") for name in names))
        for line in summary.lines
    )
    title = f"{summary.set.name}: CPSNR in dB, crop {crop}"
    return DataTable(title, "by picture", ("method", *names), rows, _ours(summary))


def detail_table(summary: SetSummary, crop: int) -> DataTable:
    """All quantities of each method on each picture."""
    columns = ("picture", "method", f"CPSNR crop {crop}", "crop 0", *(title for title, _, _ in _COLUMNS))
    rows = []
    for picture in summary.set.pictures:
        for line in summary.lines:
            figures = line.figures.get(picture.name, {})
            heads = (figure(figures.get(quantity), ".2f") for quantity in _CPSNR)
            cells = (figure(figures.get(quantity), form) for _, quantity, form in _COLUMNS)
            rows.append((Cell(picture.name), Cell(label(line)), *heads, *cells))
    return DataTable(f"{summary.set.name}: by picture", "all quantities", columns, tuple(rows))


def mean_table(summary: SetSummary, crop: int, conditions: str = "") -> DataTable | None:
    """The means over the whole set, the best method first; None where there are none.

    A method that refused a picture has no means, but its place among those that have.
    """
    lines = [line for line in summary.lines if not line.missing or line.refused]
    if all(line.missing for line in lines):
        return None
    titles = (title for title, _, _ in _COLUMNS)
    columns = ("method", f"CPSNR crop {crop}", "crop 0", *titles, "lowest CPSNR", "groups certified")
    rows = []
    for line in sorted(lines, key=_rank):
        heads = (figure(line.mean(quantity), ".2f") for quantity in _CPSNR)
        cells = (figure(_over_set(line, quantity), form) for _, quantity, form in _COLUMNS)
        rows.append((Cell(label(line)), *heads, *cells, *_extremes(line)))
    title = f"{summary.set.name}: means over {summary.set.size} pictures"
    return DataTable(title, conditions, columns, tuple(rows), _ours(summary))


def gaps_in(summary: SetSummary) -> Iterator[str]:
    """Which pictures keep which methods from having a mean."""
    by_missing: dict[tuple[str, ...], list[str]] = {}
    for line in summary.lines:
        if line.missing:
            by_missing.setdefault(line.missing, []).append(label(line))
    for missing, methods in by_missing.items():
        yield f"no mean over {summary.set.name} without {', '.join(missing)}: {', '.join(methods)}"
    if any(line.role == "reference" for line in summary.lines):
        yield "* figures of the reference, measured elsewhere"


def findings(summary: SetSummary) -> Iterator[str]:
    """What completion adds to its own control, and where a peer is closest or ahead."""
    added = gain(summary)
    if added is not None:
        mean = "no mean" if added.mean is None else f"{added.mean:+.2f} dB on the mean"
        image, lowest = added.lowest
        yield (
            f"{OURS} over {CONTROL} on {summary.set.name}: {mean}, better on "
            f"{added.helped} of {added.compared} pictures, least {lowest:+.2f} dB ({image})"
        )
    for worst in shortfalls(summary):
        yield (
            f"{worst.method} against the best peer of the run on each picture of {summary.set.name}: "
            f"at worst {worst.cpsnr - worst.peer_cpsnr:+.2f} dB on {worst.image} "
            f"({worst.cpsnr:.2f} dB, {worst.peer} {worst.peer_cpsnr:.2f} dB)"
        )


def label(line: Line) -> str:
    """The name of a method, and that it was not measured here if it was not."""
    return f"{line.method} *" if line.role == "reference" else line.method


def _ours(summary: SetSummary) -> tuple[str, ...]:
    """The labels of our own methods."""
    return tuple(label(line) for line in summary.lines if line.role == "ours")


def _over_set(line: Line, quantity: str) -> float | None:
    """The mean of a quantity; of memory, the most."""
    return line.most(quantity) if quantity == _MEMORY else line.mean(quantity)


def _extremes(line: Line) -> tuple[Cell, Cell]:
    """The picture on which a method is worst, and what it proved."""
    lowest, certified, gap = line.lowest(), line.certified(), line.most("worst_gap")
    worst = Cell(f"{lowest[1]:.2f} {lowest[0]}", lowest[1]) if lowest else Cell("")
    proven = f"{certified[0]} of {certified[1]}, gap ≤ {gap:.1e}" if certified and gap is not None else ""
    return worst, Cell(proven)


def _rank(line: Line) -> float:
    """Lines with a mean come first, the best of them at the top."""
    mean = line.mean("cpsnr")
    return -mean if mean is not None else float("inf")
