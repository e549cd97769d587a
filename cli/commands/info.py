"""The command ``demosaic-ntc info``: what a file holds and what converting it would take."""

from pathlib import Path
from typing import Annotated

import typer

from ..arguments import options as o
from ..failures import exit_on_error


def info(
    sources: Annotated[list[Path], typer.Argument(metavar="IN...", help="Raw files or mosaics.")],
    cfa: o.Array = None,
    width: o.Width = None,
    height: o.Height = None,
    raw_bits: o.SampleBits = None,
    noise: o.Noise = None,
    max_pixels: o.MaxPixels = 150_000_000,
    json: Annotated[bool, typer.Option("--json", help="Print a JSON list, one object per file.")] = False,
    debug: o.Debug = False,
) -> None:
    """Show camera, size, colours, levels, white balance, matrix, noise, and what a conversion would take."""
    chosen = locals()  # every option by its name
    with exit_on_error(debug=debug):
        from ..actions.info import inform

        inform(sources, chosen, as_json=json)
