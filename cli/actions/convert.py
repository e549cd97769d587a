"""A conversion asked for on the command line: its settings, its run, and what it says afterwards."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from demosaic_ntc.developing.settings import Settings
from demosaic_ntc.engine.result import WHITE
from demosaic_ntc.errors import InputError, OutputError
from demosaic_ntc.io.header import open_header
from demosaic_ntc.jit.precompile import load_ready
from demosaic_ntc.raw.levels import Exposure
from demosaic_ntc.raw.noise import percent
from demosaic_ntc.workflows.conversion import Conversion, check_names, convert_file
from demosaic_ntc.workflows.costs import estimate_costs

from ..failures import wrong_usage
from ..output.progress import run_single_file
from ..output.results import (
    NOISE_SOURCES,
    Verbosity,
    check_error_map,
    engine_facts,
    engine_lines,
    is_wanted,
    seconds_line,
    tell_done,
    white_levels,
)


def settings_from(options: Mapping[str, Any]) -> Settings:
    """The settings that the options of a command describe; bad values are reported as wrong usage."""
    chosen = {**options, "wb": options["wb_from"] or options["wb"]}
    if options["width"] is not None and options["raw_bits"] is None:  # --bits are those of the samples
        chosen |= {"bits": None, "raw_bits": options["bits"]}
    with wrong_usage(InputError):
        return Settings.of(chosen)


def convert_one(
    source: Path, target: Path, settings: Settings, telling: Verbosity, error_map: Path | None = None
) -> None:
    """Convert a file and say what was done; an existing target is left alone unless told otherwise."""
    with wrong_usage(InputError, OutputError):
        check_names((source,), target, settings, error_map)
    if source.is_dir():
        advice = f"convert what is in it with `demosaic-ntc batch {source} -o RESULTS`"
        raise InputError(f"{source}: is a folder; {advice}")
    check_error_map(error_map, settings.engine.method, target)
    if not is_wanted(source, target, telling, overwrite=settings.output.overwrite):
        return
    with (
        open_header(source, settings.limits) as header,
        run_single_file(estimate_costs(settings, header), telling) as report,
    ):
        load_ready()
        done = convert_file(header, target, settings, report, error_map)
    tell_done(
        partial(describe_conversion, done, settings),
        done.facts.notices,
        conversion_lines(done, verbose=telling.verbose),
        telling,
    )


def describe_conversion(done: Conversion, settings: Settings) -> dict[str, Any]:
    """What was done, as an object for JSON."""
    return {
        "source": str(done.source),
        "target": str(done.target),
        "status": "done",
        **done.facts.as_json(),
        **engine_facts(settings.describe(), done.facts, done.error_map),
    }


def _balance(exposure: Exposure) -> str:
    """The white balance of a picture: where it comes from, its multipliers, and the light it stands for."""
    (red, green, blue, _), light = exposure.balance, exposure.light
    shown = f"; {light.kelvin:.0f} K, tint {light.tint:+.0f}" if light else ""
    return f"{exposure.balance_source} ({red:.3g}, {green:.3g}, {blue:.3g}{shown})"


def conversion_lines(done: Conversion, *, verbose: bool) -> Iterator[str]:
    """What was done, for people."""
    facts = done.facts
    camera = f"{facts.camera}, " if facts.camera else ""
    size, balance = f"{facts.size[1]}×{facts.size[0]}", _balance(facts.exposure)
    yield (
        f"{done.target}: {camera}{size}, {facts.cfa}, white balance {balance}, "
        f"{facts.look} look, {sum(facts.seconds.values()):.1f} s"
    )
    if facts.noise and facts.noise["removed"]["color"]:
        shown, source = percent(facts.noise["mid_grey"]), NOISE_SOURCES[facts.noise["source"]]
        yield f"noise removed: {shown} of white at mid grey ({source})"
    if facts.check is not None:
        error, expected = WHITE * facts.check.error, WHITE * facts.check.expected
        yield f"left-out samples predicted within {error:.1f} of {WHITE}, {expected:.1f} expected"
    yield from engine_lines(facts.certificate, done.error_map)
    if verbose:
        white = white_levels(facts.exposure.levels)
        yield f"white level {white}, matrix {facts.matrix_source}, {facts.stops:+.2f} EV"
        yield seconds_line(facts.seconds)
