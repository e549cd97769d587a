"""What a run has published and not yet put on record: results of a run that was killed, known to be its own.

A run that is killed between giving a picture its name and recording it leaves a picture that no record
explains. A file of begun outputs tells what that picture is known by. It lies beside the report and is
removed when nothing is left open.
"""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from demosaic_ntc.batch.job import Job, Published, Result, result_from
from demosaic_ntc.io.atomic import is_abandoned, owner, refusals_explained


class PendingOutputs:
    """The results that this run has published."""

    def __init__(self, report: Path) -> None:
        self._report = report
        self._prefix = f".{report.name[:100]}-"  # of the names of these files, beside the report
        self._path = report.with_name(f"{self._prefix}{owner()}.begun")
        self._adopted: list[Path] = []

    def publish(self, job: Job, result: Result) -> None:
        """Note a job's result before it can appear."""
        line = json.dumps({"input": str(job.source), "output": str(job.target), "result": asdict(result)})
        with refusals_explained(self._path), open(self._path, "a", encoding="ascii") as file:
            file.write(line + "\n")

    def adopt(self) -> dict[str, Published]:
        """What dead runs have published, by place; their files are this run's to remove from now on."""
        self._adopted = list(self._find_dead_runs())
        return {output: made for path in self._adopted for output, made in _read_published(path)}

    def close(self) -> None:
        """Forget everything: the report has it all."""
        for path in (self._path, *self._adopted):
            with suppress(OSError):  # a disk that is gone took it along
                path.unlink(missing_ok=True)

    def _find_dead_runs(self) -> Iterator[Path]:
        """The files of runs that were killed."""
        prefix = self._prefix
        with suppress(OSError):
            for name in sorted(os.listdir(self._report.parent)):
                writer = name.removeprefix(prefix).removesuffix(".begun")
                path = self._report.with_name(name)
                if name == f"{prefix}{writer}.begun" and is_abandoned(path, writer):
                    yield path


def _read_published(path: Path) -> Iterator[tuple[str, Published]]:
    """The results that such a file names; its last line may be unfinished, any may be damaged."""
    with suppress(OSError):
        for line in path.read_text(encoding="ascii", errors="replace").splitlines():
            with suppress(ValueError, TypeError, KeyError, RecursionError):
                entry = json.loads(line)
                yield str(entry["output"]), Published(str(entry["input"]), result_from(entry["result"]))
