"""The command ``demosaic-ntc studio``: a page in the browser to paint over damage and see it repaired."""

from pathlib import Path
from typing import Annotated, Any

import typer

from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.recipe import build

from ..arguments import options as o
from ..arguments.recipe_options import options_of
from ..arguments.sharing import add_options
from ..failures import exit_on_error


@add_options(options_of(InputLimits))
def studio(
    sources: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PICTURE|FOLDER]…", help="Pictures and raws, or folders of them."),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on.", show_default="a free one")
    ] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Show the address only.")] = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
    **chosen: Any,
) -> None:
    """Paint over damage in the browser and see it repaired; develop raws with sliders.

    The page is reachable only from this machine and is served until Ctrl-C. Files are written only when you
    save, next to the original, which is never replaced unless you choose so.
    """
    with exit_on_error(debug=debug, quiet=quiet):
        from ..actions.studio import serve_studio

        serve_studio(sources or [], port, build(InputLimits, chosen), browser=not no_browser, quiet=quiet)
