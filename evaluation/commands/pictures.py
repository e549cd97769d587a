"""The commands ``benchmark demosaic``, ``inpaint``, ``noise`` and ``errors``: methods on known pictures."""

from pathlib import Path
from typing import Annotated, Any

import typer

from demosaic_ntc.errors import InputError

from . import options as o
from . import parts
from .running import check_targets, chosen_sets, chosen_sigmas, measure_and_show, prepared, split_names, usage


def demosaic(
    folders: o.Folders,
    methods: Annotated[
        str | None, typer.Option(help="Methods to compare.", show_default="those that know the array")
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
    prepared(threads)
    from demosaic_ntc.imaging.cfa import Cfa

    from ..data import reference as known
    from ..methods.method import Effort

    effort = Effort(quality, threads)
    with usage():
        array = Cfa.parse(cfa).name
        if reference is not None and array != known.CFA:
            words = f"references hold figures for {known.CFA}, not for {array}"
            raise InputError(f"{words}; leave --reference out")
        parts.demosaic_part((), methods, cfa, crop, effort)
    check_targets(json, csv)
    sets = chosen_sets(folders, limit=limit)
    part = parts.demosaic_part(sets, methods, cfa, crop, effort)
    more = known.in_sets(known.demosaic_reference(reference, crop), sets) if reference else ()
    measure_and_show(part, json, csv, details=details, more=more)


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
    prepared(threads)
    from ..methods.method import Effort

    place: Any = box
    effort = Effort(quality, threads)
    with usage():
        parts.tensors_part((), methods, crop, effort, place)
    check_targets(json, csv)
    measure_and_show(
        parts.tensors_part(chosen_sets(folders), methods, crop, effort, place), json, csv, details=details
    )


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
    prepared(threads)
    from ..methods.method import Effort

    how: dict[str, Any] = {"seed": seed, "box": box}
    effort = Effort(quality, threads)
    with usage():
        parts.inpaint_part((), methods, masks, effort, **how)
    check_targets(json, csv)
    part = parts.inpaint_part(chosen_sets(folders, images), methods, masks, effort, **how)
    measure_and_show(part, json, csv, details=details)


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
    prepared(threads)
    from ..data.reference import in_sets, noise_reference, of_reference
    from ..methods.denoisers import DEFAULT, catalogue
    from ..methods.method import Effort, picked

    place: Any = box
    effort = Effort(quality, threads)
    with usage():
        chosen_sigmas(sigma)
        picked(catalogue(effort), DEFAULT if methods is None else split_names(methods))
    check_targets(json, csv)
    figures = noise_reference(reference) if reference else []
    sets = chosen_sets(folders, images)
    if figures and images is None:
        sets = [of_reference(each, figures) for each in sets]
    part = parts.noise_part(sets, methods, sigma, crop, effort, poisson=poisson, box=place)
    measure_and_show(part, json, csv, more=() if poisson else in_sets(figures, sets))


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
    """Compare the errors that ntc expects with the true ones on pictures whose truth is known.

    Restored pixels of all pictures together are sorted by their expected error into ten bins of one size. An
    interrupted run prints what is finished; with --json the next one does only what is missing.
    """
    prepared(threads)
    from ..methods.method import Effort

    effort = Effort(quality, threads)
    with usage():
        parts.errors_part((), cfa, masks, crop, effort)
    check_targets(json)
    measure_and_show(parts.errors_part(chosen_sets(folders, images), cfa, masks, crop, effort), json)
