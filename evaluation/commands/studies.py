"""The commands of ``benchmark`` that study one method by itself: what is found, seen, or taken."""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from demosaic_ntc.choices import Quality
from demosaic_ntc.errors import InputError, check_choice

from .. import read_numbers, split_names
from . import options as o
from .running import choose_sets, limit_threads, run_all, show, usage

if TYPE_CHECKING:
    from ..data.raws import Raw
    from ..data.sets import ImageSet


def _choose_inputs(given: list[Path] | None) -> "tuple[list[Raw], list[Path]]":
    """The raws among inputs, without any those of the test data, and the folders of pictures."""
    from ..data.raws import choose_raws

    files = [path for path in given or [] if path.is_file()]
    with usage():
        raws = choose_raws(files) if files or not given else []
    return raws, [path for path in given or [] if path not in files]


def defects(
    folders: o.CleanFolders = None,
    side: Annotated[int, typer.Option(min=64, help="Pixels along the generated scenes.")] = 1024,
    count: Annotated[int, typer.Option(min=1, help="Defects of each kind in a scene.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Seed of scenes, noise and defects.")] = 0,
) -> None:
    """Detect defective pixels among stars, vivid edges and texture, and count false alarms."""
    limit_threads(1)
    from ..data.scenes import SCENES
    from ..studies.defects import search_scene, search_set, tables

    sets = choose_sets(folders or [])
    scenes = run_all({name: partial(search_scene, name, side, count, seed) for name in SCENES})
    clean = run_all({each.name: partial(search_set, each) for each in sets})
    line = f"scenes of {side}×{side} pixels, {count} defects of each kind, seed {seed}; RGGB"
    show(tables(scenes, clean), [line])


def banding(
    folders: o.CleanFolders = None,
    raws: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Raws, or folders of them, without banding."),
    ] = None,
    strengths: Annotated[str, typer.Option(help="Deviations of the offsets, of 255.")] = "0.5,1,2",
    seed: Annotated[int, typer.Option(min=0, help="Seed of noise and offsets.")] = 0,
) -> None:
    """Look for row and column noise in clean mosaics, and remove offsets that were added to them."""
    limit_threads(1)
    from ..data.raws import real_raws
    from ..studies import banding as study

    sets, with_noise = choose_sets(folders or []), study.NOISES[1]
    with usage():
        opened = [study.open_raw(raw.make(Path())) for raw in real_raws(raws)] if raws else []
    mosaics = [mosaic for mosaic in opened if mosaic is not None]
    groups: dict[str, Callable[[], Iterable[study.CleanMosaic]]] = {
        each.name: partial(study.sample_set, each, "RGGB", with_noise, seed) for each in sets
    }
    if mosaics:
        groups["raws"] = partial(iter, mosaics)
    clean = {
        f"{each.name} {array} {noise[0]:g}": partial(study.search_clean, each, array, noise, seed)
        for each in sets
        for array in study.ARRAYS
        for noise in study.NOISES
    }
    removed = {
        f"{name} {strength} {axis}": partial(study.measure_removal, name, made, axis, float(strength), seed)
        for name, made in groups.items()
        for strength in split_names(strengths)
        for axis in (0, 1)
    }
    line = f"noise of variance a·x + b, removal at {with_noise[0]:g}, {with_noise[1]:g}; seed {seed}"
    show(study.tables(run_all(clean), run_all(removed)), [line])


def lenses(
    raws: Annotated[
        list[Path] | None, typer.Argument(metavar="[RAW...]", help="Raws that state their lens.")
    ] = None,
    quality: Annotated[Quality, typer.Option(help="Quality of their conversion.")] = "fast",
    peers: Annotated[bool, typer.Option("--peers", help="Compare their corners with darktable's.")] = False,
) -> None:
    """Measure how straight, sharp, free of fringes and even pictures are once their lens is corrected."""
    limit_threads(1)
    from ..studies import lenses as study

    edges = run_all({f"edge {blur:g}": partial(study.measure_edge, blur) for blur in study.BLURS})
    fringes = run_all({path.name: partial(study.measure_fringes, path, quality) for path in raws or []})
    corners = [study.compare_corners(path, quality) for path in raws or []] if peers else []
    lens, (height, width) = study.LENS.planes[1], study.SIZE
    line = f"made lens kr {lens[0]:g}, {lens[1]:g}, {lens[2]:g}, {width}×{height} pixels; raws at {quality}"
    show(study.tables(study.measure_grid(), edges, chain(*fringes), chain(*corners)), [line])


