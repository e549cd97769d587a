"""The command ``demosaic-ntc benchmark demosaic``: methods compared on pictures whose truth is known."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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

if TYPE_CHECKING:
    from demosaic_ntc.imaging.cfa import Cfa
    from evaluation.datasets import PictureSet
    from evaluation.demosaic_benchmark import Job, Record
    from evaluation.demosaic_results import Store
    from evaluation.demosaicers import Demosaicer
    from evaluation.reference import Reference
    from evaluation.running import Refusal


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared on what, and with what beside it."""

    sets: list["PictureSet"]
    methods: list["Demosaicer"]
    cfa: "Cfa"
    crop: int
    reference: "Reference"

    @property
    def protocol(self) -> dict[str, str]:
        """How the figures are made."""
        lines: dict[str, str] = evaluation("demosaic_protocol").protocol(self.cfa, self.crop, self.methods)
        return lines

    @property
    def jobs(self) -> list["Job"]:
        """All that is to be known in the end."""
        jobs: list[Job] = evaluation("demosaic_benchmark").plan(self.sets, self.methods, self.cfa, self.crop)
        return jobs


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
    bound_libraries(threads)
    with usage():
        array = _array(cfa, reference)
        chosen = _chosen(methods, array, evaluation("demosaicers").Effort(quality, threads))
    check_targets(json, csv)
    comparison = Comparison(_sets(folders, limit, crop), chosen, array, crop, _reference(reference))
    results = evaluation("demosaic_results")

    def publish(records: list["Record"], refusals: list["Refusal"]) -> None:
        if csv is not None:  # before anything is printed: whoever reads along may have stopped
            results.write_csv(csv, records, refusals)
        _report(comparison, records, refusals, details=details)

    store: Store = results.Store(json, comparison.protocol)
    measure_all(store, comparison.jobs, evaluation("demosaic_benchmark").run, _description, publish)


def _array(name: str, reference: Path | None) -> "Cfa":
    """The colour array of that name; references are made for one of them."""
    from demosaic_ntc.imaging.cfa import Cfa

    array = Cfa.parse(name)
    known = evaluation("reference").CFA
    if reference is not None and array.name != known:
        raise InputError(f"references hold figures for {known}, not for {array.name}; leave --reference out")
    return array


def _chosen(names: str | None, cfa: "Cfa", effort: object) -> list["Demosaicer"]:
    """The methods that were named, or the usual ones for the array."""
    module = evaluation("demosaicers")
    wanted = module.default_names(cfa) if names is None else split_names(names)
    if not wanted:
        raise InputError("no method is named; leave --methods out for the usual ones")
    chosen: list[Demosaicer] = module.select(wanted, effort)
    return chosen


def _sets(folders: Iterable[Path], limit: int | None, crop: int) -> list["PictureSet"]:
    """The sets in the folders or of the names given, all pictures large enough for the crop."""
    module = evaluation("datasets")
    sets: list[PictureSet] = module.read_sets(found_folders(folders), limit)
    module.check_crop(sets, crop)
    return sets


def _reference(path: Path | None) -> "Reference":
    """The figures to show beside ours."""
    if path is None:
        return {}
    figures: Reference = evaluation("reference").read_reference(path)
    return figures


def _description(job: "Job") -> str:
    """What is done, for the progress bar."""
    return f"{job.set}, {job.picture.name}: {job.method.name}"


def _report(
    comparison: Comparison, records: list["Record"], refusals: list["Refusal"], *, details: bool
) -> None:
    """Print what is finished."""
    from .demosaic_tables import print_set

    console = results_console()
    summaries = evaluation("demosaic_summary").summarise(
        comparison.sets, comparison.methods, records, comparison.reference, comparison.crop, refusals
    )
    set_protocol = evaluation("demosaic_protocol").set_protocol
    for summary in summaries:
        machines = [record.machine for record in records if record.set == summary.set.name]
        conditions = set_protocol(summary.set, comparison.cfa, comparison.crop, machines)
        print_set(console, summary, comparison.crop, conditions, details=details)
    print_protocol(console, refusals, comparison.protocol)
