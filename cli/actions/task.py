"""What a command that works on many files was asked to do, from its options."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from demosaic_ntc.batch.spec import BatchTask, Rules, Workers
from demosaic_ntc.errors import InputError

from ..flags import wrong_usage
from . import convert, inpaint

_SAME_NAMES = ("output", "name", "recursive", "report")


def task_from(sources: list[Path], options: Mapping[str, Any]) -> BatchTask:
    """The work on all files that the options describe; what makes no sense is wrong usage."""
    of_workers = {name: options[name] for name in ("jobs", "threads", "timeout", "scheduler")}
    gigabytes = options["memory"]
    where = {name: options[name] for name in _SAME_NAMES} | {
        "workers": Workers(memory=gigabytes and round(gigabytes * 1e9), **of_workers),
        "rules": Rules(options["overwrite"], options["resume"], options["overwrite_ours"]),
    }
    with wrong_usage(InputError):
        if options["inpainting"]:
            pictures = inpaint.settings_from(options)
            return BatchTask.repair(sources, settings=pictures, format=options["format"], **where)
        raws, format = convert.settings_from(options), options["format"] or "png"
        return BatchTask.convert(sources, settings=raws, format=format, **where)
