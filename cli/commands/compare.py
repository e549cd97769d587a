"""The command ``demosaic-ntc compare``: one's own raws in several versions, side by side."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from demosaic_ntc.developing.settings import Development, Settings
from demosaic_ntc.recipe import build

from ..arguments.recipe_options import options_of
from ..arguments.sharing import add_options
from ..failures import print_lines
from ..measuring import Choice, parse_box, progress_bar, split_names, usage

PAGE = "index.html"
_in_parts = partial(typer.Option, rich_help_panel="Parts")


@dataclass(frozen=True)
class OfComparison:
    """Options of a comparison that are no settings."""

    methods: Annotated[
        str | None,
        typer.Option(help="Methods to compare, as in the benchmark.", show_default="ours and LibRaw's"),
    ] = None
    box: Annotated[
        list[str] | None,
        _in_parts(
            "--crop-box",
            parser=parse_box,
            metavar="LEFT,TOP,WIDTH,HEIGHT",
            help="Show this part of the upright picture; may be given several times.",
        ),
    ] = None
    crops: Annotated[int, _in_parts(min=1, help="How many of the most detailed parts.")] = 3
    crop_size: Annotated[int, _in_parts(min=32, help="Side of these parts, in pixels.")] = 256
    full: Annotated[bool, _in_parts("--full", help="Whole pictures, in files beside the page.")] = False
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a page that is there.")] = False


@add_options(OfComparison, options_of(Settings, "wb", "exposure", "threads"))
def compare(
    sources: Annotated[list[Path], typer.Argument(metavar="IN...", help="Raw files.")],
    folder: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where index.html is written.")
    ],
    **chosen: Any,
) -> None:
    """Compare demosaicing methods on your own raws, side by side on one page.

    The page works offline, in any browser. It shows the most detailed parts of each picture in our qualities
    and by LibRaw's algorithms, all from the same samples and with the same colours.
    """
    from demosaic_ntc.run import check_threads
    from demosaic_ntc.viewer.comparison import Parts
    from demosaic_ntc.viewer.crops import CropBox

    boxes = tuple(CropBox(*each) for each in chosen["box"] or [])
    parts = None if chosen["full"] else Parts(boxes, chosen["crops"], chosen["crop_size"])
    with usage():
        threads = check_threads(chosen["threads"])
        choice = Choice(split_names(chosen["methods"]), parts, build(Development, chosen), threads)
    _check_folder(folder, overwrite=chosen["overwrite"])
    with progress_bar(len(sources) * choice.versions) as advance:
        page = choice.write(sources, folder, advance)
    print_lines([str(page)])


def _check_folder(folder: Path, *, overwrite: bool) -> None:
    """Refuse before the work a page that could not be written after it."""
    from demosaic_ntc.io.atomic import check_new, check_target, refusals_explained

    page = folder / PAGE
    with refusals_explained(folder):
        check_new(page, overwrite=overwrite)
        folder.mkdir(parents=True, exist_ok=True)
    check_target(page)
