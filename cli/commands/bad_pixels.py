"""The command ``demosaic-ntc bad-pixels``: a list of hot pixels from dark frames."""

from pathlib import Path
from typing import Annotated, Any

import typer

from demosaic_ntc.developing.settings import Settings

from ..arguments import options as o
from ..arguments.recipe_options import options_of
from ..arguments.sharing import add_options
from ..failures import exit_on_error


@add_options(options_of(Settings, "max_pixels", "isolate", "overwrite"))
def bad_pixels(
    sources: Annotated[
        list[Path], typer.Argument(metavar="DARKFRAME...", help="Raws taken with the lens covered.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="LIST", help="The text file to write.")],
    quiet: o.Quiet = False,
    debug: o.Debug = False,
    **chosen: Any,
) -> None:
    """List the hot pixels of a camera, from photos taken in the dark, for --bad-pixels LIST.

    A pixel is listed if it stands out in more than half of the frames. Longer exposures show more of them;
    two or three frames with the exposure time and temperature of your pictures are enough.
    """
    with exit_on_error(debug=debug, quiet=quiet):
        import numpy as np

        from demosaic_ntc.errors import Clash
        from demosaic_ntc.io.atomic import check_distinct, check_new, check_target
        from demosaic_ntc.io.header import InputLimits
        from demosaic_ntc.raw.bad_pixels import hot_pixels, write_bad_pixels
        from demosaic_ntc.raw.reading import read_photo
        from demosaic_ntc.recipe import build

        from ..failures import wrong_usage

        overwrite = chosen["overwrite"]
        with wrong_usage(Clash):
            check_distinct(sources, (output,))
        check_new(output, overwrite=overwrite)
        check_target(output)
        limits = build(InputLimits, chosen)
        found = hot_pixels((path, read_photo(path, limits=limits)) for path in sources)
        write_bad_pixels(output, found, overwrite=overwrite)
        if not quiet:
            frames = f"{len(sources)} dark frame{'s' if len(sources) > 1 else ''}"
            typer.echo(f"{output}: {np.count_nonzero(found)} bad pixels of {found.size} in {frames}")
