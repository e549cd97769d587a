"""What commands that make a picture say before and after, for people or as JSON."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import typer

from demosaic_ntc.errors import InputError

from ..failures import one_line
from ..flags import replace_flags
from .messages import print_lines

if TYPE_CHECKING:
    from demosaic_ntc.engine.result import GroupCertificate
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


def check_different(source: Path, target: Path) -> None:
    """Refuse to write over the input, also through a link."""
    if os.path.realpath(source) == os.path.realpath(target):
        raise typer.BadParameter(
            f"{one_line(str(target))}: input and output are the same file; choose another OUT"
        )


def check_error_map(target: Path | None, method: str, others: Iterable[Path | None]) -> None:
    """Take for wrong usage an error map that makes no sense with this method or beside these files."""
    from demosaic_ntc.images.error_map import check_asked

    try:
        if target is not None:
            check_asked(target, method, others)
    except InputError as error:
        raise typer.BadParameter(one_line(str(error)), param_hint="--error-map") from error


def tell_skipped(source: Path, target: Path, telling: Verbosity) -> None:
    """Say that nothing was done."""
    if telling.json:
        typer.echo(json.dumps({"source": str(source), "target": str(target), "status": "skipped"}))
    elif not telling.quiet:
        typer.echo(f"{one_line(str(target))}: exists, skipped; use --overwrite to replace it", err=True)


def tell_done(
    described: dict[str, Any], notices: Iterable[str], lines: Iterable[str], telling: Verbosity
) -> None:
    """Say what was done: the object for JSON, or notices and lines for people."""
    if telling.json:
        print_lines([json.dumps(described)])
        return
    if telling.quiet:
        return
    for notice in notices:
        typer.echo(f"note: {one_line(notice)}", err=True)
    print_lines(lines)


class RunSummary(Protocol):
    """What the engine has done, and how long everything took."""

    @property
    def certificate(self) -> "GroupCertificate | None":
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
        "certificate": _certificate(done.certificate),
        "error_map": str(mapped.target) if mapped else None,
        "expected_rms": _finite(mapped.rms) if mapped else None,
        "notices": [replace_flags(notice) for notice in done.notices],
    }


def _certificate(groups: "GroupCertificate | None") -> dict[str, float | None] | None:
    """What is proven about the result; interpolations prove nothing."""
    if groups is None:
        return None
    total = max(groups.groups, 1)
    return {
        "groups": groups.groups,
        "share_certified": groups.certified / total,
        "share_within_tolerance": groups.within_tolerance / total,
        "tolerance": groups.tolerance,
        "median_gap": _finite(groups.median_gap),
        "worst_gap": _finite(groups.worst_gap),
        "share_left_to_first_estimate": groups.left,
    }


def engine_lines(proven: "GroupCertificate | None", written: "ErrorMap | None") -> Iterator[str]:
    """What is proven, and how far off the picture is expected to be, for people."""
    if proven is not None:
        share = proven.certified / max(proven.groups, 1)
        rest = f"; {proven.left:.0%} of the picture needed none" if proven.left else ""
        gap = f"{share:.2%} of {proven.groups} groups, largest gap {proven.worst_gap:.2g}"
        yield f"certified: {gap if proven.certified else _explain_missing_gap(proven)}{rest}"
    if written is not None:
        rms = f"{written.rms:.0f}" if written.rms >= 100 else f"{written.rms:.3g}"
        scale = "" if written.white is None else f" of {written.white}"
        name = one_line(str(written.target))
        yield f"error map: {name}, expected error {rms}{scale} (root mean square over the picture)"


def _explain_missing_gap(proven: "GroupCertificate") -> str:
    """What is said where there is no gap to be told."""
    return f"none proven of {proven.groups} groups" if proven.groups else "none proven, no groups were formed"


def seconds_line(seconds: Mapping[str, float]) -> str:
    """What each stage took."""
    return ", ".join(f"{stage} {value:.2f} s" for stage, value in seconds.items())


def _finite(value: float) -> float | None:
    """The value, or nothing where it is infinite: JSON has no infinity."""
    return value if isfinite(value) else None
