"""What commands that make a picture say before and after, for people or as JSON."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from demosaic_ntc.errors import InputError

from ..failures import one_line
from .words import say

if TYPE_CHECKING:
    from demosaic_ntc.files.pictures.error_map import ErrorMap
    from demosaic_ntc.imaging.restored import GroupCertificate


@dataclass(frozen=True, slots=True)
class Telling:
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
    from demosaic_ntc.files.pictures.error_map import check_asked

    try:
        if target is not None:
            check_asked(target, method, others)
    except InputError as error:
        raise typer.BadParameter(one_line(str(error)), param_hint="--error-map") from error


def tell_skipped(source: Path, target: Path, telling: Telling) -> None:
    """Say that nothing was done."""
    if telling.json:
        typer.echo(json.dumps({"source": str(source), "target": str(target), "status": "skipped"}))
    elif not telling.quiet:
        typer.echo(f"{one_line(str(target))}: exists, skipped; use --overwrite to replace it", err=True)


def tell_done(
    described: dict[str, Any], notices: Iterable[str], lines: Iterable[str], telling: Telling
) -> None:
    """Say what was done: the object for JSON, or notices and lines for people."""
    if telling.json:
        say([json.dumps(described)])
        return
    if telling.quiet:
        return
    for notice in notices:
        typer.echo(f"note: {one_line(notice)}", err=True)
    say(lines)


def certificate(groups: "GroupCertificate | None") -> dict[str, float | None] | None:
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


def certified_lines(proven: "GroupCertificate | None") -> Iterator[str]:
    """What is proven, for people."""
    if proven is not None:
        share = proven.certified / max(proven.groups, 1)
        rest = f"; {proven.left:.0%} of the picture needed none" if proven.left else ""
        gap = f"{share:.2%} of {proven.groups} groups, largest gap {proven.worst_gap:.2g}"
        yield f"certified: {gap if proven.certified else _nothing_proven(proven)}{rest}"


def _nothing_proven(proven: "GroupCertificate") -> str:
    """What is said where there is no gap to be told."""
    return f"none proven of {proven.groups} groups" if proven.groups else "none proven, no groups were formed"


def error_facts(written: "ErrorMap | None") -> dict[str, str | float | None]:
    """The error map and the root mean square of its entries in code values; nulls where there is none."""
    if written is None:
        return {"error_map": None, "expected_rms": None}
    return {"error_map": str(written.target), "expected_rms": _finite(written.rms)}


def error_lines(written: "ErrorMap | None") -> Iterator[str]:
    """How far off the picture is expected to be, for people."""
    if written is not None:
        rms = f"{written.rms:.0f}" if written.rms >= 100 else f"{written.rms:.3g}"
        scale = "" if written.white is None else f" of {written.white}"
        name = one_line(str(written.target))
        yield f"error map: {name}, expected error {rms}{scale} (root mean square over the picture)"


def seconds_line(seconds: Mapping[str, float]) -> str:
    """What each stage took."""
    return ", ".join(f"{stage} {value:.2f} s" for stage, value in seconds.items())


def _finite(value: float) -> float | None:
    """The value, or nothing where it is infinite: JSON has no infinity."""
    return value if isfinite(value) else None
