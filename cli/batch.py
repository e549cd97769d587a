"""The command ``demosaic-ntc batch``: many files, of which none can spoil another."""

from typing import Any

from . import batch_options as b
from .convert import convert
from .failures import explained
from .sharing import with_options_of


@with_options_of(convert, without=("source", "target", "json"))
def batch(
    sources: b.Sources,
    output: b.OutputFolder,
    recursive: b.Recursive = False,
    format: b.Format = "png",
    name: b.Name = "{stem}",
    report: b.Report = None,
    jobs: b.Jobs = None,
    timeout: b.Timeout = 7200.0,
    memory: b.Memory = None,
    scheduler: b.Scheduler = None,
    resume: b.Resume = False,
    dry_run: b.DryRun = False,
    **chosen: Any,
) -> None:
    """Turn many raw files into finished pictures, with every option of `convert`.

    Folders keep their structure. A damaged file is reported and costs no other; what was done stays done, and
    --resume goes on after an interruption.
    """
    options = {**chosen, **locals()}  # every option by its name
    with explained(debug=chosen["debug"], quiet=chosen["quiet"]):
        from .batching import batch_files

        batch_files(options)
