"""The commands ``benchmark demosaic``, ``inpaint`` and so on: each measures a part, made of its options."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from demosaic_ntc.errors import InputError

from . import options as o
from .running import check_targets, limit_threads, measure, usage

if TYPE_CHECKING:
    from ..data.sets import ImageSet
    from ..measure.case import Row
    from ..measure.results import Results
    from ..measure.store import Store


def demosaic(
    folders: o.Folders,
    methods: Annotated[
        str | None, typer.Option(help="Methods to compare.", show_default="those that support the array")
    ] = None,
    cfa: o.Array = "RGGB",
    crop: o.Crop = 10,
    quality: o.Quality = "normal",
    limit: o.Limit = None,
    details: o.Details = False,
    threads: o.Threads = 1,
    json: o.Json = None,
    csv: o.Csv = None,
    reference: Annotated[
        Path | None, typer.Option(help="CSV file of figures to show beside ours, for RGGB.")
    ] = None,
) -> None:
    """Compare demosaicing methods on pictures whose truth is known.

    An interrupted run prints what is finished; with --json the next one does only what is missing.
    """
    limit_threads(threads)
    from demosaic_ntc.cfa import Cfa

    from ..data import reference as known

    with usage():
        array = Cfa.parse(cfa).name
        if reference is not None and array != known.CFA:
            words = f"references hold figures for {known.CFA}, not for {array}"
            raise InputError(f"{words}; leave --reference out")
    how = {"methods": methods, "cfa": cfa, "crop": crop, "quality": quality, "threads": threads}

    def refer(sets: "list[ImageSet]") -> "tuple[list[ImageSet], list[Row]]":
        return sets, known.select_sets(known.demosaic_reference(reference, crop), sets) if reference else []

    measure("demosaic", folders, how, json, csv, limit=limit, details=details, refer=refer)


def tensors(
    folders: o.Folders,
    methods: Annotated[
        str | None, typer.Option(help="Methods.", show_default="completions, and ours")
    ] = None,
    box: o.Boxed = None,
    crop: o.Crop = 10,
    quality: o.Quality = "normal",
    details: o.Details = False,
    threads: o.Threads = 1,
    json: o.Json = None,
    csv: o.Csv = None,
) -> None:
    """Compare completions of the plain tensor of a mosaic with ours, on 128×128 pixels of each picture.

    The tensor is height × width × 3, of which the colour array shows a third: by ALS, by SiLRTC and by our
    solver, which also completes it cut into blocks. With --json the next run does only what is missing.
    """
    how = {"methods": methods, "box": box, "crop": crop, "quality": quality, "threads": threads}
    measure("tensors", folders, how, json, csv, details=details)


def completions(
    folders: o.Folders,
    methods: Annotated[
        str | None,
        typer.Option(help="Completions of groups.", show_default="ours, ALS, SiLRTC, TNCP, HaLRTC, controls"),
    ] = None,
    pictures: Annotated[
        str | None,
        typer.Option(help="Demosaicing methods beside them.", show_default="bilinear, and ours"),
    ] = None,
    masks: o.Masks = None,
    groups: Annotated[int, typer.Option(min=1, help="Groups of each picture under the colour array.")] = 24,
    hole_groups: Annotated[int, typer.Option(min=1, help="Groups of each picture under each mask.")] = 4,
    box: Annotated[str | None, o.part("128,128,48,48, or all of it where one is smaller")] = None,
    images: o.Images = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the groups and masks.")] = 0,
    details: o.Details = False,
    json: o.Json = None,
    csv: o.Csv = None,
) -> None:
    """Compare completion methods on the same groups of patches: errors at unmeasured entries.

    Groups are formed as by the method ntc, in mosaics and around holes; --crop-box is the part of each
    picture that is demosaiced for comparison. With --json the next run does only what is missing.
    """
    how = {"methods": methods, "pictures": pictures, "masks": masks, "groups": groups}
    how |= {"hole_groups": hole_groups, "box": box, "seed": seed}
    measure("completions", folders, how, json, csv, images=images, details=details)


def inpaint(
    folders: o.Folders,
    masks: o.Masks = None,
    methods: Annotated[
        str | None,
        typer.Option(help="Methods to compare.", show_default="ours, what people use, and completions"),
    ] = None,
    box: o.Boxed = None,
    images: o.Images = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the masks.")] = 0,
    quality: o.Quality = "normal",
    details: o.Details = False,
    threads: o.Threads = 1,
    json: o.Json = None,
    csv: o.Csv = None,
) -> None:
    """Compare inpainting methods on pictures damaged by masks.

    An interrupted run prints what is finished; with --json the next one does only what is missing.
    """
    how = {"methods": methods, "masks": masks, "box": box, "seed": seed}
    how |= {"quality": quality, "threads": threads}
    measure("inpaint", folders, how, json, csv, images=images, details=details)


def noise(
    folders: o.Folders,
    sigma: o.Sigmas = "5,10,20",
    poisson: Annotated[
        bool, typer.Option("--poisson", help="Noise in proportion to the light, σ at half of white.")
    ] = False,
    methods: Annotated[
        str | None, typer.Option(help="Methods to compare.", show_default="ours, and chains of others")
    ] = None,
    box: o.NoisyPart = None,
    images: o.Images = None,
    crop: o.Crop = 10,
    quality: o.Quality = "normal",
    threads: o.Threads = 1,
    json: o.Json = None,
    csv: o.Csv = None,
    reference: o.NoiseReference = None,
) -> None:
    """Compare methods on noisy mosaics of pictures whose truth is known.

    An interrupted run prints what is finished; with --json the next one does only what is missing.
    """
    limit_threads(threads)
    from ..data.reference import select_noise

    how = {"methods": methods, "sigma": sigma, "poisson": poisson, "box": box, "crop": crop}
    how |= {"quality": quality, "threads": threads}
    refer = partial(select_noise, reference, narrowed=images is None, shown=not poisson)
    measure("noise", folders, how, json, csv, images=images, refer=refer)


def errors(
    folders: o.Folders,
    images: o.Images = None,
    cfa: o.Array = "RGGB",
    masks: Annotated[
        str | None,
        typer.Option(
            help="Also the errors of inpainting, under these masks, such as random:50.", show_default="none"
        ),
    ] = None,
    crop: o.Crop = 10,
    quality: o.Quality = "normal",
    threads: o.Threads = 1,
    json: o.Json = None,
) -> None:
    """Compare expected errors (--error-map) with true ones on pictures with known ground truth.

    The restored pixels of all pictures are sorted by their expected error into ten bins of equal size. An
    interrupted run prints what is finished; with --json the next one does only what is missing.
    """
    how = {"cfa": cfa, "masks": masks, "crop": crop, "quality": quality, "threads": threads}
    measure("errors", folders, how, json, images=images)


def speed(
    folders: o.Folders, qualities: o.Qualities = "fast,normal", images: o.Images = None, json: o.Json = None
) -> None:
    """Print what the stages of the engine cost on pictures: CPU seconds per megapixel on one thread.

    With --json the next run does only what is missing.
    """
    measure("speed", folders, {"qualities": qualities}, json, images=images)


def convert(
    raws: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RAW|DIR]...", help="Raws.", show_default="those of the test data"),
    ] = None,
    sizes: o.Sizes = "6,24,100",
    phone: Annotated[
        float | None,
        typer.Option(
            min=0, max=150, help="Megapixels of a raw as noisy as a phone's.", show_default="12 without raws"
        ),
    ] = None,
    programs: o.Programs = "demosaic-ntc,libraw-ahd,rawtherapee,darktable",
    method: Annotated[
        str, typer.Option(help="gaussian, ntc, or an interpolation such as bilinear.")
    ] = "gaussian",
    quality: Annotated[Literal["fast", "normal", "best"], typer.Option(help="Effort.")] = "normal",
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads.", show_default="all processors")
    ] = None,
    json: o.Json = None,
) -> None:
    """Convert raws, real and synthetic: CPU seconds by stage, time and peak memory, beside other programs."""
    from demosaic_ntc.machine import processors

    limit_threads(threads or processors())  # other programs, too, take as many as ours
    engine = {"method": method, "quality": quality, "threads": threads}
    phone = (0.0 if raws else 12.0) if phone is None else phone
    how = {"raws": raws, "sizes": sizes, "phone": phone, "programs": programs, "engine": engine}
    measure("convert", None, how, json)


def paper(
    table: Annotated[str, typer.Option(help="Tables of the paper, 1 to 4, or noisy.")] = "1,2,3,4",
    rows: Annotated[
        str, typer.Option(help="Only these rows: size in table 1, order in 2, samples in 3 and 4, or 10^6.")
    ] = "",
    reps: Annotated[int, typer.Option(min=1, help="Repetitions of each row.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first repetition.")] = 0,
    methods: Annotated[
        str, typer.Option(help="Methods to compare; mean always runs as a control.")
    ] = "ntc,ntc-least,ntc-auto,als,silrtc,tncp",
    oracles: Annotated[
        str, typer.Option(help="Instead of ntc methods, ntc with each of these: exact, gurobi, highs, …")
    ] = "",
    descents: Annotated[
        str, typer.Option(help="Instead of ntc methods, ntc with each of these: corrective, simplex.")
    ] = "",
    gap: Annotated[float, typer.Option(min=0.0, help="Certified gap at which our solver stops.")] = 1e-6,
    deadline: Annotated[
        float | None, typer.Option(min=0.0, help="Seconds our solver may take for one tensor.")
    ] = None,
    json: Annotated[
        Path | None, typer.Option(help="Keep everything in this file; an existing one is continued.")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write a line per repetition to this CSV file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the results (png, pdf or svg).")] = None,
) -> None:
    """Repeat the paper's experiments and print our results next to the published ones.

    An interrupted run prints and writes the repetitions that are finished; with --json the next one does only
    what is missing.
    """
    limit_threads(1)
    from ..measure.summary import keep_summaries
    from ..report.plots import check_format

    with usage():
        check_format(plot)
    check_targets(plot)

    def keep(results: "Results", store: "Store", failed: bool) -> None:
        keep_summaries(results, store, None if failed else plot)  # no drawing of which half is missing

    how: dict[str, Any] = {"tables": table, "rows": rows, "seeds": range(seed, seed + reps)}
    how |= {"methods": f"{methods},mean", "gap": gap, "deadline": deadline}
    how |= {"oracles": oracles, "descents": descents}
    measure("paper", None, how, json, csv, details=True, keep=keep)
