"""The command ``demosaic-ntc merge``: several raws of one scene become one picture."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from demosaic_ntc.developing.settings import Merging, Settings

from ..arguments import options as o
from ..arguments.batch_options import Recursive
from ..arguments.recipe_options import options_of
from ..arguments.sharing import add_options
from ..failures import exit_on_error

_FILES = "Files"

Paths = Annotated[
    list[Path],
    typer.Argument(
        metavar="IN IN... OUT",
        help="Raws of one scene and the picture to write: .png .tif .jpg .webp .avif .jxl, or .dng for other "
        "converters; with --folders, folders of such raws.",
    ),
]
Folders = Annotated[
    bool,
    typer.Option(
        "--folders",
        help="Make a picture of each folder of raws, or with --gap of each burst in them.",
        rich_help_panel=_FILES,
    ),
]
OutputFolder = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="Where the pictures of --folders go.",
        show_default="`merged` in the first folder",
        rich_help_panel=_FILES,
    ),
]
Gap = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="SECONDS",
        help="Raws of a folder belong together if they were taken at most so far apart.",
        rich_help_panel=_FILES,
    ),
]
Format = Annotated[
    Literal["png", "tif", "jpg", "webp", "avif", "jxl", "dng", "fits"],
    typer.Option(help="Format of the pictures of --folders.", rich_help_panel=_FILES),
]


@dataclass(frozen=True)
class OfFolders:
    """Options of bursts that are looked for in folders."""

    folders: Folders = False
    recursive: Recursive = False
    output: OutputFolder = None
    gap: Gap = None
    format: Format = "png"


@add_options(OfFolders, options_of(Merging), options_of(Settings), o.OfRunning, o.OfConversion)
def merge(paths: Paths, **chosen: Any) -> None:
    """Merge several raws of one scene into one picture: less noise, more detail, no ghosts.

    Frames are aligned to a reference, whose place, colours and look the picture has, and used where they
    agree with it; frames that show something else are left out by name. Takes all options of `convert`.
    """
    with exit_on_error(debug=chosen["debug"], quiet=chosen["quiet"]):
        from ..actions.merge import Places, merge_folders, merge_one, read_paths

        places = Places(*(chosen[name] for name in ("recursive", "output", "gap", "format")))
        if chosen["folders"]:
            merge_folders(paths, places, chosen)
        else:
            merge_one(*read_paths(paths, places), chosen)
