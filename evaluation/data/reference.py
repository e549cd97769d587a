"""Figures that somebody measured before, as more results where set and picture have the same names."""

from collections.abc import Collection
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from demosaic_ntc.errors import InputError
from demosaic_ntc.io.header import InputLimits, open_regular, prefix_path

from .sets import ImageSet, select_numbered

#: The columns a reference of demosaicing must have; one of them is the border that its figures leave out.
COLUMNS = ("method", "set", "image", "cpsnr_crop0", "cpsnr_crop10", "cpu_s_per_mp")
CFA, CROP = "RGGB", 10

_PLACE = ("set", "image", "sigma")

Row = dict[str, Any]


def demosaic_reference(path: Path, crop: int) -> list[Row]:
    """Results by ``method *``; the crop of a reference is one, so only with that crop there is a CPSNR."""
    with prefix_path(path):
        frame = _read(path, COLUMNS)
        figures = _numbers(frame, COLUMNS[3:]).dropna(how="all")  # a method may have refused a picture
        _refuse(figures.isna().any(axis=1))
        inside = {0: "cpsnr_crop0", CROP: "cpsnr_crop10"}.get(crop)
        frame = frame.loc[figures.index].assign(**figures[["cpsnr_crop0", "cpu_s_per_mp"]])
        frame["cpsnr"] = figures[inside] if inside else float("nan")
    frame["method"] = frame["method"].str.strip() + " *"
    return list(frame[["method", "set", "image", "cpsnr", "cpsnr_crop0", "cpu_s_per_mp"]].to_dict("records"))


def noise_reference(path: Path) -> list[Row]:
    """Results by ``method (reference)`` from a file of set, image, sigma and a column of decibels each."""
    with prefix_path(path):
        frame = _read(path, ())
        methods = [name for name in frame.columns if name not in _PLACE]
        if len(methods) != len(frame.columns) - len(_PLACE) or not methods:
            raise InputError(f"lacks the columns {', '.join(_PLACE)} and one per method; give such a file")
        figures = _numbers(frame, ("sigma", *methods))
        _refuse(figures.isna().any(axis=1))
    frame = frame.assign(**figures)
    frame["image"] = [Path(name).stem for name in frame["image"]]
    frame["noise"] = [f"σ {sigma:.0f}" for sigma in frame["sigma"]]
    long = frame.melt(["set", "image", "noise"], methods, "method", "cpsnr")
    return list(long.assign(method=long["method"] + " (reference)").to_dict("records"))


def select_noise(
    path: Path | None, sets: list[ImageSet], *, narrowed: bool, shown: bool
) -> tuple[list[ImageSet], list[Row]]:
    """Sets, or the pictures of them that a reference knows, and what it has for them."""
    figures = noise_reference(path) if path else []
    meant = [select_known(each, figures) for each in sets] if narrowed else sets
    return meant, select_sets(figures, meant) if shown else []


def select_known(each: ImageSet, rows: Collection[Row]) -> ImageSet:
    """The pictures of a set that a reference has figures for; all of them where it knows none."""
    known = {row["image"] for row in rows if row["set"] == each.name}
    chosen = [str(n) for n, picture in enumerate(each.pictures, start=1) if picture.name in known]
    return select_numbered(each, ",".join(chosen)) if chosen else each


def select_sets(rows: Collection[Row], sets: Collection[ImageSet]) -> list[Row]:
    """The rows about pictures of these sets; a part of a set goes by the set's name and its numbers."""
    places = {(each.name.split()[0], picture.name): each.name for each in sets for picture in each.pictures}
    return [
        row | {"set": places[row["set"], row["image"]]}
        for row in rows
        if (row["set"], row["image"]) in places
    ]


def _read(path: Path, columns: Collection[str]) -> pd.DataFrame:
    """The lines of a file as texts."""
    with open_regular(path, InputLimits()) as file:
        content = file.read()
    try:
        frame = pd.read_csv(BytesIO(content), dtype=str, keep_default_na=False, encoding_errors="replace")
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise InputError("is not a CSV file; give one with a line of names and lines of figures") from error
    missing = [name for name in columns if name not in frame]
    if missing:
        raise InputError(f"has no column {missing[0]}; a reference has {', '.join(columns)}")
    return frame


def _numbers(frame: pd.DataFrame, columns: Collection[str]) -> pd.DataFrame:
    """Some columns as numbers; an empty cell is NaN, and what is none is refused."""
    texts = frame[list(columns)]
    numbers = texts.apply(pd.to_numeric, errors="coerce")
    _refuse((numbers.isna() & (texts != "")).any(axis=1))
    return numbers


def _refuse(wrong: pd.Series) -> None:
    """Refuse lines that are wrong, the first one by its number in the file."""
    if wrong.any():
        line = list(wrong.index)[list(wrong).index(True)] + 2
        raise InputError(f"line {line} has a figure that is not a number; mend or remove it")