def widths(
    folders: o.Folders,
    sizes: Annotated[str, typer.Option("--widths", help="Pixels across the holes.")] = "2,4,8,16,24,32,48,64",
    images: o.Images = None,
    quality: o.Quality = "normal",
    threads: o.Threads = 1,
) -> None:
    """Restore square holes in 256×256 pixels (from 128, 128 on) of each picture: the error by their width."""
    limit_threads(threads)
    from ..methods.method import Effort
    from ..studies.widths import measure_width, width_table

    names, effort = split_names(sizes), Effort(quality, threads)
    with usage():
        if not names or not all(name.isdigit() and 1 <= int(name) <= 100 for name in names):
            raise InputError(f"{sizes!r} is not widths of 1 to 100 pixels; give e.g. 8,16,32")
    for each in choose_sets(folders, images):
        works = {f"{each.name}, {n}": partial(measure_width, each.pictures, int(n), effort) for n in names}
        line = f"{each.name}: {len(each.pictures)} pictures, quality {quality}"
        show([width_table(run_all(works))], [line])


def looks(
    raws: Annotated[list[Path], typer.Argument(metavar="RAW|DIR...", help="Raws of cameras.")],
) -> None:
    """Print the median brightness of raws in our looks, in the camera's own picture and by RawTherapee."""
    limit_threads(1)
    from ..data.raws import real_raws
    from ..studies.looks import look_table, measure

    with usage():
        sources = real_raws(raws)
    works = {f"{n} {raw.name}": partial(measure, raw.make(Path())) for n, raw in enumerate(sources)}
    show([look_table(run_all(works))])


def highlights(
    inputs: o.RawsOrFolders = None,
    images: o.Images = None,
    ways: Annotated[str | None, typer.Option(help="Only these ways, such as reconstruct,clip.")] = None,
    others: Annotated[
        bool, typer.Option("--others", help="Further scenes, on which nothing was chosen.")
    ] = False,
) -> None:
    """Clip pictures and parts of raws as sensors do and compare what becomes of their highlights.

    Without arguments Kodak, McMaster and the raws of the test data are taken; other programs where installed.
    """
    limit_threads(1)
    from ..data.highlights import make_other_scenes, make_scenes
    from ..methods.highlights import WAYS
    from ..studies.highlights import measure, tables

    names = split_names(ways) if ways else list(WAYS)
    with usage():
        if unknown := [name for name in names if name not in WAYS]:
            raise InputError(
                f"{unknown[0]!r} is not a way of treating highlights; give some of {', '.join(WAYS)}"
            )
    raws, folders = _choose_inputs(inputs)
    sets = choose_sets(folders if inputs else o.KNOWN_SETS, images)
    make = make_other_scenes if others else make_scenes
    scenes = list(make(sets, [raw.make(Path()) for raw in raws]))
    with usage():
        if not scenes:
            raise InputError("nothing is there to be clipped; give pictures below white, or raws of cameras")
    show(tables(run_all({each.name: partial(measure, each, names) for each in scenes})))


