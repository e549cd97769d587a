"""What a run has begun: names left behind by a run that was killed, known to be its own.

A run that is killed between finishing a picture and recording it leaves a picture that no record explains.
Its journal tells that it may be replaced. It lies beside the report and is removed when nothing is left open.
"""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from demosaic_ntc.files.atomic import refusals_explained
from demosaic_ntc.files.partial import is_abandoned, owner


class Journal:
    """The outputs that this run has begun."""

    def __init__(self, report: Path) -> None:
        self._report = report
        self._path = report.with_name(f"{_prefix(report)}{owner()}.begun")
        self._adopted: list[Path] = []

    def begin(self, output: Path) -> None:
        """Note an output before it can appear."""
        with refusals_explained(self._path), open(self._path, "a", encoding="ascii") as file:
            file.write(json.dumps(str(output)) + "\n")

    def adopt(self) -> frozenset[str]:
        """The outputs that dead runs had begun; their journals are this run's to remove from now on."""
        self._adopted = list(self._of_dead_runs())
        return frozenset(output for path in self._adopted for output in _outputs(path))

    def close(self) -> None:
        """Forget everything: the report has it all."""
        for path in (self._path, *self._adopted):
            path.unlink(missing_ok=True)

    def _of_dead_runs(self) -> Iterator[Path]:
        """The journals of runs that were killed."""
        prefix = _prefix(self._report)
        with suppress(OSError):
            for name in sorted(os.listdir(self._report.parent)):
                writer = name.removeprefix(prefix).removesuffix(".begun")
                path = self._report.with_name(name)
                if name == f"{prefix}{writer}.begun" and is_abandoned(path, writer):
                    yield path


def _prefix(report: Path) -> str:
    """How the names of a report's journals start."""
    return f".{report.name[:100]}-"


def _outputs(path: Path) -> Iterator[str]:
    """The outputs that a journal names; its last line may be unfinished."""
    with suppress(OSError):
        for line in path.read_text(encoding="ascii", errors="replace").splitlines():
            with suppress(ValueError):
                yield str(json.loads(line))
