"""Raws in several versions on a page, as the command ``compare`` asks for it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from demosaic_ntc.files.settings import Development

    from ..data.crops import Box
    from ..report.compare_page import Choice


def check_choice(
    methods: Sequence[str],
    boxes: Sequence["Box"],
    crops: int,
    side: int,
    development: "Development",
    *,
    full: bool,
    threads: int,
) -> "Choice":
    """What is compared, of what, and how it looks; what makes no sense is refused."""
    from ..data.crops import CropBox
    from ..report.compare_page import Choice
    from ..report.comparison import Parts

    parts = None if full else Parts(tuple(CropBox(*box) for box in boxes), crops, side)
    return Choice(tuple(methods), parts, development, threads)


def write_comparison(
    sources: Sequence[Path], folder: Path, choice: "Choice", progress: Callable[[str], None]
) -> Path:
    """Make the page for some raws; returns where it is."""
    from ..report import compare_page

    return compare_page.write_comparison(sources, folder, choice, progress)
