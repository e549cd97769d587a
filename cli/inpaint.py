"""The command ``demosaic-ntc inpaint``: damaged parts of a picture restored."""

from pathlib import Path
from typing import Annotated

import typer

from . import options as o
from .failures import explained

_MASK = "Mask"

Paths = Annotated[
    list[Path],
    typer.Argument(
        metavar="IN [MASK] OUT",
        help="The picture, the mask (white = repair; none with --mask-color) and the picture to write: "
        "PNG, TIFF or JPEG each.",
    ),
]
Invert = Annotated[bool, typer.Option("--invert", help="Repair what is black.", rich_help_panel=_MASK)]
Threshold = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Take pixels of at least this share of white (0 to 1) for white; needed for masks with greys.",
        rich_help_panel=_MASK,
    ),
]
MaskColour = Annotated[
    str | None,
    typer.Option(
        "--mask-color",
        metavar="COLOUR",
        help="Repair what has exactly this colour, such as '#ff00ff', painted into the picture.",
        rich_help_panel=_MASK,
    ),
]
Method = Annotated[str, typer.Option(help="ntc, predict-only or biharmonic.", rich_help_panel="Engine")]


def inpaint(
    paths: Paths,
    invert: Invert = False,
    threshold: Threshold = None,
    mask_color: MaskColour = None,
    max_pixels: o.MaxPixels = 150_000_000,
    error_map: o.ErrorMap = None,
    method: Method = "ntc",
    quality: o.Quality = "normal",
    seed: o.Seed = 0,
    threads: o.Threads = None,
    time_limit: o.TimeLimit = None,
    overwrite: o.Overwrite = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Restore the damaged parts of a picture.

    All else stays as it is: known pixels (but JPEG codes them again), depth, transparency, metadata, profile.
    The mask belongs to the picture as it is seen: where EXIF turns the picture, it turns the mask as well.
    """
    chosen = locals()  # every option by its name
    with explained(debug=debug, quiet=quiet):
        from .inpainting import files_from, repair_one, settings_from
        from .telling import Telling

        files, settings = files_from(paths, mask_color, error_map), settings_from(chosen)
        repair_one(files, settings, Telling(quiet=quiet, verbose=verbose, json=json))
