"""The commands ``benchmark all`` and ``benchmark report``: everything measured, on one page."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from demosaic_ntc.errors import InputError

from .. import split_names
from . import options as o
from .running import choose_sets, limit_threads, progress_bar, usage

if TYPE_CHECKING:
    from ..measure.benchmark import Benchmark

# What is taken away from pictures for errors of inpainting, beside the mosaics.
_ERROR_MASKS = "random:50"
_PARTS = "demosaic,xtrans,quad,tensors,noise,whole-noise,merge,inpaint,errors,speed,convert,paper"


def measure_all(
    folders: o.Folders,
    output: o.Report,
    wanted: Annotated[str, typer.Option("--parts", help="What is measured.")] = _PARTS,
    methods: o.Methods = None,
    cfa: o.Array = "RGGB",
    crop: o.Crop = 10,
    limit: o.Limit = None,
    sigma: o.Sigmas = "5,10,20",
    denoisers: o.Denoisers = None,
    repairs: o.Repairs = None,
    masks: o.Masks = None,
    images: o.RepairedImages = None,
    qualities: o.Qualities = "fast,normal",
    speed_images: o.SpeedImages = None,
    sizes: o.Sizes = "6,24",
    programs: o.Programs = "demosaic-ntc,libraw-ahd,rawtherapee,darktable",
    tables: Annotated[str, typer.Option(help="Tables of the paper.")] = "1,2,3,4,noisy",
    rows: Annotated[str, typer.Option(help="Only these rows of the tables.")] = "",
    reps: Annotated[int, typer.Option(min=1, help="Repetitions of each row.")] = 3,
    threads: o.Threads = 1,
    full: o.Full = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget the results of earlier runs.")] = False,
) -> None:
    """Measure everything and write a report: a page, tables, plots and results.json.

    Results are kept as they come: an interrupted run writes what is finished, and the next one does only what
    is missing.
    """
    limit_threads(threads)
    sets, alike = choose_sets(folders, limit=limit), {"crop": crop, "threads": threads}
    options: dict[str, dict[str, Any]] = {
        "demosaic": {"methods": methods, "cfa": cfa, **alike},
        "xtrans": alike,
        "quad": alike,
        "tensors": alike,
        "whole-noise": alike,
        "merge": {"threads": threads},
        "noise": {"methods": denoisers, "sigma": sigma, "usual": True, **alike},
        "inpaint": {"methods": repairs, "masks": masks, "usual": images or "", "threads": threads},
        "errors": {"cfa": cfa, "masks": _ERROR_MASKS, **alike},
        "speed": {"qualities": qualities, "images": speed_images},
        "convert": {"sizes": sizes, "programs": programs},
        "paper": {"tables": tables, "rows": rows, "seeds": range(reps)},
    }
    with usage():
        parts = _made(split_names(wanted), sets, options)
    _report(output, parts, whole=full, fresh=fresh)


def _made(names: Sequence[str], sets: Sequence[Any], options: dict[str, dict[str, Any]]) -> list["Benchmark"]:
    """What is to be measured, all of it checked before any of it starts."""
    from ..report.report import PARTS

    unknown = [name for name in names if name not in PARTS]
    if unknown or not names:
        raise InputError(f"there is no part {', '.join(unknown)!r}; choose from {', '.join(PARTS)}")
    return [PARTS[name].of(sets, **options.get(name, {})) for name in names]


def _report(output: Path, parts: Sequence["Benchmark"], *, whole: bool, fresh: bool) -> None:
    """Measure what is missing and write the report, whatever ended the work."""
    from ..report.report import forget, opened, trace_convergence, work, write_report

    if fresh:
        forget(output)
    file = opened(output, whole=whole)
    try:
        works = [work(file, part) for part in parts]
        if any(part.name == "paper" for part in parts):
            works.append(trace_convergence(file))
        with progress_bar(sum(total for total, _ in works)) as advance:
            for done in chain.from_iterable(steps for _, steps in works):
                advance(done)
    finally:
        typer.echo(str(write_report(output)))


def report(folder: Annotated[Path, typer.Argument(metavar="REPORT", help="The folder of a report.")]) -> None:
    """Make the tables, plots and page of a report anew from its results.json; nothing is measured."""
    limit_threads(1)
    from ..report.report import write_report

    typer.echo(str(write_report(folder)))
