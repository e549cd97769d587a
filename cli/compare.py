"""The command ``demosaic-ntc compare``: one's own raws in several versions, side by side."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options as o
from .benchmarking import progress_bar, split_names, usage
from .measuring import evaluation

if TYPE_CHECKING:
    from evaluation.compare_page import Choice
    from evaluation.crops import CropBox

_PARTS = "Parts"


def compare(
    sources: Annotated[list[Path], typer.Argument(metavar="IN...", help="Raw files.")],
    folder: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where index.html is written.")
    ],
    methods: Annotated[
        str | None,
        typer.Option(help="Methods to compare, as in the benchmark.", show_default="ours and LibRaw's"),
    ] = None,
    box: Annotated[
        list[str] | None,
        typer.Option(
            "--crop-box",
            parser=o.parse_box,
            metavar="LEFT,TOP,WIDTH,HEIGHT",
            help="Show this part of the upright picture; may be given several times.",
            rich_help_panel=_PARTS,
        ),
    ] = None,
    crops: Annotated[
        int, typer.Option(min=1, help="How many of the most detailed parts.", rich_help_panel=_PARTS)
    ] = 3,
    crop_size: Annotated[
        int, typer.Option(min=32, help="Pixels of a side of these parts.", rich_help_panel=_PARTS)
    ] = 256,
    full: Annotated[
        bool,
        typer.Option("--full", help="Whole pictures, in files beside the page.", rich_help_panel=_PARTS),
    ] = False,
    wb: o.WhiteBalance = "camera",
    exposure: o.Brightness = "0",
    threads: o.Threads = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a page that is there.")] = False,
) -> None:
    """Show raws in several versions on one page, to see the difference on one's own pictures.

    The page works without a network, in any browser. It holds the most detailed parts of each picture in our
    qualities and by LibRaw's algorithms, all of the same samples and with the same colours.
    """
    chosen = locals()  # every option by its name
    with usage():
        choice = _choice(chosen)
    _check_folder(folder, overwrite=overwrite)
    with progress_bar(_versions(choice, len(sources))) as advance:
        page = evaluation("compare_page").write_comparison(
            sources, folder, choice, lambda done: advance(done, 1)
        )
    typer.echo(str(page))


def _choice(options: Mapping[str, Any]) -> "Choice":
    """What is compared, of what, and how it looks; what makes no sense is wrong usage."""
    from demosaic_ntc.files.settings import Development

    box: type[CropBox] = evaluation("crops").CropBox
    boxes = tuple(box(*numbers) for numbers in options["box"] or ())
    parts = evaluation("comparison").Parts(boxes, options["crops"], options["crop_size"])
    choice: Choice = evaluation("compare_page").Choice(
        methods=tuple(split_names(options["methods"] or "")),
        parts=None if options["full"] else parts,
        development=Development(balance=options["wb"], exposure=options["exposure"]),
        threads=options["threads"] or os.cpu_count() or 1,
    )
    return choice


def _versions(choice: "Choice", sources: int) -> int:
    """How many versions there will be, about: X-Trans has fewer methods, small pictures fewer parts."""
    methods = choice.methods or evaluation("comparison").BAYER_METHODS
    parts = 1 if choice.parts is None else len(choice.parts.boxes) or choice.parts.count
    return sources * parts * len(methods)


def _check_folder(folder: Path, *, overwrite: bool) -> None:
    """Refuse before the work a page that could not be written after it."""
    from demosaic_ntc.errors import Exists
    from demosaic_ntc.files.atomic import check_target

    page = folder / evaluation("compare_page").PAGE
    if page.exists() and not overwrite:
        raise Exists(f"{page}: exists already; use --overwrite to replace it")
    folder.mkdir(parents=True, exist_ok=True)
    check_target(page)
