"""The command ``demosaic-ntc studio``: a page in the browser to paint over damage and see it repaired."""

from pathlib import Path
from typing import Annotated

import typer

from ..arguments import options as o
from ..failures import exit_on_error

Sources = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[PICTURE|FOLDER]…", help="Pictures and raws, or folders of them."),
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port.", show_default="a free one")]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Show the address only.")]


def studio(
    sources: Sources = None,
    port: Port = 0,
    no_browser: NoBrowser = False,
    max_pixels: o.MaxPixels = 150_000_000,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Paint over damage in the browser and see it repaired; develop raws by sliders.

    The page is served from this machine to this machine alone, until Ctrl-C. Nothing is written but what is
    saved there, beside the original, and never over it unless told.
    """
    with exit_on_error(debug=debug, quiet=quiet):
        from ..actions.studio import serve_studio

        serve_studio(sources or [], port, max_pixels, browser=not no_browser, quiet=quiet)
