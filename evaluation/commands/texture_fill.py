"""The command ``benchmark texture-fill``: how wide holes are filled, by us and by others."""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from demosaic_ntc.errors import InputError

from .. import split_names
from . import options as o
from .running import choose_sets, limit_threads, run_all, show, usage

_TEXTURE_WIDTH = 80  # pixels across the holes of made textures


def texture_fill(
    folders: o.MaybeFolders = None,
    sizes: Annotated[str, typer.Option("--widths", help="Pixels across square holes.")] = "20,40,80,160",
    images: o.Images = None,
    removals: Annotated[
        Literal["choose", "report", "none"],
        typer.Option(help="Drawn removals: those for choosing settings, or those kept for reporting."),
    ] = "report",
    methods: Annotated[str | None, typer.Option(help="Only these ways, such as texture,smooth.")] = None,
    page: Annotated[Path | None, typer.Option(metavar="DIR", help="Write removals side by side.")] = None,
    blind: Annotated[bool, typer.Option("--blind", help="Shuffle the page and hide names.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of holes, textures and shuffling.")] = 0,
    quality: o.Quality = "normal",
    threads: o.Threads = 1,
) -> None:
    """Fill wide holes with texture, smoothly and by other programs; compare by figures and by eye.

    Without arguments Kodak and McMaster are taken. OpenCV's SHIFTMAP and FSR need its contrib package, G'MIC
    its program; what is not installed is left out.
    """
    limit_threads(threads)
    from ..data.removals import cut_square, make_textures, read_removals
    from ..methods.method import Effort, pick_methods
    from ..report.vote_page import write_vote_page
    from ..studies import texture_fill as study
    from ..studies.texture_fill import catalogue

    known, widths = catalogue(Effort(quality, threads)), split_names(sizes)
    with usage():
        chosen = pick_methods(known, split_names(methods) if methods else known)
        if not all(width.isdigit() and 8 <= int(width) <= 200 for width in widths):
            raise InputError(f"{sizes!r} is not widths of 8 to 200 pixels; give e.g. 40,80")
    sets = choose_sets(folders or o.KNOWN_SETS, images)
    pictures = [picture for each in sets for picture in each.pictures]
    holes = {f"{n} px": [cut_square(picture, int(n), seed) for picture in pictures] for n in widths}
    holes |= {each.name: [each] for each in make_textures(_TEXTURE_WIDTH, seed)}
    holes[study.REMOVALS] = list(read_removals(sets, removals))
    keys = [(name, method) for name in holes for method in chosen if holes[name]]
    works = {f"{name}, {method.name}": partial(study.fill, method, holes[name]) for name, method in keys}
    done = dict(zip(((name, method.name) for name, method in keys), run_all(works), strict=True))
    errors = [study.measure_errors(f"{n} px", holes[f"{n} px"], quality, threads) for n in widths]
    show(study.tables(done, errors), [f"{method.name}: {method.settings}" for method in chosen])
    if page is not None and holes[study.REMOVALS]:
        fills = {name: done[study.REMOVALS, name] for name in (method.name for method in chosen)}
        typer.echo(str(write_vote_page(page, study.rows_by_hole(fills), seed if blind else None)))
