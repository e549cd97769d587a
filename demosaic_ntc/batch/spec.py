"""What a batch is asked to do: which files, what work, where results go, who does it, what is done again."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from demosaic_ntc.batch.discovery import (
    MASK_ENDINGS,
    MOSAIC_SUFFIXES,
    PICTURE_SUFFIXES,
    RAW_SUFFIXES,
    FoundInput,
    InputSearch,
    mask_beside,
)
from demosaic_ntc.batch.job import Job, JobWork
from demosaic_ntc.batch.naming import Naming
from demosaic_ntc.batch.operations import Convert, Inpaint
from demosaic_ntc.batch.records.report import DEFAULT_NAME, Report
from demosaic_ntc.developing.repair_settings import RepairSettings
from demosaic_ntc.developing.settings import Settings
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.remote import Place, RemotePath, read_address
from demosaic_ntc.workflows.costs import estimate_results, find_repair_costs

FilePath = str | os.PathLike[str]
Sources = FilePath | Iterable[FilePath]

_OF_ONE_PROCESS = ("memory",)


@dataclass(frozen=True, slots=True)
class Workers:
    """Who works on the files, and what one file may take."""

    jobs: int | None = None  # files at a time; as many as processors and memory allow if None
    threads: int | None = None  # of each; an even share of the processors if None
    timeout: float | None = 7200.0  # seconds
    memory: int | None = None  # bytes
    scheduler: str | None = None  # address or file of a Dask scheduler, whose workers do it instead


@dataclass(frozen=True, slots=True)
class Rules:
    """What becomes of results that are there already; unless told otherwise they stay as they are."""

    overwrite: bool = False  # whatever is there is replaced
    resume: bool = False  # what a recorded run has done from other inputs or settings is done again
    overwrite_ours: bool = False  # everything is, but only what is still as a recorded run has left it

    @property
    def asks_the_report(self) -> bool:
        """Whether what earlier runs have recorded matters."""
        return self.resume or self.overwrite_ours


@dataclass(frozen=True, slots=True)
class BatchOperation:
    """What is done to every input, and what that takes."""

    works: Callable[[Place], JobWork]  # what is done to an input
    trial: JobWork  # what workers prepare for
    costs: Mapping[str, float]  # of the stages of the work, CPU seconds per megapixel
    bytes_per_pixel: float | None = None  # of results; None: they are as large as their inputs


@dataclass(frozen=True, slots=True)
class BatchTask:
    """The work on many files; `convert` and `repair` make one."""

    sources: tuple[Place, ...]  # files, folders, patterns
    kind: BatchOperation
    search: InputSearch
    naming: Naming
    report: Report
    workers: Workers = field(default_factory=Workers)
    rules: Rules = field(default_factory=Rules)

    @classmethod
    def convert(
        cls,
        sources: Sources,
        output: FilePath,
        settings: Settings | None = None,
        *,
        format: str = "png",
        name: str = "{stem}",
        recursive: bool = False,
        report: FilePath | None = None,
        workers: Workers | None = None,
        rules: Rules | None = None,
    ) -> "BatchTask":
        """Raws to finished pictures of a format, in a folder that is made where it is missing.

        ``sources`` are files, folders, patterns or addresses such as ``s3://bucket/shoot``; ``name`` is the
        template of a result's name.
        """
        settings, naming = settings or Settings(), Naming(_place(output), f".{format}", name)
        work, (costs, size) = Convert(settings), estimate_results(settings, format)
        suffixes = RAW_SUFFIXES | (MOSAIC_SUFFIXES if settings.layout.cfa else frozenset())
        kind = BatchOperation(lambda source: work, work, costs, size)
        search = InputSearch(suffixes, recursive, naming.output)
        return _task(sources, kind, search, naming, report, workers, rules)

    @classmethod
    def repair(
        cls,
        sources: Sources,
        output: FilePath,
        settings: RepairSettings | None = None,
        *,
        format: str | None = None,
        name: str = "{stem}",
        recursive: bool = False,
        report: FilePath | None = None,
        workers: Workers | None = None,
        rules: Rules | None = None,
    ) -> "BatchTask":
        """Pictures repaired, with ``photo.mask.png`` or ``photo_mask.png`` beside ``photo.png`` or as the
        settings say; without a format each keeps its own.
        """
        settings = settings or RepairSettings()
        if format == "dng":
            raise InputError("a DNG is made of raws only; choose another format")
        naming = Naming(_place(output), format and f".{format}", name)
        masks = MASK_ENDINGS if settings.mask.needs_file else ()
        kind = BatchOperation(
            works=lambda source: Inpaint(settings, mask_beside(source) if masks else None),
            trial=Inpaint(settings, None),
            costs=find_repair_costs(settings.fill),
        )
        search = InputSearch(PICTURE_SUFFIXES, recursive, naming.output, masks)
        return _task(sources, kind, search, naming, report, workers, rules)

    def job(self, found: FoundInput[Place], number: int) -> Job:
        """The job of an input that is the n-th of all."""
        target = self.naming.target(found.source, found.within, number)
        return Job(found.source, target, self.kind.works(found.source), self.rules.overwrite)


def _task(
    sources: Sources,
    kind: BatchOperation,
    search: InputSearch,
    naming: Naming,
    report: FilePath | None,
    workers: Workers | None,
    rules: Rules | None,
) -> BatchTask:
    """A task on one path or several; put on record among the results unless elsewhere."""
    paths = (sources,) if isinstance(sources, (str, os.PathLike)) else sources
    folder = naming.output if isinstance(naming.output, Path) else Path.cwd()
    record = folder / DEFAULT_NAME if report is None else _place(report)
    if not isinstance(record, Path):
        raise InputError(f"{record}: a report grows line by line, as no object can; give a file as `report`")
    places = tuple(map(_place, paths))
    return BatchTask(places, kind, search, naming, Report(record), workers or Workers(), rules or Rules())


def _place(given: FilePath) -> Place:
    """A path of this machine, or an address of storage beyond it."""
    place = read_address(given) if isinstance(given, str) and "://" in given else Path(given)
    if isinstance(place, RemotePath) and place.protocol in _OF_ONE_PROCESS:
        raise InputError(f"{place}: is seen by one process alone, and workers are others; give a folder")
    return place
