"""The command ``demosaic-ntc benchmark inpaint``: methods compared on pictures damaged by masks."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import benchmark_options as o
from .benchmarking import (
    bound_libraries,
    check_targets,
    chosen_masks,
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
    from evaluation.inpaint_benchmark import Damage, Job, Record
    from evaluation.inpaint_results import Store
    from evaluation.inpainters import Inpainter
    from evaluation.running import Refusal


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared on what."""

    sets: list["PictureSet"]
    damages: list["Damage"]
    methods: list["Inpainter"]

    @property
    def protocol(self) -> dict[str, str]:
        """How the figures are made."""
        lines: dict[str, str] = evaluation("inpaint_protocol").protocol(self.damages, self.methods)
        return lines

    @property
    def jobs(self) -> list["Job"]:
        """All that is to be known in the end."""
        jobs: list[Job] = evaluation("inpaint_benchmark").plan(self.sets, self.damages, self.methods)
        return jobs


def inpaint(
    folders: o.Folders,
    masks: o.Masks = None,
    methods: Annotated[
        str | None,
        typer.Option(help="Methods to compare.", show_default="ours and what people use"),
    ] = None,
    box: Annotated[
        str | None,
        typer.Option(
            "--crop-box",
            parser=parse_box,
            metavar="LEFT,TOP,WIDTH,HEIGHT",
            help="Only this part of each picture.",
            show_default="all of it",
        ),
    ] = None,
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
    bound_libraries(threads)
    with usage():
        damages = _damages(masks, seed, box)
        chosen = _chosen(methods, evaluation("demosaicers").Effort(quality, threads))
    check_targets(json, csv)
    comparison = Comparison(_sets(folders, images), damages, chosen)
    results = evaluation("inpaint_results")

    def publish(records: list["Record"], refusals: list["Refusal"]) -> None:
        if csv is not None:  # before anything is printed: whoever reads along may have stopped
            results.write_csv(csv, records, refusals)
        _report(comparison, records, refusals, details=details)

    store: Store = results.Store(json, comparison.protocol)
    measure_all(store, comparison.jobs, evaluation("inpaint_benchmark").run, _description, publish)


def _damages(masks: str | None, seed: int, box: Any) -> list["Damage"]:
    """What happens to the pictures."""
    names, module = chosen_masks(masks), evaluation("inpaint_benchmark")
    crop: CropBox | None = None if box is None else evaluation("crops").CropBox(*box)
    return [module.Damage(name, seed, crop) for name in names]


def _chosen(names: str | None, effort: object) -> list["Inpainter"]:
    """The methods that were named, or the usual ones."""
    module = evaluation("inpainters")
    chosen: list[Inpainter] = module.select(module.DEFAULT if names is None else split_names(names), effort)
    return chosen


def _sets(folders: Iterable[Path], images: str | None) -> list["PictureSet"]:
    """The sets in the folders or of the names given, or some pictures of each."""
    module = evaluation("datasets")
    sets: list[PictureSet] = module.read_sets(found_folders(folders))
    return sets if images is None else [module.numbered(each, images) for each in sets]


def _description(job: "Job") -> str:
    """What is done, for the progress bar."""
    return f"{job.set}, {job.picture.name}, {job.damage.mask}: {job.method.name}"


def _report(
    comparison: Comparison, records: list["Record"], refusals: list["Refusal"], *, details: bool
) -> None:
    """Print what is finished."""
    from .text_tables import text_table

    console, tables = results_console(), evaluation("inpaint_tables")
    masks = [damage.mask for damage in comparison.damages]
    for each in comparison.sets:
        summaries = evaluation("inpaint_summary").summarise(
            each, masks, comparison.methods, records, refusals
        )
        shown = [*map(tables.detail_table, summaries)] if details else []
        for table in (*shown, *tables.mean_tables(summaries), tables.gain_table(summaries)):
            if table is not None:
                console.print(text_table(table))
        machines = [record.machine for record in records if record.set == each.name]
        conditions = evaluation("inpaint_protocol").set_protocol(each, comparison.damages, machines)
        for text in (conditions, *tables.gaps_in(summaries)):
            console.print(text, markup=False)
    print_protocol(console, refusals, comparison.protocol)
