"""What studies of one method found, as tables: defects, widths of holes, looks, blemishes, the studio."""

from collections.abc import Iterable, Sequence

import numpy as np

from ..data.blemishes import KINDS as BLEMISHES
from ..studies.blemishes import DEVIATIONS as CLEARLY
from ..studies.blemishes import Search
from ..studies.defects import DEVIATIONS, KINDS, SceneResult, SetResult
from ..studies.looks import Brightness
from ..studies.studio import Measured as StudioMeasured
from ..studies.widths import DEPTHS, WidthResult
from .tables import Cell, DataTable, figure

_LOOKS = (
    "Median luma of 255, sRGB, of the picture as measured (neutral), by our two looks, in the picture the "
    "camera stored, and by RawTherapee's defaults; in brackets the difference to the camera's. Last: pixels "
    "with a channel that the automatic look clips and the neutral one does not."
)


def scene_table(results: Iterable[SceneResult]) -> DataTable:
    """What was found in scenes."""
    rows = tuple(
        (
            Cell(each.name),
            *(figure(100 * share, ".1f") for share in (*each.recall, each.overall, each.by_noise)),
            figure(each.false_per_megapixel, ".1f"),
        )
        for each in results
    )
    caption = (
        f"percent found of those that deviate by more than {DEVIATIONS:g} σ, σ of noise and scene around; in "
        "the column before the last of the noise alone"
    )
    columns = ("scene", *KINDS, "all", "all, σ of noise", "false per MP")
    return DataTable("hot, dead and stuck pixels found", columns, rows, (caption,))


def clean_table(results: Iterable[SetResult]) -> DataTable:
    """What was taken for defects in clean pictures."""
    rows = tuple(
        (
            Cell(each.name),
            figure(each.pictures, "d"),
            figure(each.false_per_megapixel, ".2f"),
            figure(each.cpu_seconds_per_megapixel, ".3f"),
        )
        for each in results
    )
    columns = ("set", "pictures", "false per MP", "CPU s/MP")
    return DataTable("false alarms in clean mosaics", columns, rows)


def width_table(results: Iterable[WidthResult]) -> DataTable:
    """What is left of the scene, by the width of holes and the depth inside them."""
    rows = tuple(
        (
            Cell(f"{each.width}", each.width),
            figure(each.rms, ".1f"),
            *(figure(share, ".2f") for share in (each.left, *each.by_depth)),
        )
        for each in results
    )
    columns = ("width", "rms", "left", *(f"depth ≤ {depth}" for depth in DEPTHS))
    caption = "squared error over that of the mean around a hole, in all of it and by the depth in pixels"
    return DataTable("holes by their width", columns, rows, (caption,))


def look_table(found: Iterable[Brightness]) -> DataTable:
    """The lumas, a row per raw."""
    columns = ("raw", "neutral", "auto", "camera look", "camera's own", "RawTherapee", "newly clipped")
    rows = tuple(
        (
            Cell(each.name),
            figure(each.neutral, ".0f"),
            _beside(each.ours.get("auto"), each.camera),
            _beside(each.ours.get("camera"), each.camera),
            figure(each.camera, ".0f"),
            figure(each.other, ".0f"),
            Cell(f"{each.newly_clipped:.2%}", each.newly_clipped),
        )
        for each in found
    )
    return DataTable("Looks of raws", columns, rows, (_LOOKS,))


def _beside(value: float | None, other: float | None) -> Cell:
    """A luma, and how far it is from another."""
    if value is None or not other:
        return figure(value, ".0f")
    return Cell(f"{value:.0f} ({value / other - 1:+.0%})", value)


def blemish_table(results: Iterable[tuple[str, Sequence[Search]]]) -> DataTable:
    """What was found in sets of pictures."""
    columns = ("pictures", *BLEMISHES, "all spots", "covered", "precise", "false per MP", "clean", "CPU s/MP")
    caption = (
        f"percent found of blemishes that change luma by more than {CLEARLY:g} deviations of luma around, "
        "percent of their pixels covered; percent of marks that touch one, other marks per megapixel, and "
        "marks per megapixel of clean pictures"
    )
    rows = tuple((Cell(name), *_blemish_figures(searches)) for name, searches in results)
    return DataTable("dust, hairs and scratches found", columns, rows, (caption,))


def _blemish_figures(searches: Sequence[Search]) -> tuple[Cell, ...]:
    """The figures of a row."""
    pairs = [pair for each in searches for pair in zip(each.counted, each.found, strict=True)]
    megapixels = sum(each.megapixels for each in searches)
    marked, false = sum(each.marked for each in searches), sum(each.false for each in searches)
    covered = [share for each in searches for share in each.covered]
    return (
        *(_percent([found for kind, found in pairs if kind == name]) for name in BLEMISHES),
        _percent([found for kind, found in pairs if kind.endswith("spots")]),
        _percent(covered),
        figure(100 * (1 - false / max(marked, 1)), ".1f"),
        figure(false / megapixels, ".2f"),
        figure(sum(each.false_clean for each in searches) / megapixels, ".2f"),
        figure(sum(each.cpu_seconds for each in searches) / megapixels, ".2f"),
    )


def _percent(shares: Sequence[float]) -> Cell:
    """The mean of shares, or a dash where there are none."""
    return figure(100 * float(np.mean(shares)), ".1f") if shares else Cell("–")


def studio_table(measured: StudioMeasured) -> DataTable:
    """What a picture took in the studio: its steps, and the page's memory."""
    steps = tuple(
        (Cell(step.name), figure(step.seconds, ".1f"), figure(step.cpu_seconds, ".1f"))
        for step in measured.steps
    )
    memory = (Cell("page, MB"), figure(measured.page_bytes / 1e6, ".0f"), Cell(""))
    title = f"{measured.megapixels:.0f} megapixels, 16 bits, {measured.marked:.2%} marked"
    caption = "seconds of a clock and of the workers' processors"
    return DataTable(title, ("step", "s", "CPU s"), (*steps, memory), (caption,))
