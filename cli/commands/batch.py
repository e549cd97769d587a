"""The command ``demosaic-ntc batch``: many files, of which none can spoil another."""

from typing import Any

import typer

from ..arguments import batch_options as b
from ..arguments.sharing import add_options, refuse_options_of
from ..failures import exit_on_error
from .convert import convert
from .inpaint import inpaint

_PLACES = ("raw", "target", "paths", "error_map", "save_mask", "source_map", "json")


@add_options(b.OfMany, b.OfBatch, convert, inpaint, without=_PLACES)
def batch(
    ctx: typer.Context,
    sources: b.Sources,
    output: b.OutputFolder,
    inpainting: b.Inpainting = False,
    **chosen: Any,
) -> None:
    """Convert many raw files, with the options of `convert`, or repair many pictures (--inpaint).

    The folder structure is kept. A damaged file is reported and does not affect the others; finished files
    are kept, and --resume continues after an interruption.
    """
    options = {**chosen, "sources": sources, "output": output, "inpainting": inpainting}  # by their names
    with exit_on_error(debug=chosen["debug"], quiet=chosen["quiet"]):
        from ..actions.batch import batch_files

        if inpainting:
            refuse_options_of(convert, ctx, but=inpaint, why="--inpaint repairs finished pictures")
        else:
            refuse_options_of(inpaint, ctx, but=convert, why="it goes with --inpaint")
        batch_files(options)
