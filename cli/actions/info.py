"""What ``info`` finds out and how it says it."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import typer

from demosaic_ntc.choices import LENS_PARTS
from demosaic_ntc.demosaicing.noise import NoiseModel
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.formats import Layout
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.lens.correction import correct_lens, describe_correction
from demosaic_ntc.lens.lensfun import find_profile
from demosaic_ntc.lens.sample_opcodes import prepare_samples
from demosaic_ntc.raw.calibration import find_banding
from demosaic_ntc.raw.levels import expose
from demosaic_ntc.raw.noise import noise_of, percent, span_of
from demosaic_ntc.raw.photo import RawPhoto
from demosaic_ntc.raw.reading import read_photo
from demosaic_ntc.recipe import build
from demosaic_ntc.workflows.costs import QUALITIES, memory, seconds

from ..failures import ExitCode, exit_code, one_line, replace_flags
from ..output.results import NOISE_SOURCES, white_levels

# What is told of raws that need no demosaicing.
_NO_ARRAY = {"linear": "linear, no colour filter array", "MONO": "monochrome, no colour filter array"}


def inform(sources: list[Path], options: Mapping[str, Any], *, as_json: bool) -> None:
    """Describe every file; one that cannot be read is named and does not stop the others."""
    facts: list[dict[str, Any]] = []
    failures: list[ExitCode] = []
    limits = build(InputLimits, options)
    for source in sources:
        try:
            photo = read_photo(source, build(Layout, options), limits)
            facts.append(describe_photo(source, photo, options["noise"]))
        except InputError as error:
            facts.append({"source": str(source), "error": str(error)})
            failures.append(exit_code(error))
            typer.echo(f"demosaic-ntc: {one_line(str(error))}", err=True)
    if as_json:
        typer.echo(json.dumps(facts))
    else:
        _print_facts([fact for fact in facts if "error" not in fact])
    if failures:
        raise typer.Exit(failures[0] if len(sources) == 1 else ExitCode.SOME_FAILED)


def describe_photo(source: Path, photo: RawPhoto, noise: NoiseModel | None = None) -> dict[str, Any]:
    """All that is known of a photo, its noise if none is given, and what would be done with it."""
    exposure = expose(photo, "camera", "auto", keep_highlights=False)
    height, width = photo.size
    crop, array = photo.camera_crop, photo.cfa.kind if photo.cfa else "mono"
    found, banding = noise_of(photo, noise), find_banding(photo)
    return {
        "source": str(source),
        "camera": photo.exif.camera,
        "taken": _describe_exposure(photo),
        "width": width,
        "height": height,
        "cfa": photo.array_name,
        "black": photo.black.tolist(),
        "white": photo.white,
        "white_used": exposure.white,
        "white_by_colour": list(exposure.levels),
        "white_balance": {
            "camera": photo.camera_balance,
            "daylight": photo.daylight_balance,
            "used": exposure.balance,
            "source": exposure.balance_source,
        },
        "matrix": {"source": photo.matrix.source, "to_srgb": photo.matrix.to_srgb.round(6).tolist()},
        "noise": found.describe(span_of(photo)),
        "banding": None if banding is None else banding.describe(),
        "lens_corrections": _describe_lens(photo),
        "orientation": photo.orientation,
        "camera_crop": [crop.left, crop.top, crop.width, crop.height] if crop else None,
        "estimated_seconds": {
            quality: seconds("gaussian", quality, height * width, array) for quality in QUALITIES
        },
        "estimated_megabytes": round(memory(height * width) / 1e6),
        "notices": [replace_flags(notice) for notice in (*photo.notices, *found.notices)],
    }


def _describe_lens(photo: RawPhoto) -> dict[str, Any]:
    """The opcodes of the file, by list, what is done because of them, and the profile that lensfun has."""
    stated = photo.opcodes
    lists = {"1": stated.stored.names, "2": stated.linear.names, "3": stated.pixels.names}
    prepared = prepare_samples(photo, shading=True, bad_pixels=True)
    done = correct_lens(photo, prepared, frozenset(LENS_PARTS))
    try:
        profile = find_profile(photo, "auto").description
    except InputError as error:
        profile = f"none: {str(error).split(';', maxsplit=1)[0]}"
    return {
        "opcodes": {number: list(names) for number, names in lists.items() if names},
        "applied": describe_correction(done),
        "profile": profile,
    }


def _describe_exposure(photo: RawPhoto) -> dict[str, Any]:
    """When and how the photo was taken, as far as its file tells."""
    facts = {name: value for name, value in photo.exif.facts.items() if name != "camera"}
    return {**facts, "date": facts["date"].isoformat()} if "date" in facts else facts


def _print_facts(facts: list[dict[str, Any]]) -> None:
    """One block of lines per file."""
    if facts:
        typer.echo("\n\n".join("\n".join(_lines(fact)) for fact in facts))


def _lines(fact: dict[str, Any]) -> list[str]:
    """The facts of one file, for people."""
    balance, matrix = fact["white_balance"], fact["matrix"]
    multipliers = ", ".join(f"{value:.4g}" for value in balance["used"])
    times = ", ".join(f"{name} {value:g} s" for name, value in fact["estimated_seconds"].items())
    rows = {
        "camera": fact["camera"] or "not stated",
        "taken": _format_exposure(fact["taken"]) or "not stated",
        "size": f"{fact['width']}×{fact['height']}",
        "colour array": _NO_ARRAY.get(fact["cfa"], fact["cfa"]),
        "black": fact["black"],
        "white": f"{fact['white']:g}, used {white_levels(fact['white_by_colour'])}",
        "balance": f"{balance['source']} ({multipliers})",
        "matrix": f"{matrix['source']} {matrix['to_srgb']}",
        "noise": _noise_line(fact["noise"]),
        "banding": _banding_line(fact["banding"]),
        "lens": _lens_line(fact["lens_corrections"]),
        "orientation": f"{fact['orientation']}"
        + (" (will be turned upright)" if fact["orientation"] > 1 else ""),
        "camera crop": fact["camera_crop"] or "none",
        "time, about": f"{times} on one core",
        "memory, about": f"{fact['estimated_megabytes']} MB",
    }
    lines = [one_line(fact["source"])] + [
        f"  {name:<14} {one_line(str(value))}" for name, value in rows.items()
    ]
    return lines + [f"  note           {one_line(notice)}" for notice in fact["notices"]]


def _lens_line(lens: dict[str, Any]) -> str:
    """What the file states of its lens and what is made of it, and which profile there would be."""
    listed = (
        f"list {number}: {', '.join(dict.fromkeys(names))}" for number, names in lens["opcodes"].items()
    )
    stated = "; ".join(listed) or "nothing stated"
    applied = f" (applied: {lens['applied']})" if lens["applied"] else ""
    return f"{stated}{applied}; profile {lens['profile']}"


def _format_exposure(taken: dict[str, Any]) -> str:
    """The date, the lens and the exposure."""
    forms: dict[str, Callable[[Any], str]] = {
        "date": lambda date: date.replace("T", " "),
        "lens": str,
        "focal_length_mm": "{:.4g} mm".format,
        "exposure_seconds": lambda time: f"1/{1 / time:.0f} s" if time < 0.3 else f"{time:.3g} s",
        "f_number": "f/{:.2g}".format,
        "iso": "ISO {:.0f}".format,
    }
    return ", ".join(form(taken[name]) for name, form in forms.items() if name in taken)


def _noise_line(noise: dict[str, Any]) -> str:
    """How noisy the samples are and how that is known: what the file states, and what its samples show."""
    read, how = f"{noise['read_noise']:.2g}", [NOISE_SOURCES[noise["source"]]]
    for name in ("stated", "measured"):
        if noise["source"] != "estimated" and noise[f"{name}_mid_grey"] is not None:
            how.append(f"{name} {percent(noise[f'{name}_mid_grey'])}")
    return f"at mid grey {percent(noise['mid_grey'])} of white, read noise {read} DN ({', '.join(how)})"


def _banding_line(banding: dict[str, Any] | None) -> str:
    """How strong the offsets are that whole lines share, and whether that is beyond doubt."""
    told = (
        f"{name} {each['deviation']:.2g} of 255 ({'removed' if each['removed'] else 'none beyond doubt'})"
        for name, each in (banding or {}).items()
    )
    return ", ".join(told) or "not looked for"
