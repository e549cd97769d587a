"""The command ``benchmark raws``: how well the raws below folders are converted, on a page."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options as o
from .running import check_targets, limit_threads, measure_and_show, usage

if TYPE_CHECKING:
    from ..measure.results import Results
    from ..measure.store import Store

_SOME_FAILED = 1  # the exit code of a run of which some files failed

_Folders = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[RAW|DIR]...",
        help="Raws, and folders with all folders in them.",
        show_default="those of the test data",
    ),
]
_Output = Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder of the page.")]
_Threads = Annotated[int | None, typer.Option(min=1, help="Threads.", show_default="all processors")]
_Timeout = Annotated[float, typer.Option(min=0.1, metavar="S", help="Give up on a raw after S seconds.")]
_Memory = Annotated[
    float | None, typer.Option(min=0.01, metavar="GB", help="Give up on a raw that needs more memory.")
]


def raws(
    folders: _Folders = None,
    output: _Output = Path("raws"),
    quality: o.Quality = "normal",
    threads: _Threads = None,
    timeout: _Timeout = 1800.0,
    memory: _Memory = None,
    json: o.Json = None,
    csv: o.Csv = None,
) -> None:
    """Convert every raw below folders and write a page: ours beside the camera's own picture.

    Each raw is converted with default settings in a process of its own. The page shows brightness, clipped
    pixels, time, memory and notices, and failures by kind: refused for a stated reason, crashed, timed out.
    The exit code is 1 if anything but a refusal kept a raw from being converted.
    """
    from demosaic_ntc.machine import processors

    limit_threads(threads or processors())
    from demosaic_ntc.batch.discovery import make_output
    from demosaic_ntc.developing.settings import Engine

    from ..measure.raws import RawsBenchmark, has_faults
    from ..report.raw_page import write_raw_page

    with usage():
        engine = Engine(quality=quality, threads=threads)
        part = RawsBenchmark.of((), folders, output, engine, timeout, memory)
    make_output(output)
    check_targets(json, csv)
    faults = list[bool]()

    def keep(results: "Results", store: "Store", failed: bool) -> None:
        faults.append(has_faults(results))
        typer.echo(str(write_raw_page(results, output)), err=True)

    measure_and_show(part, json, csv, details=False, more=(), keep=keep)
    if any(faults):
        raise typer.Exit(_SOME_FAILED)
