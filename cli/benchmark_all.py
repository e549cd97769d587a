"""The commands ``demosaic-ntc benchmark all`` and ``benchmark report``: everything measured, on one page."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from demosaic_ntc.errors import InputError

from . import benchmark_options as o
from .benchmark_noise import chosen_sigmas
from .benchmarking import bound_libraries, chosen_masks, found_folders, progress_bar, split_names, usage
from .measuring import evaluation

if TYPE_CHECKING:
    from evaluation.datasets import PictureSet
    from evaluation.report_demosaic import DemosaicPart
    from evaluation.report_errors import ErrorPart
    from evaluation.report_file import ReportFile
    from evaluation.report_inpaint import InpaintPart
    from evaluation.report_noise import NoisePart
    from evaluation.report_paper import PaperPart
    from evaluation.report_work import Work

PARTS = ("demosaic", "noise", "inpaint", "errors", "paper")


Output = Annotated[Path, typer.Option("--output", "-o", metavar="REPORT", help="The folder of the report.")]
Methods = Annotated[str | None, typer.Option(help="Demosaicing methods.", show_default="all of interest")]
Repairs = Annotated[str | None, typer.Option(help="Inpainting methods.", show_default="all of interest")]
Denoisers = Annotated[str | None, typer.Option(help="Methods for noise.", show_default="all of interest")]
Images = Annotated[
    str | None,
    typer.Option(
        metavar="1-8,23", help="Pictures of each set for inpainting.", show_default="the first eight"
    ),
]
Full = Annotated[bool, typer.Option("--full", help="Show whole pictures, in files beside the page.")]


def everything(
    folders: o.Folders,
    output: Output,
    parts: Annotated[str, typer.Option(help="What is measured.")] = ",".join(PARTS),
    methods: Methods = None,
    cfa: o.Array = "RGGB",
    crop: o.Crop = 10,
    limit: o.Limit = None,
    sigma: o.Sigmas = "5,10,20",
    denoisers: Denoisers = None,
    repairs: Repairs = None,
    masks: o.Masks = None,
    images: Images = None,
    tables: Annotated[str, typer.Option(help="Tables of the paper.")] = "1,2,3,4,noisy",
    rows: Annotated[str, typer.Option(help="Only these rows of the tables.")] = "",
    reps: Annotated[int, typer.Option(min=1, help="Repetitions of each row.")] = 3,
    threads: o.Threads = 1,
    full: Full = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget the results of earlier runs.")] = False,
) -> None:
    """Measure everything and write a report: a page, tables, plots and results.json.

    Results are kept as they come: an interrupted run writes what is finished, and the next one does only what
    is missing.
    """
    chosen = locals()  # every option by its name
    bound_libraries(threads)
    sets: list[PictureSet] = evaluation("datasets").read_sets(found_folders(folders), limit)
    with usage():
        wanted = _parts(chosen, sets)
    work = evaluation("report_work")
    if fresh:
        work.forget(output)
    file = work.opened(output, whole=full)
    try:
        _do([_work(file, name, part) for name, part in wanted.items()])
    finally:
        page = evaluation("report").write_report(output)
        typer.echo(str(page))


def report(folder: Annotated[Path, typer.Argument(metavar="REPORT", help="The folder of a report.")]) -> None:
    """Make the tables, plots and page of a report anew from its results.json; nothing is measured."""
    typer.echo(str(evaluation("report").write_report(folder)))


def _parts(options: Mapping[str, Any], sets: list["PictureSet"]) -> dict[str, Any]:
    """What is to be measured, all of it checked before any of it starts."""
    names = split_names(options["parts"])
    unknown = [name for name in names if name not in PARTS]
    if unknown or not names:
        raise InputError(f"there is no part {', '.join(unknown)!r}; choose from {', '.join(PARTS)}")
    makers: dict[str, Callable[[], Any]] = {
        "demosaic": lambda: _demosaic(options, sets),
        "noise": lambda: _noise(options, sets),
        "inpaint": lambda: _inpaint(options, sets),
        "errors": lambda: _errors(options, sets),
        "paper": lambda: _paper(options),
    }
    return {name: makers[name]() for name in names}


def _demosaic(options: Mapping[str, Any], sets: list["PictureSet"]) -> "DemosaicPart":
    """Demosaicing as the options have it."""
    from demosaic_ntc.imaging.cfa import Cfa

    module, methods = evaluation("report_demosaic"), evaluation("demosaicers")
    array = Cfa.parse(options["cfa"])
    usual = module.METHODS if array.is_bayer else methods.default_names(array)
    names = split_names(options["methods"] or "") or usual
    chosen = methods.select(names, methods.Effort(threads=options["threads"]))
    evaluation("datasets").check_crop(sets, options["crop"])
    part: DemosaicPart = module.DemosaicPart(tuple(sets), tuple(chosen), array, options["crop"])
    return part


def _noise(options: Mapping[str, Any], sets: list["PictureSet"]) -> "NoisePart":
    """Noisy mosaics as the options have it."""
    module, methods = evaluation("report_noise"), evaluation("denoisers")
    names = split_names(options["denoisers"] or "") or methods.DEFAULT
    chosen = methods.select(names, evaluation("demosaicers").Effort(threads=options["threads"]))
    some = tuple(module.some_of(each) for each in sets)
    evaluation("datasets").check_crop(some, options["crop"])
    noise, box = evaluation("noise_benchmark").Noise, module.usual_box(some)
    noises = tuple(noise(sigma, box=box) for sigma in chosen_sigmas(options["sigma"]))
    part: NoisePart = module.NoisePart(some, noises, tuple(chosen), options["crop"])
    return part


def _inpaint(options: Mapping[str, Any], sets: list["PictureSet"]) -> "InpaintPart":
    """Inpainting as the options have it."""
    module = evaluation("report_inpaint")
    names = split_names(options["repairs"] or "") or module.METHODS
    effort = evaluation("demosaicers").Effort(threads=options["threads"])
    masks = chosen_masks(options["masks"])
    methods = evaluation("inpainters").select(names, effort)
    chosen = [module.some_of(each, options["images"]) for each in sets]
    part: InpaintPart = module.InpaintPart(tuple(chosen), module.damages(chosen, masks), tuple(methods))
    return part


def _errors(options: Mapping[str, Any], sets: list["PictureSet"]) -> "ErrorPart":
    """Expected errors of demosaicing and inpainting, as the options have it."""
    from demosaic_ntc.imaging.cfa import Cfa

    module, benchmark = evaluation("report_errors"), evaluation("error_benchmark")
    effort = evaluation("demosaicers").Effort(threads=options["threads"])
    mosaics = benchmark.of_mosaics(Cfa.parse(options["cfa"]), effort)
    damages = (benchmark.of_damages(mask, effort) for mask in module.MASKS)
    evaluation("datasets").check_crop(sets, options["crop"])
    part: ErrorPart = module.ErrorPart(tuple(sets), (mosaics, *damages), options["crop"])
    return part


def _paper(options: Mapping[str, Any]) -> "PaperPart":
    """The paper's experiments as the options have it."""
    module, methods = evaluation("report_paper"), evaluation("methods")
    solver = methods.Solver()
    known = methods.catalogue(solver)
    experiments = evaluation("paper").select(split_names(options["tables"]), split_names(options["rows"]))
    chosen = tuple(known[name] for name in module.METHODS)
    part: PaperPart = module.PaperPart(tuple(experiments), chosen, tuple(range(options["reps"])), solver)
    return part


def _work(file: "ReportFile", name: str, part: Any) -> "Work":
    """What is still to be done of a part."""
    work: Work = getattr(evaluation("report_work"), f"{name}_work")(file, part)
    return work


def _do(works: Iterable["Work"]) -> None:
    """Do it, one step after the other."""
    works = list(works)
    with progress_bar(sum(work.total for work in works)) as advance:
        for work in works:
            for done in work.steps:
                advance(done, 1)
