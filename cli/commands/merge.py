"""The command ``demosaic-ntc merge``: several raws of one scene become one picture."""

from pathlib import Path
from typing import Annotated, Any

import typer

from demosaic_ntc.developing.settings import Merging, Settings

from ..arguments import batch_options as b
from ..arguments import options as o
from ..arguments.recipe_options import options_of
from ..arguments.sharing import add_options
from ..failures import exit_on_error

Paths = Annotated[
    list[Path],
    typer.Argument(
        metavar="IN IN... OUT",
        help="Raws of one scene and the picture to write: .png .tif .jpg .webp .avif .jxl, or .dng for other "
        "converters; with --folders, folders of such raws.",
    ),
]


@add_options(b.OfFolders, options_of(Merging), options_of(Settings), o.OfRunning, o.OfConversion)
def merge(paths: Paths, **chosen: Any) -> None:
    """Merge several raws of one scene into one picture: less noise, more detail, no ghosts.

    One frame is the reference and sets position, colours and look. The others are aligned to it and used
    where they agree with it; frames that show something else are left out and named. Takes all options of
    `convert`.
    """
    with exit_on_error(debug=chosen["debug"], quiet=chosen["quiet"]):
        from ..actions.merge import Places, merge_folders, merge_one, read_paths

        places = Places(*(chosen[name] for name in ("recursive", "output", "gap", "format")))
        if chosen["folders"]:
            merge_folders(paths, places, chosen)
        else:
            merge_one(*read_paths(paths, places), chosen)