def texture(
    slopes: Annotated[
        str, typer.Option(help="Noise: the variance of samples is so many times the light.")
    ] = "0.0005,0.001",
    charts: Annotated[int, typer.Option(min=1, help="Charts, each drawn from a seed of its own.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    ways: Annotated[str | None, typer.Option(help="Only these ways, separated by semicolons.")] = None,
) -> None:
    """Develop noisy raws of a chart of leaves, skin, a weave, hair and flats: the texture and noise left.

    Other programs and packages are compared where installed.
    """
    limit_threads(1)
    from ..studies.textures import LEAST_NOISY, NOISIEST, WAYS, measure, tables

    names = [name.strip() for name in ways.split(";")] if ways else list(WAYS)
    with usage():
        otherwise = f"are not slopes above 0, up to {NOISIEST:g}; give e.g. 0.0005,0.001"
        levels = read_numbers(slopes, LEAST_NOISY, NOISIEST, otherwise)
        if unknown := [name for name in names if name not in WAYS]:
            raise InputError(f"{unknown[0]!r} is not a way; give some of {'; '.join(WAYS)}")
    works = {
        f"{level:g}, chart {number}": partial(measure, level, number, names)
        for level in levels
        for number in range(seed, seed + charts)
    }
    line = f"768×512 pixels, RGGB, variance a·x + a/1000 + 1e-7, seeds {seed} to {seed + charts - 1}"
    show(tables(run_all(works)), [line])


def effort(
    inputs: o.RawsOrFolders = None,
    sigma: Annotated[str, typer.Option(help="Noise of the pictures' mosaics, of 255.")] = "0,1.5,4",
    images: o.Images = None,
    quality: o.Quality = "normal",
) -> None:
    """Compare groups formed only where they matter with groups everywhere: difference, error and time.

    Without arguments the raws of the test data are taken.
    """
    limit_threads(1)
    from ..measure.metrics import PEAK
    from ..studies.effort import compare_noisy, compare_raw, tables

    with usage():
        levels = read_numbers(sigma, 0, PEAK, f"are not deviations from 0 to {PEAK:g}; give e.g. 0,1.5,4")
    raws, folders = _choose_inputs(inputs)
    with usage():
        if not (raws or inputs):
            raise InputError("there are no raws; give some, or folders of pictures")
    sets = choose_sets(folders, images)
    of_raws = {raw.name: partial(compare_raw, raw.make(Path()), quality) for raw in raws}
    of_noise = {
        f"{each.name}, σ {level:g}": partial(compare_noisy, each.name, each.pictures, level, quality)
        for each in sets
        for level in levels
    }
    show(tables(run_all(of_raws), run_all(of_noise)), [f"quality {quality}, one thread"])


_CHOSEN_ON = 12  # pictures of Kodak by which the parameters of the search were chosen


def blemishes(
    folders: o.Folders,
    sensitivity: Annotated[float, typer.Option(min=0.0, max=1.0, help="Sensitivity of the search.")] = 0.5,
    draws: Annotated[int, typer.Option(min=1, help="How often blemishes are drawn on each picture.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the blemishes.")] = 0,
) -> None:
    """Look for dust, hairs and scratches drawn on clean pictures, and for false alarms.

    Kodak's pictures are shown in two rows: parameters were chosen on the first twelve.
    """
    limit_threads(1)
    from ..studies.blemishes import search_pictures, table

    parts = [part for each in choose_sets(folders) for part in _halves(each)]
    seeds = range(seed, seed + draws)
    works = {each.name: partial(search_pictures, each.pictures, sensitivity, seeds) for each in parts}
    rows = zip(works, run_all(works), strict=True)
    show([table(list(rows))], [f"sensitivity {sensitivity:g}, {draws} draws, seed {seed}"])


def _halves(each: "ImageSet") -> "list[ImageSet]":
    """A set of pictures, or its two parts where parameters were chosen on the first."""
    from ..data.sets import ImageSet

    if each.name != "kodak":
        return [each]
    first, rest = each.pictures[:_CHOSEN_ON], each.pictures[_CHOSEN_ON:]
    named = {f"kodak 1–{_CHOSEN_ON}": first, f"kodak {_CHOSEN_ON + 1}–{len(each.pictures)}": rest}
    return [ImageSet(name, pictures) for name, pictures in named.items()]


def studio(
    megapixels: Annotated[float, typer.Option(min=0.1, max=140, help="Size of the picture.")] = 60.0,
    quality: o.Quality = "normal",
) -> None:
    """Open a generated 16-bit TIFF in the studio, mark one percent of it and repair it, in a real browser."""
    from ..studies.studio import measure_studio, studio_table

    show([studio_table(measure_studio(megapixels, quality))])


def start(
    runs: Annotated[int, typer.Option(min=1, help="How often everything is measured.")] = 3,
) -> None:
    """Print start-up times: without cached kernels, with them, and of --version and --help."""
    from ..studies.starting import measure_once, protocol, start_table

    rounds = run_all({f"round {n + 1}": measure_once for n in range(runs)})
    show([start_table(rounds)], protocol())


def isolation(
    raws: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Raws, or folders of them.")],
    times: Annotated[int, typer.Option(min=1, help="How often each is read.")] = 10,
    quality: Annotated[str, typer.Option(help="Quality of the conversions compared with.")] = "fast",
) -> None:
    """Print what decoding in a separate process costs, compared with a whole conversion."""
    limit_threads(1)
    from demosaic_ntc.engine.checks import QUALITIES

    from ..data.raws import real_raws
    from ..studies.isolation import cost_table, measure_raw, measure_start, protocol

    with usage():
        check_choice("quality", quality, QUALITIES)
        paths = [raw.make(Path()) for raw in real_raws(raws)]
    costs = run_all(
        {path.name: partial(measure_raw, path, times, cast("Quality", quality)) for path in paths}
    )
    show([cost_table(costs, measure_start(times))], protocol(times, quality))
