"""The commands ``benchmark speed`` and ``convert``: what the engine and whole conversions cost."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from . import options as o
from . import parts
from .running import check_targets, chosen_sets, measure_and_show, prepared, usage


def speed(
    folders: o.Folders, qualities: o.Qualities = "fast,normal", images: o.Images = None, json: o.Json = None
) -> None:
    """Print what the stages of the engine cost on pictures: CPU seconds per megapixel on one thread.

    With --json the next run does only what is missing.
    """
    prepared(1)
    with usage():
        part = parts.speed_part(chosen_sets(folders, images), qualities)
        check_targets(json)
    measure_and_show(part, json)


def convert(
    raws: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RAW|DIR]...", help="Raws.", show_default="those of the test data"),
    ] = None,
    sizes: o.Sizes = "6,24",
    programs: o.Programs = "ntc,libraw-ahd,rawtherapee,darktable",
    method: Annotated[str, typer.Option(help="ntc, or an interpolation such as bilinear.")] = "ntc",
    quality: Annotated[Literal["fast", "normal", "best"], typer.Option(help="Effort of ntc.")] = "normal",
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads.", show_default="all processors")
    ] = None,
    json: o.Json = None,
) -> None:
    """Convert raws, real and synthetic: CPU seconds by stage, time and peak memory, beside other programs."""
    prepared(threads or 1)
    with usage():
        part = parts.convert_part(raws, sizes, programs, method=method, quality=quality, threads=threads)
        check_targets(json)
    measure_and_show(part, json)
