"""The command ``demosaic-ntc inpaint``: damaged parts of a picture restored."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from ..arguments import options as o
from ..failures import exit_on_error

_MASK = "Mask"

Paths = Annotated[
    list[Path],
    typer.Argument(
        metavar="IN [MASK] OUT",
        help="The picture, the mask (white, or painted on a transparent layer = repair; none with "
        "--mask-color or --detect) and the picture to write: PNG, TIFF or JPEG; masks may be BMP, WebP and "
        "GIF, too.",
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
MaskFrom = Annotated[
    Literal["alpha"] | None,
    typer.Option(
        "--mask-from",
        help="Repair what is transparent: in MASK, or without one in the picture itself.",
        rich_help_panel=_MASK,
    ),
]
Detect = Annotated[
    str | None,
    typer.Option(
        metavar="KINDS",
        help="Look for dust, scratches (hairs, too) or 'dust,scratches', and repair what is found, besides "
        "what a mask marks.",
        rich_help_panel=_MASK,
    ),
]
Sensitivity = Annotated[
    float,
    typer.Option(
        metavar="0..1",
        help="How readily what stands out is taken for a blemish with --detect.",
        rich_help_panel=_MASK,
    ),
]
SaveMask = Annotated[
    Path | None,
    typer.Option(metavar="MASK.png", help="Also write the mask that was used.", rich_help_panel=_MASK),
]
Method = Annotated[str, typer.Option(help="gaussian, ntc or biharmonic.", rich_help_panel="Engine")]


def inpaint(
    paths: Paths,
    invert: Invert = False,
    threshold: Threshold = None,
    mask_color: MaskColour = None,
    mask_from: MaskFrom = None,
    detect: Detect = None,
    sensitivity: Sensitivity = 0.5,
    save_mask: SaveMask = None,
    max_pixels: o.MaxPixels = 150_000_000,
    error_map: o.ErrorMap = None,
    method: Method = "gaussian",
    quality: o.Quality = "normal",
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
    with exit_on_error(debug=debug, quiet=quiet):
        from ..actions.inpaint import files_from, repair_one, settings_from
        from ..output.results import Verbosity

        settings, telling = settings_from(chosen), Verbosity(quiet=quiet, verbose=verbose, json=json)
        repair_one(files_from(paths, settings, error_map, save_mask), settings, telling)
