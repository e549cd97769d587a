"""The command ``demosaic-ntc benchmark noise``: methods compared on noisy mosaics whose truth is known."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from demosaic_ntc.errors import InputError

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
from .options import parse_box

if TYPE_CHECKING:
    from evaluation.crops import CropBox
    from evaluation.datasets import PictureSet
    from evaluation.denoisers import Denoiser
    from evaluation.noise_benchmark import Job, Noise, Record
    from evaluation.noise_results import Reference, Store
    from evaluation.running import Refusal


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared on what, and with what beside it."""

    sets: list["PictureSet"]
    noises: list["Noise"]
    methods: list["Denoiser"]
    crop: int
    reference: "Reference"

    @property
    def protocol(self) -> dict[str, str]:
        """How the figures are made."""
        lines: dict[str, str] = evaluation("noise_tables").protocol(self.noises, self.methods, self.crop)
        return lines

    @property
    def jobs(self) -> list["Job"]:
        """All that is to be known in the end."""
        plan = evaluation("noise_benchmark").plan
        jobs: list[Job] = plan(self.sets, self.noises, self.methods, self.crop)
        return jobs


def noise(
    folders: o.Folders,
    sigma: o.Sigmas = "5,10,20",
    poisson: Annotated[
        bool, typer.Option("--poisson", help="Noise in proportion to the light, σ at half of white.")
    ] = False,
    methods: Annotated[
        str | None, typer.Option(help="Methods to compare.", show_default="ours, and chains of others")
    ] = None,
    box: Annotated[
        str | None,
        typer.Option(
            "--crop-box",
            parser=parse_box,
            metavar="LEFT,TOP,WIDTH,HEIGHT",
            help="Only this part of each picture.",
            show_default="128,128,192,192, or all of it where one is smaller",
        ),
    ] = None,
    images: o.Images = None,
    crop: o.Crop = 10,
    quality: o.Quality = "normal",
    threads: o.Threads = 1,
    json: o.Json = None,
    csv: o.Csv = None,
    reference: Annotated[
        Path | None,
        typer.Option(
            help="CSV file of set, image, sigma and a column per method, to show beside ours; without "
            "--images only its pictures are measured."
        ),
    ] = None,
) -> None:
    """Compare methods on noisy mosaics of pictures whose truth is known.

    An interrupted run prints what is finished; with --json the next one does only what is missing.
    """
    bound_libraries(threads)
    with usage():
        sigmas = chosen_sigmas(sigma)
        chosen = _chosen(methods, evaluation("demosaicers").Effort(quality, threads))
    check_targets(json, csv)
    results = evaluation("noise_results")
    figures: Reference = results.read_reference(reference) if reference else {}
    sets = _sets(folders, images, figures, crop)
    comparison = Comparison(sets, _noises(sets, sigmas, poisson, box), chosen, crop, figures)

    def publish(records: list["Record"], refusals: list["Refusal"]) -> None:
        if csv is not None:  # before anything is printed: whoever reads along may have stopped
            results.write_csv(csv, records, refusals)
        _report(comparison, records, refusals)

    store: Store = results.Store(json, comparison.protocol)
    measure_all(store, comparison.jobs, evaluation("noise_benchmark").run, _description, publish)


def chosen_sigmas(text: str) -> list[int]:
    """The deviations that were named, whole 255ths of white; what is none is wrong usage."""
    names = split_names(text)
    if not names or not all(name.isascii() and name.isdigit() and 1 <= int(name) <= 255 for name in names):
        raise InputError(f"{text!r} is not deviations in whole 255ths of white, 1 to 255; give e.g. 5,10,20")
    return [int(name) for name in names]


def _noises(sets: list["PictureSet"], sigmas: Iterable[int], poisson: bool, box: Any) -> list["Noise"]:
    """What is added to the mosaics, and to which part of the pictures."""
    module = evaluation("noise_benchmark")
    usual = evaluation("report_noise").usual_box(sets)
    part: CropBox | None = usual if box is None else evaluation("crops").CropBox(*box)
    return [module.Noise(sigma, poisson, part) for sigma in sigmas]


def _chosen(names: str | None, effort: object) -> list["Denoiser"]:
    """The methods that were named, or the usual ones."""
    module = evaluation("denoisers")
    wanted = module.DEFAULT if names is None else split_names(names)
    if not wanted:
        raise InputError("no method is named; leave --methods out for the usual ones")
    chosen: list[Denoiser] = module.select(wanted, effort)
    return chosen


def _sets(
    folders: Iterable[Path], images: str | None, reference: "Reference", crop: int
) -> list["PictureSet"]:
    """The sets in the folders or of the names given, or some pictures of each, large enough for the crop."""
    module, results = evaluation("datasets"), evaluation("noise_results")
    sets: list[PictureSet] = module.read_sets(found_folders(folders))
    if images is not None:
        sets = [module.numbered(each, images) for each in sets]
    elif reference:
        sets = [results.of_reference(each, reference) for each in sets]
    module.check_crop(sets, crop)
    return sets


def _description(job: "Job") -> str:
    """What is done, for the progress bar."""
    return f"{job.set}, {job.picture.name}, {job.noise.name}: {job.method.name}"


def _report(comparison: Comparison, records: list["Record"], refusals: list["Refusal"]) -> None:
    """Print what is finished."""
    from .text_tables import text_table

    console, tables = results_console(), evaluation("noise_tables")
    for each in comparison.sets:
        summaries = tables.summarise(
            each, comparison.noises, comparison.methods, records, refusals, comparison.reference
        )
        for table in (tables.mean_table(summaries), tables.estimate_table(summaries)):
            if table is not None:
                console.print(text_table(table))
        machines = [record.machine for record in records if record.set == each.name]
        conditions = tables.set_protocol(each, comparison.noises, comparison.crop, machines)
        for text in (conditions, *tables.findings(summaries)):
            console.print(text, markup=False)
    print_protocol(console, refusals, comparison.protocol)
