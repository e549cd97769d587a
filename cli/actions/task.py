"""What a command that works on many files was asked to do, from its options."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import typer

from demosaic_ntc.batch.task import BatchTask, Rules, Workers
from demosaic_ntc.errors import InputError

from ..flags import in_flags
from . import convert, inpaint


def conversion(sources: list[Path], options: Mapping[str, Any]) -> BatchTask:
    """The conversion of raws that the options describe; what makes no sense is wrong usage."""
    format = options["format"] or "png"
    settings = convert.settings_from({**options, "target": Path(f"any.{format}")})
    return _task(BatchTask.convert, sources, options, settings, format)


def repair(sources: list[Path], options: Mapping[str, Any]) -> BatchTask:
    """The repair of pictures, with masks beside them or a painted colour, that the options describe."""
    return _task(BatchTask.repair, sources, options, inpaint.settings_from(options), options["format"])


def _task(
    make: Callable[..., BatchTask],
    sources: list[Path],
    options: Mapping[str, Any],
    settings: object,
    format: str | None,
) -> BatchTask:
    """A task of some kind, or wrong usage."""
    gigabytes = options["memory"]
    workers = Workers(
        jobs=options["jobs"],
        threads=options["threads"],
        timeout=options["timeout"],
        memory=gigabytes and round(gigabytes * 1e9),
        scheduler=options["scheduler"],
    )
    rules = Rules(options["overwrite"], options["resume"], options["overwrite_ours"])
    try:
        return make(
            sources,
            options["output"],
            settings,
            format=format,
            name=options["name"],
            recursive=options["recursive"],
            report=options["report"],
            workers=workers,
            rules=rules,
        )
    except InputError as error:
        raise typer.BadParameter(in_flags(str(error))) from error
