"""A watch asked for on the command line: every file that arrives becomes a job."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from demosaic_ntc.batch.watch import Arrivals, begin_watch, check_watched
from demosaic_ntc.errors import Clash

from ..flags import wrong_usage
from ..output.messages import print_note
from .task import task_from
from .work import work_shown


def watch_folder(folder: Path, options: Mapping[str, Any]) -> None:
    """Convert what appears in a folder until somebody stops it."""
    task = task_from([folder], options)
    with wrong_usage(Clash):
        check_watched(folder, task)
    how = {name: options[name] for name in ("settle", "existing", "poll")}
    arrivals = Arrivals(Path(os.path.abspath(folder)), task.search, **how)
    with begin_watch(task, arrivals, print_note) as begun:
        if not options["quiet"]:
            print_note(f"watching {folder}; Ctrl-C ends it")
        work_shown(begun, None, quiet=options["quiet"], verbose=options["verbose"])
