"""What all work of the studio has in common, and work that does nothing."""

from dataclasses import dataclass
from pathlib import Path

from demosaic_ntc.batch.job import WorkResult
from demosaic_ntc.run import ReportProgress


@dataclass(frozen=True, slots=True)
class StudioWork:
    """Work of a process that is wanted once, whose `run` does it.

    This one does nothing: who is given it has started and prepared, and waits for the first wish.
    """

    @property
    def fingerprint(self) -> str:
        """Nothing of it is put on record."""
        return "studio"

    def prepare(self) -> None:
        """Everything needed was imported with the module."""

    def __call__(
        self, source: Path, target: Path, *, overwrite: bool, threads: int, progress: ReportProgress
    ) -> WorkResult:
        """Do it; what lies at the target is the studio's own."""
        return self.run(source, target, threads, progress)

    def run(self, source: Path, target: Path, threads: int, progress: ReportProgress) -> WorkResult:
        """Do nothing."""
        return WorkResult(0, {})
