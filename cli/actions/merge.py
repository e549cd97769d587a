"""A merge asked for on the command line: of some raws, or of every burst in folders; and what it says."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import typer

from demosaic_ntc.batch.bursts import Burst, find_bursts
from demosaic_ntc.batch.discovery import make_folders, make_output
from demosaic_ntc.developing.settings import Merging, Settings
from demosaic_ntc.errors import Clash, InputError, OutputError
from demosaic_ntc.io.header import open_header
from demosaic_ntc.recipe import build
from demosaic_ntc.workflows.conversion import Conversion, check_names
from demosaic_ntc.workflows.costs import merge_costs
from demosaic_ntc.workflows.merging import Merge, MergedFrame, check_merge, merge_files

from ..failures import ExitCode, explanation, print_note, wrong_usage
from ..output.progress import run_single_file
from ..output.results import Verbosity, check_error_map, is_wanted, tell_done
from .convert import conversion_lines, describe_conversion, settings_from


@dataclass(frozen=True, slots=True)
class Places:
    """Which bursts are looked for in folders, and where their pictures go."""

    recursive: bool
    output: Path | None
    gap: float | None
    format: str


def read_paths(paths: Sequence[Path], places: Places) -> tuple[list[Path], Path]:
    """The raws and the picture to write; what is for folders is wrong usage."""
    if places.recursive or places.output is not None or places.gap is not None:
        raise typer.BadParameter("--recursive, --output and --gap go with --folders")
    *sources, target = paths
    if not sources:
        raise typer.BadParameter("give two or more raws and the picture to write, or --folders")
    return sources, target


def merge_one(sources: list[Path], target: Path, options: Mapping[str, Any]) -> None:
    """Merge raws and say what was done; an existing target is left alone unless told otherwise."""
    settings, merging, error_map = settings_from(options), _merging_from(options), options["error_map"]
    telling = Verbosity(**{name: options[name] for name in ("quiet", "verbose", "json")})
    _check(sources, target, settings, error_map)
    if not is_wanted(sources[0], target, telling, overwrite=settings.output.overwrite):
        return
    with run_single_file(merge_costs(settings.engine.quality, len(sources)), telling) as report:
        done = merge_files(sources, target, settings, merging, report, error_map)
    lines = _lines(done, verbose=telling.verbose)
    tell_done(partial(_describe, done, settings), done.facts.notices, lines, telling)


def _check(sources: Sequence[Path], target: Path, settings: Settings, error_map: Path | None) -> None:
    """Refuse what cannot be merged or written, before anything is read."""
    with wrong_usage(InputError, OutputError):
        check_names(sources, target, settings, error_map)
        check_merge(sources, settings)
    for source in sources:
        if source.is_dir():
            raise InputError(f"{source}: is a folder; merge what is in it with --folders")
    check_error_map(error_map, settings.engine.method, target)
    _refuse_raw(target, settings)


def merge_folders(folders: Sequence[Path], places: Places, options: Mapping[str, Any]) -> None:
    """Make a picture of every burst in folders; one that fails costs no other."""
    if options["error_map"] is not None:
        raise typer.BadParameter("is for one picture; leave it out", param_hint="--error-map")
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"{folder}: is not a folder; leave out --folders to merge files")
    output = places.output or folders[0] / "merged"
    with wrong_usage(Clash):
        bursts = _choose_bursts(folders, output, places)
    make_output(output)
    done = [_merge_burst(burst, output, places.format, options) for burst in bursts]
    if not all(done):
        raise typer.Exit(ExitCode.SOME_FAILED)


def _merge_burst(burst: Burst, output: Path, suffix: str, options: Mapping[str, Any]) -> bool:
    """Make a picture of a burst; tell why where that fails, and whether it did not."""
    target = output / burst.name.with_name(f"{burst.name.name}.{suffix}")
    make_folders(output, [target])
    try:
        merge_one(list(burst.frames), target, options)
    except InputError as error:
        print_note(f"{burst.name}: {explanation(error)}")
        return False
    return True


def _choose_bursts(folders: Sequence[Path], output: Path, places: Places) -> list[Burst]:
    """The bursts of several frames; frames that stand alone are told of."""
    found = find_bursts(folders, output, places.gap, recursive=places.recursive)
    bursts = [burst for burst in found if len(burst.frames) > 1]
    if alone := len(found) - len(bursts):
        print_note(f"{alone} raw{'s stand' if alone > 1 else ' stands'} alone: nothing to merge")
    if not bursts:
        print_note("no bursts were found; folders within folders are searched with --recursive")
    names = [burst.name for burst in bursts]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise Clash(f"two bursts would become {twice}; name their folders one at a time")
    return bursts


def _merging_from(options: Mapping[str, Any]) -> Merging:
    """How frames are merged; what makes no sense is wrong usage."""
    with wrong_usage(InputError):
        return build(Merging, options)


def _refuse_raw(target: Path, settings: Settings) -> None:
    """Refuse to replace a raw of a camera: the picture to write was probably forgotten."""
    if not target.is_file() or target.stat().st_size == 0:
        return
    with open_header(target, settings.limits) as header:
        if header.mosaic_tags and not header.is_linear:
            raise Clash(f"{target}: is a raw; name the picture to write last")


def _describe(done: Merge, settings: Settings) -> dict[str, Any]:
    """What was done, as an object for JSON."""
    alike = Conversion(done.reference, done.target, done.facts, done.error_map)
    return {**describe_conversion(alike, settings), "frames": [each.as_json() for each in done.frames]}


def _lines(done: Merge, *, verbose: bool) -> Iterator[str]:
    """What was done, for people: the picture, and a table of its frames."""
    alike = Conversion(done.reference, done.target, done.facts, done.error_map)
    yield from conversion_lines(alike, verbose=verbose)
    if len(done.frames) == 1:
        return
    used = sum(each.is_used for each in done.frames)
    yield f"merged: {used} of {len(done.frames)} frames"
    width = max(len(each.source.name) for each in done.frames)
    yield f"  {'frame':<{width}}  {'down':>8}  {'right':>8}  {'turned':>8}  {'exposure':>8}  accepted"
    for each in done.frames:
        yield f"  {each.source.name:<{width}}  {_row(each)}"


def _row(frame: MergedFrame) -> str:
    """What became of a frame, in columns."""
    down, right = (f"{_signed(value)} px" for value in frame.shift)
    turned, stops = f"{_signed(frame.rotation)}°", f"{_signed(frame.stops)} EV"
    accepted = "reference" if frame.is_reference else f"{frame.share:.0%}"
    note = "" if frame.is_used else ", left out"
    return f"{down:>8}  {right:>8}  {turned:>8}  {stops:>8}  {accepted}{note}"


def _signed(value: float) -> str:
    """A number with two digits and its sign, none if it is zero."""
    return f"{value:+.2f}" if round(value, 2) else "0"
