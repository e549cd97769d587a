"""What commands that make a picture say before and after, for people or as JSON."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import typer

from demosaic_ntc.errors import InputError

from ..failures import one_line, print_lines, replace_flags

if TYPE_CHECKING:
    from demosaic_ntc.engine.result import NormCertificate
    from demosaic_ntc.images.error_map import ErrorMap


@dataclass(frozen=True, slots=True)
class Verbosity:
    """How much is said."""

    quiet: bool = False
    verbose: bool = False
    json: bool = False

    @property
    def notes(self) -> bool:
        """Whether notes for people go to stderr."""
        return not self.quiet and not self.json


def check_error_map(target: Path | None, method: str, picture: Path | None = None) -> None:
    """Report an error map whose name or method makes no sense as wrong usage."""
    from demosaic_ntc.images.error_map import check_asked

    try:
        if target is not None:
            check_asked(target, method, picture)
    except InputError as error:
        raise typer.BadParameter(one_line(str(error)), param_hint="--error-map") from error


def tell_skipped(source: Path, target: Path, telling: Verbosity) -> None:
    """Say that nothing was done."""
    if telling.json:
        typer.echo(json.dumps({"source": str(source), "target": str(target), "status": "skipped"}))
    elif not telling.quiet:
        typer.echo(f"{one_line(str(target))}: exists, skipped; use --overwrite to replace it", err=True)


def is_wanted(source: Path, target: Path, telling: Verbosity, *, overwrite: bool) -> bool:
    """Whether a target is to be written; one that exists is skipped, with a word, unless overwritten."""
    from demosaic_ntc.io.atomic import is_absent

    if overwrite or is_absent(target):
        return True
    tell_skipped(source, target, telling)
    return False


def tell_done(
    describe: Callable[[], dict[str, Any]], notices: Iterable[str], lines: Iterable[str], telling: Verbosity
) -> None:
    """Say what was done: as JSON, an object that is made only then, or as notices and lines for people."""
    if telling.json:
        print_lines([json.dumps(describe())])
        return
    if telling.quiet:
        return
    for notice in notices:
        typer.echo(f"note: {one_line(notice)}", err=True)
    print_lines(lines)


class RunSummary(Protocol):
    """What the engine has done, and how long everything took."""

    @property
    def certificate(self) -> "NormCertificate | None":
        """What is proven about its groups."""

    @property
    def seconds(self) -> dict[str, float]:
        """By stage."""

    @property
    def notices(self) -> tuple[str, ...]:
        """What a user should know."""


#: Where a noise model comes from, for people.
NOISE_SOURCES = {
    "given": "given",
    "profile": "the file's profile",
    "scaled": "the file's profile, scaled",
    "estimated": "estimated",
}


def white_levels(levels: Sequence[float]) -> str:
    """The levels at which the colours saturate, for people: one number if they are the same."""
    if len(set(levels)) == 1:
        return f"{levels[0]:g}"
    return ", ".join(
        f"{level:g} ({name})" for level, name in zip(levels, ("red", "green", "blue"), strict=True)
    )


def engine_facts(parameters: str, done: RunSummary, mapped: "ErrorMap | None") -> dict[str, Any]:
    """What is told of every picture that the engine has made, for JSON; expected errors in code values."""
    return {
        "parameters": parameters,
        "seconds": {**done.seconds, "total": sum(done.seconds.values())},
        "certificate": None if done.certificate is None else _certificate(done.certificate),
        "error_map": str(mapped.target) if mapped else None,
        "expected_rms": _finite(mapped.rms) if mapped else None,
        "notices": [replace_flags(notice) for notice in done.notices],
    }


def _certificate(groups: "NormCertificate") -> dict[str, float | None]:
    """What is proven about the norms of completed groups."""
    return {
        "groups": groups.groups,
        "completed": groups.completed,
        "share_within_a_tenth": groups.share,
        "median_ratio": _finite(groups.median_ratio),
        "vertices_per_group": groups.vertices,
    }


def engine_lines(proven: "NormCertificate | None", written: "ErrorMap | None") -> Iterator[str]:
    """What is proven, and how far off the picture is expected to be, for people."""
    if proven is not None:
        yield f"completed: {describe_certificate(proven)}"
    if written is not None:
        rms = f"{written.rms:.0f}" if written.rms >= 100 else f"{written.rms:.3g}"
        scale = "" if written.white is None else f" of {written.white}"
        name = one_line(str(written.target))
        yield f"error map: {name}, expected error {rms}{scale} (root mean square over the picture)"


def describe_certificate(proven: "NormCertificate") -> str:
    """What is proven of the norms of completed groups, in a line."""
    if not proven.completed:
        return f"none of {proven.groups} groups"
    return (
        f"{proven.completed} of {proven.groups} groups by {proven.vertices:.0f} vertices each, "
        f"the least norm known within 10% of {proven.share:.1%} (median {proven.median_ratio - 1:.1%})"
    )


def seconds_line(seconds: Mapping[str, float]) -> str:
    """What each stage took."""
    return ", ".join(f"{stage} {value:.2f} s" for stage, value in seconds.items())


def _finite(value: float) -> float | None:
    """The value, or nothing where it is infinite: JSON has no infinity."""
    return value if isfinite(value) else None
