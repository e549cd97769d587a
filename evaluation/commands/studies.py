"""The commands of ``benchmark`` that study one method by itself: what is found, seen, or taken."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from demosaic_ntc.errors import InputError

from . import options as o
from .running import chosen_sets, prepared, progress_bar, show, split_names, usage


def defects(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[DIR|SET...]", help="Clean 8-bit RGB pictures, or kodak and mcmaster."),
    ] = None,
    side: Annotated[int, typer.Option(min=64, help="Pixels along the generated scenes.")] = 1024,
    count: Annotated[int, typer.Option(min=1, help="Defects of each kind in a scene.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Seed of scenes, noise and defects.")] = 0,
) -> None:
    """Look for pixels spoilt among stars, vivid edges and texture, and for false alarms in clean pictures."""
    prepared(1)
    from ..data.scenes import SCENES
    from ..report.studies import clean_table, scene_table
    from ..studies.defects import search_scene, search_set

    sets, scenes, clean = chosen_sets(folders or []), [], []
    with progress_bar(len(SCENES) + len(sets)) as advance:
        for name in SCENES:
            scenes.append(search_scene(name, side, count, seed))
            advance(name)
        for each in sets:
            clean.append(search_set(each))
            advance(each.name)
    line = f"scenes of {side}×{side} pixels, {count} defects of each kind, seed {seed}; RGGB"
    show([scene_table(scenes), *([clean_table(clean)] if clean else [])], [line])


def widths(
    folders: o.Folders,
    sizes: Annotated[str, typer.Option("--widths", help="Pixels across the holes.")] = "2,4,8,16,24,32,48,64",
    images: o.Images = None,
    quality: o.Quality = "normal",
    threads: o.Threads = 1,
) -> None:
    """Restore square holes in 256×256 pixels (from 128, 128 on) of each picture: the error by their width."""
    prepared(threads)
    from ..data.crops import CropBox
    from ..methods.method import Effort
    from ..report.studies import width_table
    from ..studies.widths import measure_width

    with usage():
        chosen = _widths(sizes)
    box, effort = CropBox(128, 128, 256, 256), Effort(quality, threads)
    for each in chosen_sets(folders, images):
        results = []
        with progress_bar(len(chosen)) as advance:
            for width in chosen:
                results.append(measure_width(each.pictures, box, width, effort))
                advance(f"{each.name}, {width}")
        line = f"{each.name}: {len(each.pictures)} pictures, quality {quality}"
        show([width_table(results)], [line])


def _widths(text: str) -> list[int]:
    """Widths in pixels."""
    names = split_names(text)
    if not names or not all(name.isdigit() and 1 <= int(name) <= 100 for name in names):
        raise InputError(f"{text!r} is not widths of 1 to 100 pixels; give e.g. 8,16,32")
    return [int(name) for name in names]


def looks(
    raws: Annotated[list[Path], typer.Argument(metavar="RAW|DIR...", help="Raws of cameras.")],
) -> None:
    """Print the median brightness of raws in our looks, in the camera's own picture and by RawTherapee."""
    prepared(1)
    from ..data.raws import real_raws
    from ..report.studies import look_table
    from ..studies.looks import measured

    with usage():
        sources = real_raws(raws)
    found = []
    with progress_bar(len(sources)) as advance:
        for source in sources:
            found.append(measured(source.make(Path())))
            advance(source.name)
    show([look_table(found)])


_CHOSEN_ON = 12  # pictures of Kodak by which the parameters of the search were chosen


def blemishes(
    folders: o.Folders,
    sensitivity: Annotated[float, typer.Option(min=0.0, max=1.0, help="Of the search.")] = 0.5,
    draws: Annotated[int, typer.Option(min=1, help="Times that blemishes are drawn on each picture.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the blemishes.")] = 0,
) -> None:
    """Look for dust, hairs and scratches drawn on clean pictures, and for false alarms.

    Kodak's pictures are shown in two rows: parameters were chosen on the first twelve.
    """
    prepared(1)
    from ..report.studies import blemish_table
    from ..studies.blemishes import search_pictures

    sets, rows, seeds = chosen_sets(folders), [], range(seed, seed + draws)
    with progress_bar(sum(len(each.pictures) for each in sets) * draws) as advance:
        for each in sets:
            for name, pictures in _halves(each.name, each.pictures):
                searches = []
                for found in search_pictures(pictures, sensitivity, seeds):
                    searches.append(found)
                    advance(name)
                rows.append((name, searches))
    line = f"sensitivity {sensitivity:g}, {draws} draws, seed {seed}"
    show([blemish_table(rows)], [line])


def _halves(name: str, pictures: Sequence[Any]) -> list[tuple[str, Sequence[Any]]]:
    """A set of pictures, or its two parts where parameters were chosen on the first."""
    if name != "kodak":
        return [(name, pictures)]
    first, rest = pictures[:_CHOSEN_ON], pictures[_CHOSEN_ON:]
    return [(f"kodak 1–{_CHOSEN_ON}", first), (f"kodak {_CHOSEN_ON + 1}–{len(pictures)}", rest)]


def studio(
    megapixels: Annotated[float, typer.Option(min=0.1, max=140, help="Size of the picture.")] = 60.0,
    quality: o.Quality = "normal",
) -> None:
    """Open a generated 16-bit TIFF in the studio, mark a percent of it and repair it, in a real browser."""
    from ..report.studies import studio_table
    from ..studies.studio import measure_studio

    show([studio_table(measure_studio(megapixels, quality))])
