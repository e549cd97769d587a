"""What a command that works on many files was asked to do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from demosaic_ntc.batch.job import Allowance, Job, Work
from demosaic_ntc.batch.plan import (
    MASK_ENDINGS,
    MOSAIC_SUFFIXES,
    PICTURE_SUFFIXES,
    RAW_SUFFIXES,
    Found,
    Naming,
    Search,
    mask_beside,
)
from demosaic_ntc.batch.report import DEFAULT_NAME, Report
from demosaic_ntc.batch.space import Expected
from demosaic_ntc.batch.work import Convert, Inpaint
from demosaic_ntc.errors import InputError
from demosaic_ntc.imaging.kernels.examples import for_holes, for_mosaics

from . import converting, inpainting
from .costs import REPAIR_COSTS, stage_costs


@dataclass(frozen=True, slots=True)
class Assignment:
    """The work, the places it goes from and to, and its limits."""

    works: Callable[[Path], Work]  # what is done to an input
    trial: Work  # what workers prepare for
    search: Search
    naming: Naming
    room: Callable[[Expected], int]  # bytes that the results take
    costs: Mapping[str, float]  # of the stages of the work
    kernels: frozenset[str]  # what most of it needs compiled
    options: Mapping[str, Any]

    @property
    def report(self) -> Report:
        """Where it is put on record."""
        return Report(self.options["report"] or self.naming.output / DEFAULT_NAME)

    @property
    def allowance(self) -> Allowance:
        """What a file may take."""
        gigabytes = self.options["memory"]
        return Allowance(self.options["timeout"], gigabytes and round(gigabytes * 1e9))

    def job(self, found: Found) -> Job:
        """The job of an input."""
        work = self.works(found.source)
        return Job(found.source, self.naming.target(found), work, self.options["overwrite"])


def conversion(options: Mapping[str, Any]) -> Assignment:
    """The conversion of raws that the options describe; what makes no sense is wrong usage."""
    suffix = f".{options['format'] or 'png'}"
    settings = converting.settings_from({**options, "target": Path(f"any{suffix}")})
    naming, work, cfa = _naming(options, suffix), Convert(settings), settings.layout.cfa
    bits = settings.output.depth(Path(f"any{suffix}"))
    suffixes = RAW_SUFFIXES | (MOSAIC_SUFFIXES if options["cfa"] else frozenset())
    return Assignment(
        works=lambda source: work,
        trial=work,
        search=Search(suffixes, options["recursive"], naming.output),
        naming=naming,
        room=lambda expected: expected.result_bytes(suffix, bits),
        costs=stage_costs(settings.engine.method, settings.engine.quality),
        kernels=for_mosaics(settings.engine.method, cfa is None or cfa.is_bayer),
        options=options,
    )


def repair(options: Mapping[str, Any]) -> Assignment:
    """The repair of pictures, with masks beside them or a painted colour, that the options describe."""
    settings = inpainting.settings_from(options)
    naming = _naming(options, options["format"] and f".{options['format']}")
    masks = MASK_ENDINGS if settings.mask.colour is None else ()
    return Assignment(
        works=lambda source: Inpaint(settings, mask_beside(source) if masks else None),
        trial=Inpaint(settings, None),
        search=Search(PICTURE_SUFFIXES, options["recursive"], naming.output, masks),
        naming=naming,
        room=lambda expected: expected.source_bytes,
        costs=REPAIR_COSTS,
        kernels=for_holes(settings.engine.method),
        options=options,
    )


def _naming(options: Mapping[str, Any], suffix: str | None) -> Naming:
    """Where results go, or wrong usage."""
    try:
        return Naming(options["output"], suffix, options["name"])
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint="--name") from error
