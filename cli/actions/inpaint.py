"""A repair asked for on the command line: its files and settings, its run, and what it says afterwards."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import typer

from demosaic_ntc.developing.repair_settings import RepairSettings
from demosaic_ntc.errors import Clash, InputError, OutputError
from demosaic_ntc.images.source_map import check_asked
from demosaic_ntc.images.writing import repair_format
from demosaic_ntc.io.atomic import check_distinct
from demosaic_ntc.io.header import open_header
from demosaic_ntc.workflows.costs import find_repair_costs
from demosaic_ntc.workflows.repair import Repair, repair_file

from ..failures import one_line, wrong_usage
from ..output.progress import run_single_file
from ..output.results import (
    Verbosity,
    check_error_map,
    engine_facts,
    engine_lines,
    is_wanted,
    seconds_line,
    tell_done,
)


@dataclass(frozen=True, slots=True)
class Files:
    """What is read and written; without a mask, something else tells what to repair."""

    source: Path
    mask: Path | None
    target: Path
    error_map: Path | None = None
    saved_mask: Path | None = None
    source_map: Path | None = None

    @property
    def beside(self) -> tuple[Path | None, ...]:
        """What is written beside the target."""
        return self.error_map, self.saved_mask, self.source_map


def files_from(
    paths: Sequence[Path],
    settings: RepairSettings,
    error_map: Path | None = None,
    save_mask: Path | None = None,
    source_map: Path | None = None,
) -> Files:
    """The files of ``IN MASK OUT``, or of ``IN OUT`` where no mask is needed."""
    colour, beside = settings.mask.colour, (error_map, save_mask, source_map)
    match paths:
        case [source, mask, target] if colour is None:
            return Files(source, mask, target, *beside)
        case [source, target] if not settings.needs_mask:
            return Files(source, None, target, *beside)
    if colour is not None:
        raise typer.BadParameter("give IN OUT with --mask-color, which stands for a mask")
    if settings.mask.alpha:
        raise typer.BadParameter("give IN OUT with --mask-from, or IN MASK OUT to take it from MASK")
    if settings.mask.infrared:
        raise typer.BadParameter(
            "give IN OUT with --mask-from ir, or IN MASK OUT to repair what MASK marks as well"
        )
    if settings.detection is not None:
        raise typer.BadParameter(
            "give IN OUT with --detect, or IN MASK OUT to repair what MASK marks as well"
        )
    raise typer.BadParameter("give IN MASK OUT, or IN OUT with --mask-color, --mask-from or --detect")


def settings_from(options: Mapping[str, Any]) -> RepairSettings:
    """The settings that the options of a command describe; bad values are reported as wrong usage."""
    with wrong_usage(InputError):
        return RepairSettings.of(options)


def repair_one(files: Files, settings: RepairSettings, telling: Verbosity) -> None:
    """Repair a picture and say what was done; an existing target is left alone unless told otherwise."""
    with wrong_usage(OutputError):
        repair_format(files.target)
    check_error_map(files.error_map, settings.engine.method)
    _check_saved_mask(files.saved_mask)
    _check_source_map(files.source_map, settings)
    with wrong_usage(Clash):
        check_distinct((files.source, files.mask, settings), (files.target, *files.beside))
    if not is_wanted(files.source, files.target, telling, overwrite=settings.overwrite):
        return
    with (
        open_header(files.source, settings.limits) as header,
        run_single_file(find_repair_costs(settings.fill), telling) as report,
    ):
        done = repair_file(header, files.mask, files.target, settings, report, *files.beside)
    lines = _lines(done, verbose=telling.verbose)
    tell_done(partial(describe_repair, done, settings), done.notices, lines, telling)


def _check_saved_mask(saved: Path | None) -> None:
    """Report it as wrong usage if the mask to be written is not a PNG."""
    if saved is not None and saved.suffix.lower() != ".png":
        raise typer.BadParameter(f"{one_line(str(saved))}: a mask is a PNG; give a name that ends in .png")


def _check_source_map(target: Path | None, settings: RepairSettings) -> None:
    """Take for wrong usage a source map that makes no sense by its name or with these settings."""
    with wrong_usage(InputError):
        if target is not None:
            check_asked(target, settings.fill)


def describe_repair(done: Repair, settings: RepairSettings) -> dict[str, Any]:
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
        "detected": None if done.detected is None else asdict(done.detected),
        "mask": None if done.mask is None else str(done.mask),
        "copied": done.copied,
        "copied_share": done.copied / max(done.missing, 1),
        "source_map": None if done.source_map is None else str(done.source_map),
        **engine_facts(settings.describe(), done, done.error_map),
    }


def _lines(done: Repair, *, verbose: bool) -> Iterator[str]:
    """What was done, for people."""
    height, width = done.size
    yield (
        f"{done.target}: {width}×{height}, {done.missing} pixels restored "
        f"({done.missing / (height * width):.2%}), {sum(done.seconds.values()):.1f} s"
    )
    if done.source_map is not None:
        yield f"source map: {one_line(str(done.source_map))}, {done.copied} pixels copied"
    yield from engine_lines(done.certificate, done.error_map)
    if verbose:
        yield f"{done.depth}, {seconds_line(done.seconds)}"
