"""What a batch is asked to do: which files, what work, where results go, who does it, what is done again."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from demosaic_ntc.batch.job import Allowance, Job, Work
from demosaic_ntc.batch.naming import Naming
from demosaic_ntc.batch.plan import (
    MASK_ENDINGS,
    MOSAIC_SUFFIXES,
    PICTURE_SUFFIXES,
    RAW_SUFFIXES,
    Found,
    Search,
    mask_beside,
)
from demosaic_ntc.batch.records.report import DEFAULT_NAME, Report
from demosaic_ntc.batch.space import Expected
from demosaic_ntc.batch.work import Convert, Inpaint
from demosaic_ntc.errors import InputError
from demosaic_ntc.files.conversion import kernels_for
from demosaic_ntc.files.costs import REPAIR_COSTS, stage_costs
from demosaic_ntc.files.dng.linear_picture import check_dng
from demosaic_ntc.files.repair import RepairSettings
from demosaic_ntc.files.settings import Settings
from demosaic_ntc.imaging.kernels.examples import for_holes

FilePath = str | os.PathLike[str]
Sources = FilePath | Iterable[FilePath]


@dataclass(frozen=True, slots=True)
class Workers:
    """Who works on the files, and what one file may take."""

    jobs: int | None = None  # files at a time; as many as processors and memory allow if None
    threads: int | None = None  # of each; an even share of the processors if None
    timeout: float | None = 7200.0  # seconds
    memory: int | None = None  # bytes
    scheduler: str | None = None  # address or file of a Dask scheduler, whose workers do it instead

    @property
    def allowance(self) -> Allowance:
        """What a file may take."""
        return Allowance(self.timeout, self.memory)


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
class BatchTask:
    """The work on many files; `convert` and `repair` make one."""

    sources: tuple[Path, ...]  # files, folders, patterns
    works: Callable[[Path], Work]  # what is done to an input
    trial: Work  # what workers prepare for
    search: Search
    naming: Naming
    room: Callable[[Expected], int]  # bytes that the results take
    costs: Mapping[str, float]  # of the stages of the work, CPU seconds per megapixel
    kernels: frozenset[str]  # what most of it needs compiled
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

        ``sources`` are files, folders or patterns; ``name`` is the template of a result's name.
        """
        settings, suffix = settings or Settings(), f".{format}"
        bits = settings.output.depth(Path(f"any{suffix}"))
        check_dng(settings, Path(f"any{suffix}"))
        naming, work, cfa = Naming(Path(output), suffix, name), Convert(settings), settings.layout.cfa
        suffixes = RAW_SUFFIXES | (MOSAIC_SUFFIXES if cfa else frozenset())
        return cls(
            sources=_paths(sources),
            works=lambda source: work,
            trial=work,
            search=Search(suffixes, recursive, naming.output),
            naming=naming,
            room=lambda expected: expected.result_bytes(suffix, bits),
            costs=stage_costs(settings.engine.method, settings.engine.quality),
            kernels=kernels_for(settings, cfa is None or cfa.is_bayer),
            report=_report(report, naming),
            workers=workers or Workers(),
            rules=rules or Rules(),
        )

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
        naming = Naming(Path(output), format and f".{format}", name)
        masks = MASK_ENDINGS if settings.mask.needs_file else ()
        return cls(
            sources=_paths(sources),
            works=lambda source: Inpaint(settings, mask_beside(source) if masks else None),
            trial=Inpaint(settings, None),
            search=Search(PICTURE_SUFFIXES, recursive, naming.output, masks),
            naming=naming,
            room=lambda expected: expected.source_bytes,
            costs=REPAIR_COSTS,
            kernels=for_holes(settings.engine.method),
            report=_report(report, naming),
            workers=workers or Workers(),
            rules=rules or Rules(),
        )

    def job(self, found: Found, number: int) -> Job:
        """The job of an input that is the n-th of all."""
        target = self.naming.target(found.source, found.within, number)
        return Job(found.source, target, self.works(found.source), self.rules.overwrite)


def _paths(sources: Sources) -> tuple[Path, ...]:
    """One path or several."""
    if isinstance(sources, (str, os.PathLike)):
        return (Path(sources),)
    return tuple(Path(source) for source in sources)


def _report(path: FilePath | None, naming: Naming) -> Report:
    """Where the batch is put on record."""
    return Report(naming.output / DEFAULT_NAME if path is None else Path(path))
