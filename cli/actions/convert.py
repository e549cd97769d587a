"""A conversion asked for on the command line: its settings, its run, and what it says afterwards."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from demosaic_ntc.demosaicing.demosaic import METHODS
from demosaic_ntc.developing.settings import Settings
from demosaic_ntc.errors import InputError, OutputError
from demosaic_ntc.io.header import open_header
from demosaic_ntc.raw.levels import Exposure
from demosaic_ntc.raw.noise import percent
from demosaic_ntc.recipe import build
from demosaic_ntc.workflows.conversion import Conversion, convert_file, estimate_cost

from ..arguments.options import check_method
from ..flags import wrong_usage
from ..output.results import (
    NOISE_SOURCES,
    Verbosity,
    check_error_map,
    engine_facts,
    engine_lines,
    seconds_line,
    tell_done,
    white_levels,
)
from .single_file import is_wanted, run_single_file


def settings_from(options: Mapping[str, Any]) -> Settings:
    """The settings that the options of a command describe; what makes no sense is wrong usage."""
    check_method(options["method"], METHODS)
    with wrong_usage(InputError):
        return build(
            Settings, {**options, **_assign_bits(options), "wb": options["wb_from"] or options["wb"]}
        )


def _assign_bits(options: Mapping[str, Any]) -> dict[str, Any]:
    """Bits as those of the samples where they are meant: ``--width W --height H --bits 12 --cfa RGGB``."""
    if options["width"] is None or options["raw_bits"] is not None:
        return {}
    return {"bits": None, "raw_bits": options["bits"]}


def convert_one(
    source: Path, target: Path, settings: Settings, telling: Verbosity, error_map: Path | None = None
) -> None:
    """Convert a file and say what was done; an existing target is left alone unless told otherwise."""
    with wrong_usage(InputError, OutputError):
        settings.depth(target, error_map)
    if source.is_dir():
        advice = f"convert what is in it with `demosaic-ntc batch {source} -o RESULTS`"
        raise InputError(f"{source}: is a folder; {advice}")
    check_error_map(error_map, settings.engine.method, (source, target))
    if not is_wanted((source,), target, telling, overwrite=settings.output.overwrite):
        return
    with open_header(source, settings.limits) as header:
        ahead = estimate_cost(settings, target, header, error_map)
        with run_single_file(ahead.costs, telling) as report:
            done = convert_file(header, target, settings, report, error_map)
    tell_done(
        describe_conversion(done, settings),
        done.facts.notices,
        _lines(done, verbose=telling.verbose),
        telling,
    )


def describe_conversion(done: Conversion, settings: Settings) -> dict[str, Any]:
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
        "white_balance": facts.exposure.description,
        "white_level": facts.exposure.white,
        "white_by_colour": list(facts.exposure.levels),
        "matrix": facts.matrix_source,
        "look": facts.look,
        "exposure": facts.stops,
        "noise": facts.noise,
        "check": None if facts.check is None else facts.check.as_json(),
        **engine_facts(settings.described(), facts, done.error_map),
    }


def noise_lines(noise: dict[str, Any] | None) -> Iterator[str]:
    """What noise was found and removed, for people; nothing where there was none to be seen."""
    if noise and noise["removed"]["color"]:
        shown = percent(noise["mid_grey"])
        yield f"noise removed: {shown} of white at mid grey ({NOISE_SOURCES[noise['source']]})"


def _balance(exposure: Exposure) -> str:
    """The white balance of a picture: where it comes from, its multipliers, and the light it stands for."""
    (red, green, blue, _), light = exposure.balance, exposure.light
    shown = f"; {light.kelvin:.0f} K, tint {light.tint:+.0f}" if light else ""
    return f"{exposure.balance_source} ({red:.3g}, {green:.3g}, {blue:.3g}{shown})"


def _lines(done: Conversion, *, verbose: bool) -> Iterator[str]:
    """What was done, for people."""
    facts = done.facts
    camera = f"{facts.camera}, " if facts.camera else ""
    size, balance = f"{facts.size[1]}×{facts.size[0]}", _balance(facts.exposure)
    yield (
        f"{done.target}: {camera}{size}, {facts.cfa}, white balance {balance}, "
        f"{facts.look} look, {sum(facts.seconds.values()):.1f} s"
    )
    yield from noise_lines(facts.noise)
    if facts.check is not None:
        yield str(facts.check)
    yield from engine_lines(facts.certificate, done.error_map)
    if verbose:
        white = white_levels(facts.exposure.levels)
        yield f"white level {white}, matrix {facts.matrix_source}, {facts.stops:+.2f} EV"
        yield seconds_line(facts.seconds)
