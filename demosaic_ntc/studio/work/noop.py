"""Nothing to do: whoever is given that has started and prepared, and waits for the first wish."""

from dataclasses import dataclass
from pathlib import Path

from demosaic_ntc.batch.job import WorkResult
from demosaic_ntc.run import ReportProgress


@dataclass(frozen=True, slots=True)
class NoOperation:
    """Do nothing."""

    fingerprint: str = "rest"

    def prepare(self) -> None:
        """Nothing is needed."""

    def __call__(
        self, source: Path, target: Path, *, overwrite: bool, threads: int, progress: ReportProgress
    ) -> WorkResult:
        """Do nothing."""
        return WorkResult(0, {})
