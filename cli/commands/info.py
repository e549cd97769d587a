"""The command ``demosaic-ntc info``: what a file holds and what converting it would take."""

from pathlib import Path
from typing import Annotated, Any

import typer

from demosaic_ntc.developing.settings import Settings

from ..arguments import options as o
from ..arguments.recipe_options import options_of
from ..arguments.sharing import add_options
from ..failures import exit_on_error


@add_options(
    options_of(
        Settings, "cfa", "width", "height", "raw_bits", "noise", "max_pixels", "isolate", raw_bits="--bits"
    )
)
def info(
    sources: Annotated[list[Path], typer.Argument(metavar="IN...", help="Raw files or mosaics.")],
    json: Annotated[bool, typer.Option("--json", help="Print a JSON list, one object per file.")] = False,
    debug: o.Debug = False,
    **chosen: Any,
) -> None:
    """Show camera, size, CFA, levels, white balance, matrix, noise, and the cost of a conversion."""
    with exit_on_error(debug=debug):
        from demosaic_ntc.io.isolation.decoder import start_decoder

        start_decoder(sources[0], isolate=chosen["isolate"])
        from ..actions.info import inform

        inform(sources, chosen, as_json=json)
