"""What a command that works on many files was asked to do."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from demosaic_ntc.batch.job import Allowance, Job, Work
from demosaic_ntc.batch.plan import MOSAIC_SUFFIXES, RAW_SUFFIXES, Found, Naming, Search
from demosaic_ntc.batch.report import DEFAULT_NAME, Report
from demosaic_ntc.batch.work import Convert
from demosaic_ntc.errors import InputError

from .converting import settings_from
from .costs import stage_costs
from .telling import COMPILED_METHODS


@dataclass(frozen=True, slots=True)
class Assignment:
    """The work, the places it goes from and to, and its limits."""

    work: Work
    search: Search
    naming: Naming
    report: Report
    allowance: Allowance
    bits: int  # per channel of the results
    costs: Mapping[str, float]  # of the stages of the work
    compiles: bool  # whether the work takes long to compile
    options: Mapping[str, Any]

    def job(self, found: Found) -> Job:
        """The job of an input."""
        return Job(found.source, self.naming.target(found), self.work, self.options["overwrite"])


def conversion(options: Mapping[str, Any]) -> Assignment:
    """The conversion of raws that the options describe; what makes no sense is wrong usage."""
    suffix = f".{options['format']}"
    settings = settings_from({**options, "target": Path(f"any{suffix}")})
    naming = _naming(options, suffix)
    suffixes = RAW_SUFFIXES | (MOSAIC_SUFFIXES if options["cfa"] else frozenset())
    return Assignment(
        work=Convert(settings),
        search=Search(suffixes, options["recursive"], naming.output),
        naming=naming,
        report=Report(options["report"] or naming.output / DEFAULT_NAME),
        allowance=Allowance(options["timeout"], options["memory"] and round(options["memory"] * 1e9)),
        bits=settings.output.depth(Path(f"any{suffix}")),
        costs=stage_costs(settings.engine.method, settings.engine.quality),
        compiles=settings.engine.method in COMPILED_METHODS,
        options=options,
    )


def _naming(options: Mapping[str, Any], suffix: str) -> Naming:
    """Where results go, or wrong usage."""
    try:
        return Naming(options["output"], suffix, options["name"])
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint="--name") from error
