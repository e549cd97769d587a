"""The command ``demosaic-ntc watch``: pictures appear as raws do."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import typer

from ..arguments import batch_options as b
from ..arguments.sharing import add_options
from ..failures import exit_on_error
from .convert import convert

_in_watching = partial(typer.Option, rich_help_panel="Watching")


@dataclass(frozen=True)
class OfWatching:
    """Options of a watch alone."""

    format: Annotated[b.Suffix, typer.Option(help="Format of the results.", rich_help_panel="Files")] = "png"
    existing: Annotated[bool, _in_watching("--existing", help="Convert what is there already.")] = False
    settle: Annotated[
        float,
        _in_watching(min=0.1, metavar="S", help="Convert a file when it has not changed for S seconds."),
    ] = 2.0
    poll: Annotated[
        bool, _in_watching("--poll", help="Check periodically: network folders send no notifications.")
    ] = False


@add_options(OfWatching, b.OfMany, convert, without=("raw", "target", "error_map", "json"))
def watch(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="The folder in which raws appear.")],
    output: b.OutputFolder,
    **chosen: Any,
) -> None:
    """Convert raws as they appear in a folder, until Ctrl-C; for tethered shooting.

    A file is taken once it has stopped growing; one that grows again is tried again.
    """
    fixed = {"inpainting": False, "scheduler": None, "overwrite_ours": False, "resume": True}
    options = {**chosen, "folder": folder, "output": output, **fixed}  # every option by its name
    with exit_on_error(debug=chosen["debug"], quiet=chosen["quiet"]):
        from ..actions.batch import watch_folder

        watch_folder(options)
