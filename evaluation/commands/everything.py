"""The commands ``benchmark all`` and ``benchmark report``: everything measured, on one page."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from demosaic_ntc.errors import InputError

from . import options as o
from . import parts
from .running import chosen_sets, prepared, progress_bar, split_names, usage

if TYPE_CHECKING:
    from ..data.sets import PictureSet
    from ..measure.part import Part

#: More parts that a report may have: how each is made, of the sets.
MAKERS: dict[str, Callable[[Sequence["PictureSet"]], "Part"]] = {}

# What is taken away from pictures for errors of inpainting, beside the mosaics.
_ERROR_MASKS = "random:50"
_PARTS = "demosaic,tensors,noise,inpaint,errors,speed,convert,paper"


def everything(
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
    programs: o.Programs = "ntc,libraw-ahd,rawtherapee,darktable",
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
    prepared(threads)
    from ..data.sets import numbered
    from ..methods.method import Effort

    sets, effort = chosen_sets(folders, limit=limit), Effort(threads=threads)
    staged = [numbered(each, speed_images) for each in sets] if speed_images else sets
    makers = {
        "demosaic": lambda: parts.demosaic_part(sets, methods, cfa, crop, effort),
        "tensors": lambda: parts.tensors_part(sets, None, crop, effort),
        "noise": lambda: parts.noise_part(parts.noisy_sets(sets), denoisers, sigma, crop, effort),
        "inpaint": lambda: parts.repaired_part(sets, images, repairs, masks, effort),
        "errors": lambda: parts.errors_part(sets, cfa, _ERROR_MASKS, crop, effort),
        "speed": lambda: parts.speed_part(staged, qualities),
        "convert": lambda: parts.convert_part(None, sizes, programs),
        "paper": lambda: parts.paper_part(tables, rows, range(reps)),
        **{name: lambda make=make: make(sets) for name, make in MAKERS.items()},  # type: ignore[misc]
    }
    with usage():
        made = _made(split_names(wanted), makers)
    _report(output, made, whole=full, fresh=fresh)


def _made(names: Sequence[str], makers: dict[str, Callable[[], "Part"]]) -> list["Part"]:
    """What is to be measured, all of it checked before any of it starts."""
    unknown = [name for name in names if name not in makers]
    if unknown or not names:
        raise InputError(f"there is no part {', '.join(unknown)!r}; choose from {', '.join(makers)}")
    return [makers[name]() for name in names]


def _report(output: Path, made: Sequence["Part"], *, whole: bool, fresh: bool) -> None:
    """Measure what is missing and write the report, whatever ended the work."""
    from ..report.report import converging, forget, opened, work, write_report

    if fresh:
        forget(output)
    file = opened(output, whole=whole)
    try:
        works = [work(file, part) for part in made]
        if any(part.name == "paper" for part in made):
            works.append(converging(file))
        with progress_bar(sum(each.total for each in works)) as advance:
            for each in works:
                for done in each.steps:
                    advance(done)
    finally:
        typer.echo(str(write_report(output)))


def report(folder: Annotated[Path, typer.Argument(metavar="REPORT", help="The folder of a report.")]) -> None:
    """Make the tables, plots and page of a report anew from its results.json; nothing is measured."""
    prepared(1)
    from ..report.report import write_report

    typer.echo(str(write_report(folder)))
