"""A conversion asked for on the command line: its settings, its run, and what it says afterwards."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

from demosaic_ntc.errors import InputError, OutputError
from demosaic_ntc.files.conversion import Conversion, convert_file
from demosaic_ntc.files.reading import likely_array
from demosaic_ntc.files.settings import Development, Output, Settings
from demosaic_ntc.files.sniff import Limits
from demosaic_ntc.imaging.demosaic import METHODS
from demosaic_ntc.imaging.kernels.examples import for_mosaics

from .costs import stage_costs
from .interrupts import heard_interrupts
from .layouts import bits_are_of_samples, layout_from
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


def settings_from(options: Mapping[str, Any]) -> Settings:
    """The settings that the options of a command describe; what makes no sense is wrong usage."""
    engine = engine_from(options, METHODS)
    try:
        settings = Settings(
            layout=layout_from(options),
            limits=Limits(pixels=options["max_pixels"]),
            development=_development(options),
            engine=engine,
            output=_output(options),
        )
        settings.output.depth(options["target"])
    except (InputError, OutputError) as error:
        raise typer.BadParameter(str(error)) from error
    return settings


def _development(options: Mapping[str, Any]) -> Development:
    """How samples become a picture."""
    same_names = ("black", "white", "exposure", "highlights", "space", "linear", "crop", "bad_pixels")
    of_noise = ("denoise", "denoise_color", "noise")
    same = {name: options[name] for name in same_names + of_noise}
    return Development(balance=options["wb"], rotate=not options["no_rotate"], **same)


def _output(options: Mapping[str, Any]) -> Output:
    """How the picture is written."""
    return Output(
        bits=None if bits_are_of_samples(options) else options["bits"],
        jpeg_quality=options["jpeg_quality"],
        metadata=not options["no_metadata"],
        overwrite=options["overwrite"],
    )


def convert_one(
    source: Path, target: Path, settings: Settings, telling: Telling, error_map: Path | None = None
) -> None:
    """Convert a file and say what was done; an existing target is left alone unless told otherwise."""
    check_different(source, target)
    check_error_map(error_map, settings.engine.method, (source, target))
    if target.exists() and not settings.output.overwrite:
        tell_skipped(source, target, telling)
        return
    array = likely_array(source, settings.layout)
    kernels = for_mosaics(settings.engine.method, array.is_bayer, error_map is not None)
    if source.is_file():  # a wrong path is not worth the wait
        prepare_shown(kernels, quiet=not telling.notes)
    costs = stage_costs(settings.engine.method, settings.engine.quality, array)
    with heard_interrupts(), shown_progress(costs, quiet=telling.quiet) as report:
        done = convert_file(source, target, settings, report, error_map)
    tell_done(described(done, settings), done.notices, _lines(done, verbose=telling.verbose), telling)


def described(done: Conversion, settings: Settings) -> dict[str, Any]:
    """What was done, as an object for JSON."""
    return {
        "source": str(done.source),
        "target": str(done.target),
        "status": "done",
        "camera": done.camera,
        "width": done.size[1],
        "height": done.size[0],
        "cfa": done.cfa,
        "white_balance": {"source": done.exposure.balance_source, "multipliers": list(done.exposure.balance)},
        "white_level": done.exposure.white,
        "matrix": done.matrix_source,
        "exposure": done.stops,
        "noise": done.noise,
        "parameters": settings.described(),
        "seconds": {**done.seconds, "total": sum(done.seconds.values())},
        "certificate": certificate(done.certificate),
        **error_facts(done.error_map),
        "notices": list(done.notices),
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
    red, green, blue, _ = done.exposure.balance
    balance = f"{done.exposure.balance_source} ({red:.3g}, {green:.3g}, {blue:.3g})"
    camera = f"{done.camera}, " if done.camera else ""
    yield (
        f"{done.target}: {camera}{done.size[1]}×{done.size[0]}, {done.cfa}, white balance {balance}, "
        f"{sum(done.seconds.values()):.1f} s"
    )
    yield from noise_lines(done.noise)
    yield from certified_lines(done.certificate)
    yield from error_lines(done.error_map)
    if verbose:
        yield f"white level {done.exposure.white:g}, matrix {done.matrix_source}, {done.stops:+.2f} EV"
        yield seconds_line(done.seconds)
