"""The kinds of work a batch can do."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from demosaic_ntc.batch.identity import fingerprint
from demosaic_ntc.batch.job import Done
from demosaic_ntc.files.conversion import convert_file
from demosaic_ntc.files.settings import Settings
from demosaic_ntc.imaging.demosaic import demosaic
from demosaic_ntc.imaging.restored import ReportProgress

# Large enough for every step of the engine, small enough to take no time.
_TRIAL_SIDE = 48


@dataclass(frozen=True, slots=True)
class Convert:
    """Turn a raw into a finished picture."""

    settings: Settings
    fingerprint: str = field(init=False)

    def __post_init__(self) -> None:
        """Name the settings once, for all files that share them."""
        name = fingerprint("convert", self.settings, self.settings.development.bad_pixels)
        object.__setattr__(self, "fingerprint", name)

    def prepare(self) -> None:
        """Complete a small mosaic, which loads all that a large one needs."""
        engine = self.settings.engine
        samples = np.random.default_rng(0).random((_TRIAL_SIDE, _TRIAL_SIDE), dtype=np.float32)
        demosaic(samples, self.settings.layout.cfa or "RGGB", method=engine.method, quality=engine.quality)

    def __call__(
        self, source: Path, target: Path, *, overwrite: bool, threads: int, progress: ReportProgress
    ) -> Done:
        """Convert the file."""
        settings = replace(
            self.settings,
            engine=replace(self.settings.engine, threads=threads),
            output=replace(self.settings.output, overwrite=overwrite),
        )
        done = convert_file(source, target, settings, progress)
        proven = done.certificate
        share = None if proven is None else proven.certified / max(proven.groups, 1)
        return Done(done.size[0] * done.size[1], done.seconds, share, done.notices)
