"""The options of commands that are no settings: what is read and written, and what a run says."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from demosaic_ntc.developing.setting_values import parse_patch
from demosaic_ntc.errors import InputError

from ..failures import wrong_usage

_in_running = partial(typer.Option, rich_help_panel="Running")


def _parse_patch(text: str) -> object:
    with wrong_usage(InputError):
        return parse_patch(text)


Source = Annotated[Path, typer.Argument(metavar="IN", help="A raw file, or a mosaic with --cfa.")]
Target = Annotated[
    Path | None,
    typer.Argument(
        metavar="OUT",
        help="The picture to write: .png .tif .jpg .webp .avif .jxl .fits, or .dng for other converters.",
        show_default="IN's name with .png",
    ),
]
ErrorMap = Annotated[
    Path | None,
    typer.Option(
        metavar="MAP.tif",
        help="Also write the standard deviation expected of each value, as a floating-point TIFF; if OUT is "
        "a FITS, it may be OUT itself. Errors of neighbouring pixels are correlated.",
        rich_help_panel="Output",
    ),
]
Quiet = Annotated[bool, _in_running("--quiet", "-q", help="Errors only.")]
Debug = Annotated[bool, _in_running("--debug", help="Show the traceback of a failure.")]


@dataclass(frozen=True)
class OfRunning:
    """Options of how a command runs, and what it says."""

    quiet: Quiet = False
    verbose: Annotated[bool, _in_running("--verbose", "-v", help="Say more.")] = False
    json: Annotated[bool, _in_running("--json", help="Print what was done as one JSON object.")] = False
    debug: Debug = False


@dataclass(frozen=True)
class OfConversion:
    """Options of a conversion that are no settings."""

    wb_from: Annotated[
        str | None,
        typer.Option(
            "--wb-from",
            parser=_parse_patch,
            metavar="X,Y[,R]",
            help="White balance picked at pixel X,Y of the picture, which becomes grey (radius R, "
            "default 8).",
            rich_help_panel="Raw development",
        ),
    ] = None
    error_map: ErrorMap = None
