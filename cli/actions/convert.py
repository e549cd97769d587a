"""A conversion asked for on the command line: its settings, its run, and what it says afterwards."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from demosaic_ntc.errors import InputError, OutputError
from demosaic_ntc.files.conversion import Conversion, convert_file, kernels_for
from demosaic_ntc.files.costs import stage_costs
from demosaic_ntc.files.dng.linear_picture import check_dng
from demosaic_ntc.files.pictures.lossy import Loss
from demosaic_ntc.files.raw.reading import likely_array
from demosaic_ntc.files.settings import Development, Output, Settings
from demosaic_ntc.files.sniff import Limits
from demosaic_ntc.imaging.demosaic import METHODS

from ..arguments.layouts import bits_are_of_samples, layout_from
from ..arguments.options import engine_from
from ..flags import in_flags
from ..interrupts import heard_interrupts
from ..output.progress import shown_progress
from ..output.results import (
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
from .prepare import prepare_shown


def settings_from(options: Mapping[str, Any]) -> Settings:
    """The settings that the options of a command describe; what makes no sense is wrong usage."""
    engine = replace(engine_from(options, METHODS), half=options["half"])
    try:
        settings = Settings(
            layout=layout_from(options),
            limits=Limits(pixels=options["max_pixels"]),
            development=_development(options),
            engine=engine,
            output=_output(options),
        )
        settings.output.depth(options["target"])
        check_dng(settings, options["target"], options.get("error_map"))
    except (InputError, OutputError) as error:
        raise typer.BadParameter(in_flags(str(error))) from error
    return settings


def _development(options: Mapping[str, Any]) -> Development:
    """How samples become a picture."""
    same_names = ("black", "white", "highlights", "space", "linear", "crop", "bad_pixels")
    of_look = ("look", "exposure", "contrast", "saturation")
    of_noise = ("denoise", "denoise_color", "noise")
    same = {name: options[name] for name in same_names + of_look + of_noise}
    balance = options["wb"] if options["wb_from"] is None else options["wb_from"]
    return Development(
        balance=balance,
        rotate=not options["no_rotate"],
        longest_side=options["resize"],
        fringes=options["ca"],
        **same,
    )


def _output(options: Mapping[str, Any]) -> Output:
    """How the picture is written."""
    return Output(
        bits=None if bits_are_of_samples(options) else options["bits"],
        loss=Loss(options["jpeg_quality"], options["jpeg_subsampling"]),
        metadata=not options["no_metadata"],
        overwrite=options["overwrite"],
        compress=options["compress"],
    )


def convert_one(
    source: Path, target: Path, settings: Settings, telling: Telling, error_map: Path | None = None
) -> None:
    """Convert a file and say what was done; an existing target is left alone unless told otherwise."""
    if source.is_dir():
        advice = f"convert what is in it with `demosaic-ntc batch {source} -o RESULTS`"
        raise InputError(f"{source}: is a folder; {advice}")
    check_different(source, target)
    check_error_map(error_map, settings.engine.method, (source, target))
    if target.exists() and not settings.output.overwrite:
        tell_skipped(source, target, telling)
        return
    array = likely_array(source, settings.layout)
    if source.is_file():  # a wrong path is not worth the wait
        prepare_shown(kernels_for(settings, array.is_bayer, error_map is not None), quiet=not telling.notes)
    costs = stage_costs(settings.engine.method, settings.engine.quality, array)
    with heard_interrupts(), shown_progress(costs, quiet=telling.quiet) as report:
        done = convert_file(source, target, settings, report, error_map)
    tell_done(described(done, settings), done.facts.notices, _lines(done, verbose=telling.verbose), telling)


def described(done: Conversion, settings: Settings) -> dict[str, Any]:
    """What was done, as an object for JSON."""
    facts = done.facts
    return {
        "source": str(done.source),
        "target": str(done.target),
        "status": "done",
        "camera": facts.camera,
        "width": facts.size[1],
        "height": facts.size[0],
        "cfa": facts.cfa,
        "white_balance": facts.exposure.described,
        "white_level": facts.exposure.white,
        "matrix": facts.matrix_source,
        "look": facts.look,
        "exposure": facts.stops,
        "noise": facts.noise,
        "parameters": settings.described(),
        "seconds": {**facts.seconds, "total": sum(facts.seconds.values())},
        "certificate": certificate(facts.certificate),
        **error_facts(done.error_map),
        "notices": [in_flags(notice) for notice in facts.notices],
    }


def noise_lines(noise: dict[str, Any] | None) -> Iterator[str]:
    """What noise was found and taken off, for people; nothing where there was none to be seen."""
    if noise and noise["removed"]["color"]:
        sources = {"given": "as given", "profile": "as the file says", "estimated": "estimated"}
        yield (
            f"noise taken off: {100 * noise['mid_grey']:.2g} % of white at mid grey, "
            f"{sources[noise['source']]}"
        )


def _lines(done: Conversion, *, verbose: bool) -> Iterator[str]:
    """What was done, for people."""
    facts = done.facts
    red, green, blue, _ = facts.exposure.balance
    light = facts.exposure.light
    shown = f"; {light.kelvin:.0f} K, tint {light.tint:+.0f}" if light else ""
    balance = f"{facts.exposure.balance_source} ({red:.3g}, {green:.3g}, {blue:.3g}{shown})"
    camera = f"{facts.camera}, " if facts.camera else ""
    yield (
        f"{done.target}: {camera}{facts.size[1]}×{facts.size[0]}, {facts.cfa}, white balance {balance}, "
        f"{facts.look} look, {sum(facts.seconds.values()):.1f} s"
    )
    yield from noise_lines(facts.noise)
    yield from certified_lines(facts.certificate)
    yield from error_lines(done.error_map)
    if verbose:
        yield f"white level {facts.exposure.white:g}, matrix {facts.matrix_source}, {facts.stops:+.2f} EV"
        yield seconds_line(facts.seconds)
