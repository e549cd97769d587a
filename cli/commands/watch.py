"""The command ``demosaic-ntc watch``: pictures appear as raws do."""

from typing import Annotated, Any

import typer

from ..arguments import batch_options as b
from ..arguments.sharing import add_options
from ..failures import exit_on_error
from .convert import convert

_WATCHING = "Watching"

Folder = Annotated[str, typer.Argument(metavar="DIR", help="The folder in which raws appear.")]
Existing = Annotated[
    bool, typer.Option("--existing", help="Convert what is there already.", rich_help_panel=_WATCHING)
]
Settle = Annotated[
    float,
    typer.Option(
        min=0.1,
        metavar="S",
        help="Convert a file when it has not changed for S seconds.",
        rich_help_panel=_WATCHING,
    ),
]
Poll = Annotated[
    bool,
    typer.Option(
        "--poll", help="Check periodically: network folders send no notifications.", rich_help_panel=_WATCHING
    ),
]


@add_options(b.OfMany, convert, without=("raw", "target", "error_map", "json"))
def watch(
    folder: Folder,
    output: b.OutputFolder,
    existing: Existing = False,
    settle: Settle = 2.0,
    poll: Poll = False,
    **chosen: Any,
) -> None:
    """Convert raws as they appear in a folder, until Ctrl-C; for tethered shooting.

    A file is taken once it has stopped growing; one that grows again is tried again.
    """
    fixed = {"inpainting": False, "scheduler": None, "overwrite_ours": False, "resume": True}
    options = {**chosen, **locals(), **fixed}  # every option by its name
    with exit_on_error(debug=chosen["debug"], quiet=chosen["quiet"]):
        from ..actions.batch import watch_folder

        watch_folder(options)
