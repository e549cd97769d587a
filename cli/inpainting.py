"""A repair asked for on the command line: its files and settings, its run, and what it says afterwards."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from demosaic_ntc.errors import InputError, OutputError
from demosaic_ntc.files.image import format_of
from demosaic_ntc.files.mask import MaskRule, parse_colour
from demosaic_ntc.files.repair import Repair, RepairSettings, repair_file
from demosaic_ntc.files.sniff import Limits
from demosaic_ntc.imaging.inpaint import METHODS
from demosaic_ntc.imaging.kernels.examples import for_holes

from .costs import REPAIR_COSTS
from .interrupts import heard_interrupts
from .options import engine_from
from .preparing import prepare_shown
from .progress import shown_progress
from .telling import (
    Telling,
    certificate,
    certified_lines,
    check_different,
    check_error_map,
    error_facts,
    error_lines,
    seconds_line,
    tell_done,
    tell_skipped,
)


@dataclass(frozen=True, slots=True)
class Files:
    """What is read and written; without a mask, a painted colour tells what to repair."""

    source: Path
    mask: Path | None
    target: Path
    error_map: Path | None = None


def files_from(paths: Sequence[Path], colour: str | None, error_map: Path | None = None) -> Files:
    """The files of ``IN MASK OUT``, or of ``IN OUT`` with a painted colour."""
    match paths, colour:
        case [source, mask, target], None:
            return Files(source, mask, target, error_map)
        case [source, target], str():
            return Files(source, None, target, error_map)
        case _, None:
            raise typer.BadParameter("give IN MASK OUT, or IN OUT with --mask-color")
        case _:
            raise typer.BadParameter("give IN OUT with --mask-color, which stands for a mask")


def settings_from(options: Mapping[str, Any]) -> RepairSettings:
    """The settings that the options of a command describe; what makes no sense is wrong usage."""
    engine, colour = engine_from(options, METHODS), options["mask_color"]
    try:
        return RepairSettings(
            mask=MaskRule(options["invert"], options["threshold"], parse_colour(colour) if colour else None),
            limits=Limits(pixels=options["max_pixels"]),
            engine=engine,
            overwrite=options["overwrite"],
        )
    except InputError as error:
        raise typer.BadParameter(str(error)) from error


def repair_one(files: Files, settings: RepairSettings, telling: Telling) -> None:
    """Repair a picture and say what was done; an existing target is left alone unless told otherwise."""
    try:
        format_of(files.target)
    except OutputError as error:
        raise typer.BadParameter(str(error)) from error
    for path in (files.source, files.mask):
        if path is not None:
            check_different(path, files.target)
    check_error_map(files.error_map, settings.engine.method, (files.source, files.mask, files.target))
    if files.target.exists() and not settings.overwrite:
        tell_skipped(files.source, files.target, telling)
        return
    if files.source.is_file():  # a wrong path is not worth the wait
        kernels = for_holes(settings.engine.method, files.error_map is not None)
        prepare_shown(kernels, quiet=not telling.notes)
    with heard_interrupts(), shown_progress(REPAIR_COSTS, quiet=telling.quiet) as report:
        done = repair_file(files.source, files.mask, files.target, settings, report, files.error_map)
    tell_done(described(done, settings), done.notices, _lines(done, verbose=telling.verbose), telling)


def described(done: Repair, settings: RepairSettings) -> dict[str, Any]:
    """What was done, as an object for JSON."""
    height, width = done.size
    return {
        "source": str(done.source),
        "target": str(done.target),
        "status": "done",
        "width": width,
        "height": height,
        "depth": done.depth,
        "missing": done.missing,
        "missing_share": done.missing / (height * width),
        "parameters": settings.described(),
        "seconds": {**done.seconds, "total": sum(done.seconds.values())},
        "certificate": certificate(done.certificate),
        **error_facts(done.error_map),
        "notices": list(done.notices),
    }


def _lines(done: Repair, *, verbose: bool) -> Iterator[str]:
    """What was done, for people."""
    height, width = done.size
    yield (
        f"{done.target}: {width}×{height}, {done.missing} pixels restored "
        f"({done.missing / (height * width):.2%}), {sum(done.seconds.values()):.1f} s"
    )
    yield from certified_lines(done.certificate)
    yield from error_lines(done.error_map)
    if verbose:
        yield f"{done.depth}, {seconds_line(done.seconds)}"
