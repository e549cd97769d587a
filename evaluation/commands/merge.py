"""The command ``benchmark merge``: what several frames of one scene are worth."""

from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from demosaic_ntc.errors import InputError

from .. import split_names
from . import options as o
from .running import choose_sets, limit_threads, run_all, show, usage

if TYPE_CHECKING:
    from ..data.sets import SetImage
    from ..report.tables import DataTable

_MOST = 64  # frames


def merge(
    folders: o.MaybeFolders = None,
    counts: Annotated[str, typer.Option("--frames", help="Numbers of frames.")] = "2,4,8",
    noises: Annotated[str, typer.Option("--noises", help="Standard deviations of noise, of 255.")] = "5,20",
    images: o.Images = "6,10,14,17",
    cases: Annotated[bool, typer.Option(help="Measure hard cases and brackets as well.")] = True,
    costs: Annotated[
        str, typer.Option(help="Frames and megapixels whose time and memory are measured, such as 8x12.")
    ] = "",
    seed: Annotated[int, typer.Option(min=0, help="Seed of motion and noise.")] = 0,
    threads: o.Threads = 1,
) -> None:
    """Merge synthetic bursts by groups and in simpler ways, and compare with the truth.

    Without arguments it takes some pictures of Kodak and McMaster on which no parameter was chosen.
    """
    limit_threads(threads)
    from ..bursts import gains as study
    from ..bursts.costs import costs_table, measure_cost, parse_sizes

    numbers, levels = split_names(counts), split_names(noises)
    with usage():
        if not all(each.isdigit() and 2 <= int(each) <= _MOST for each in numbers):
            raise InputError(f"{counts!r} is not numbers of frames from 2 to {_MOST}; give e.g. 4,8")
        if not all(each.replace(".", "", 1).isdigit() and float(each) > 0 for each in levels):
            raise InputError(f"{noises!r} is not deviations above 0; give e.g. 5,20")
        sizes = parse_sizes(costs)
    sets = choose_sets(folders or o.KNOWN_SETS, images)
    pictures = [picture for each in sets for picture in each.pictures]
    works = {
        f"{n} frames, noise {level}": partial(
            study.measure_frames, pictures, int(n), float(level), threads, seed
        )
        for n in numbers
        for level in levels
    }
    tables = [study.merged_table(chain.from_iterable(run_all(works)))]
    tables += _measure_cases(pictures, threads, seed) if cases else []
    large = {f"{n} × {mp:g} MP": partial(measure_cost, pictures[0], n, mp, threads) for n, mp in sizes}
    tables += [costs_table(run_all(large))] if large else []
    names = ", ".join(f"{each.name} {each.pictures[0].name}…" for each in sets)
    line = f"{len(pictures)} pictures ({names}), 192×192 frames, RGGB, border {study.BORDER}, seed {seed}"
    show(tables, [line])


def _measure_cases(pictures: "Sequence[SetImage]", threads: int, seed: int) -> "list[DataTable]":
    """Hard cases, and exposures that differ."""
    from ..bursts import gains as study
    from ..bursts.gains import BRACKETS, brackets_table, measure_bracket

    hard = {name: partial(study.measure_case, name, pictures, 5.0, threads, seed) for name in study.CASES}
    wide = {f"exposures {each}": partial(measure_bracket, each, pictures, threads, seed) for each in BRACKETS}
    return [study.cases_table(run_all(hard)), brackets_table(run_all(wide))]
