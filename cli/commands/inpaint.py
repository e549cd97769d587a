"""The command ``demosaic-ntc inpaint``: damaged parts of a picture restored."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from demosaic_ntc.developing.repair_settings import RepairSettings

from ..arguments import options as o
from ..arguments.recipe_options import options_of
from ..arguments.sharing import add_options
from ..failures import exit_on_error

Paths = Annotated[
    list[Path],
    typer.Argument(
        metavar="IN [MASK] OUT",
        help="The damaged picture, the mask (white, or painted on a transparent layer = repair; not needed "
        "with --mask-color, --mask-from or --detect) and the picture to write: PNG, TIFF or JPEG; masks may "
        "also be BMP, WebP or GIF.",
    ),
]


@dataclass(frozen=True)
class OfRepair:
    """Options of a repair that are no settings."""

    save_mask: Annotated[
        Path | None,
        typer.Option(metavar="MASK.png", help="Also write the mask that was used.", rich_help_panel="Mask"),
    ] = None
    error_map: o.ErrorMap = None
    source_map: Annotated[
        Path | None,
        typer.Option(
            metavar="MAP.tif",
            help="Also write the row and column that each copied pixel came from, as a TIFF; -1 for all "
            "others.",
            rich_help_panel="Output",
        ),
    ] = None


@add_options(options_of(RepairSettings), OfRepair, o.OfRunning)
def inpaint(paths: Paths, **chosen: Any) -> None:
    """Restore the damaged parts of a picture.

    Known pixels (except in JPEGs, which are re-encoded), bit depth, transparency, metadata and profile stay
    the same. The mask applies to the picture as displayed: if EXIF rotates the picture, it rotates the mask.
    """
    with exit_on_error(debug=chosen["debug"], quiet=chosen["quiet"]):
        from demosaic_ntc.io.isolation.decoder import start_decoder

        start_decoder(isolate=chosen["isolate"])
        from ..actions.inpaint import files_from, repair_one, settings_from
        from ..output.results import Verbosity

        settings = settings_from(chosen)
        telling = Verbosity(**{name: chosen[name] for name in ("quiet", "verbose", "json")})
        beside = {name: chosen[name] for name in ("error_map", "save_mask", "source_map")}
        files = files_from(paths, settings, **beside)
        repair_one(files, settings, telling)
