"""The command ``demosaic-ntc benchmark errors``: expected errors beside true ones."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import benchmark_options as o
from .benchmarking import (
    bound_libraries,
    check_targets,
    found_folders,
    measure_all,
    print_protocol,
    results_console,
    split_names,
    usage,
)
from .measuring import evaluation

if TYPE_CHECKING:
    from evaluation.datasets import PictureSet
    from evaluation.error_benchmark import Estimator, Job, Record
    from evaluation.error_results import Store
    from evaluation.running import Refusal

Masks = Annotated[
    str | None,
    typer.Option(
        help="Also the errors of inpainting, under these masks, such as random:50.", show_default="none"
    ),
]


def errors(
    folders: o.Folders,
    images: o.Images = None,
    cfa: o.Array = "RGGB",
    masks: Masks = None,
    crop: o.Crop = 10,
    quality: o.Quality = "normal",
    threads: o.Threads = 1,
    json: o.Json = None,
) -> None:
    """Compare the errors that ntc expects with the true ones on pictures whose truth is known.

    Restored pixels of all pictures together are sorted by their expected error into ten bins of one size. An
    interrupted run prints what is finished; with --json the next one does only what is missing.
    """
    bound_libraries(threads)
    with usage():
        methods = _methods(cfa, masks, evaluation("demosaicers").Effort(quality, threads))
    check_targets(json)
    sets = _sets(folders, images, crop)
    benchmark, tables = evaluation("error_benchmark"), evaluation("error_tables")
    protocol: dict[str, str] = tables.protocol(methods, crop)
    jobs: list[Job] = benchmark.plan(sets, methods, crop)

    def publish(records: list["Record"], refusals: list["Refusal"]) -> None:
        from .text_tables import text_table

        console = results_console()
        for found in tables.calibrations(records, methods, sum(len(each.pictures) for each in sets)):
            console.print(text_table(tables.calibration_table(found)))
            console.print(tables.conclusion(found), markup=False)
        print_protocol(console, refusals, protocol)

    store: Store = evaluation("error_results").Store(json, protocol)
    measure_all(store, jobs, benchmark.run, _description, publish)


def _methods(cfa: str, masks: str | None, effort: object) -> list["Estimator"]:
    """Demosaicing, and inpainting under each mask that is named."""
    from demosaic_ntc.imaging.cfa import Cfa

    module = evaluation("error_benchmark")
    mosaics: Estimator = module.of_mosaics(Cfa.parse(cfa), effort)
    return [mosaics, *(module.of_damages(mask, effort) for mask in split_names(masks or ""))]


def _sets(folders: Iterable[Path], images: str | None, crop: int) -> list["PictureSet"]:
    """The sets in the folders or of the names given, or some pictures of each, large enough for the crop."""
    module = evaluation("datasets")
    sets: list[PictureSet] = module.read_sets(found_folders(folders))
    chosen = sets if images is None else [module.numbered(each, images) for each in sets]
    module.check_crop(chosen, crop)
    return chosen


def _description(job: "Job") -> str:
    """What is done, for the progress bar."""
    return f"{job.set}, {job.picture.name}: {job.method.task}"
