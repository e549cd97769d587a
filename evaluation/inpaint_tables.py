"""What the inpainting benchmark found, as tables and sentences."""

from collections.abc import Iterator, Sequence

from .data_table import Cell, DataTable, figure
from .demosaic_summary import Gain, SetSummary
from .inpaint_summary import MaskSummary

# Title, quantity, format.
_TABLES = (
    ("PSNR in dB over the whole picture", "cpsnr", ".2f"),
    ("PSNR in dB over the missing pixels", "psnr_missing", ".2f"),
    ("SSIM", "ssim", ".4f"),
    ("CPU seconds per megapixel", "cpu_s_per_mp", ".3g"),
)
_COLUMNS = (
    ("PSNR", "cpsnr", ".2f"),
    ("missing", "psnr_missing", ".2f"),
    ("SSIM", "ssim", ".4f"),
    ("s/MP", "s_per_mp", ".3g"),
    ("CPU s/MP", "cpu_s_per_mp", ".3g"),
    ("MiB", "mib", ".0f"),
)


def mean_tables(summaries: Sequence[MaskSummary], conditions: str = "") -> Iterator[DataTable]:
    """The means over the whole set, a mask per row and a method per column; none where there are no means."""
    methods = _methods(summaries)
    for title, quantity, form in _TABLES:
        rows = tuple(
            (_named(summary), *(figure(_mean(summary.results, method, quantity), form) for method in methods))
            for summary in summaries
        )
        if any(cell.text for row in rows for cell in row[1:]):
            name = summaries[0].results.set.name
            yield DataTable(f"{name}: {title}", conditions, ("mask", *methods), rows)


def gain_table(summaries: Sequence[MaskSummary]) -> DataTable | None:
    """By how much ours is above biharmonic and above the group mean, with the worst picture of each mask."""
    rows = tuple(
        (_named(summary), *_gained(summary.over_baseline), *_gained(summary.over_control))
        for summary in summaries
        if summary.over_baseline or summary.over_control
    )
    if not rows:
        return None
    columns = (  # each name once, or a file would lose some
        *("mask", "over biharmonic", "least over biharmonic", "on (biharmonic)"),
        *("over group mean", "least over group mean", "on (group mean)"),
    )
    return DataTable(f"{summaries[0].results.set.name}: gains of ntc in dB", "", columns, rows)


def detail_table(summary: MaskSummary) -> DataTable:
    """All quantities of each method on each picture under one mask."""
    columns = ("picture", "method", *(title for title, _, _ in _COLUMNS), "groups certified")
    rows = []
    for picture in summary.results.set.pictures:
        for line in summary.results.lines:
            figures = line.figures.get(picture.name, {})
            cells = (figure(figures.get(quantity), form) for _, quantity, form in _COLUMNS)
            proven = f"{figures['certified']:.0f} of {figures['groups']:.0f}" if "groups" in figures else ""
            rows.append((Cell(picture.name), Cell(line.method), *cells, Cell(proven)))
    title = f"{summary.results.set.name}, {summary.mask}: by picture"
    return DataTable(title, "all quantities", columns, tuple(rows))


def gaps_in(summaries: Sequence[MaskSummary]) -> Iterator[str]:
    """Which masks have methods without a mean."""
    for summary in summaries:
        methods = [line.method for line in summary.results.lines if line.missing]
        if methods:
            yield f"{summary.mask}: no mean, since pictures are missing, for {', '.join(methods)}"


def _methods(summaries: Sequence[MaskSummary]) -> tuple[str, ...]:
    """The methods that were measured under any mask."""
    lines = (line for summary in summaries for line in summary.results.lines)
    return tuple(dict.fromkeys(line.method for line in lines))


def _named(summary: MaskSummary) -> Cell:
    """A mask and how much it takes."""
    return Cell(summary.mask if summary.share is None else f"{summary.mask} ({summary.share:.1%})")


def _mean(results: SetSummary, method: str, quantity: str) -> float | None:
    """The mean of a quantity over the whole set."""
    line = results.line(method)
    return None if line is None else line.mean(quantity)


def _gained(gain: Gain | None) -> tuple[Cell, Cell, Cell]:
    """A gain on the mean, the least one, and where."""
    if gain is None:
        return Cell(""), Cell(""), Cell("")
    image, lowest = gain.lowest
    return figure(gain.mean, "+.2f"), figure(lowest, "+.2f"), Cell(image)
