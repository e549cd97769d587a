"""The options of commands that are no settings: what is read and written, and what a run says."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from demosaic_ntc.developing.setting_values import parse_patch
from demosaic_ntc.errors import InputError

from ..failures import wrong_usage

_OUTPUT, _RUNNING = "Output", "Running"


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
        rich_help_panel=_OUTPUT,
    ),
]
WhiteBalanceFrom = Annotated[
    str | None,
    typer.Option(
        "--wb-from",
        parser=_parse_patch,
        metavar="X,Y[,R]",
        help="White balance picked at pixel X,Y of the picture, which becomes grey (radius R, default 8).",
        rich_help_panel="Raw development",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Errors only.", rich_help_panel=_RUNNING)]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say more.", rich_help_panel=_RUNNING)]
Json = Annotated[
    bool, typer.Option("--json", help="Print what was done as one JSON object.", rich_help_panel=_RUNNING)
]
Debug = Annotated[
    bool, typer.Option("--debug", help="Show the traceback of a failure.", rich_help_panel=_RUNNING)
]


@dataclass(frozen=True)
class OfRunning:
    """Options of how a command runs, and what it says."""

    quiet: Quiet = False
    verbose: Verbose = False
    json: Json = False
    debug: Debug = False


@dataclass(frozen=True)
class OfConversion:
    """Options of a conversion that are no settings."""

    wb_from: WhiteBalanceFrom = None
    error_map: ErrorMap = None
