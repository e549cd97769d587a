"""The kinds of work a batch can do.

What only one of them takes is imported when it is done: workers start sooner.
"""

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from demosaic_ntc.batch.job import WorkResult
from demosaic_ntc.batch.records.identity import fingerprint
from demosaic_ntc.io.atomic import find_paths
from demosaic_ntc.io.isolation.decoder import start_decoder
from demosaic_ntc.run import ReportProgress

if TYPE_CHECKING:
    from demosaic_ntc.developing.repair_settings import RepairSettings
    from demosaic_ntc.developing.settings import Settings

# Large enough for every step of the engine, small enough to take no time.
_TRIAL_SIDE, _TRIAL_DAMAGE = 48, 0.1


@dataclass(frozen=True, slots=True)
class Convert:
    """Turn a raw into a finished picture."""

    settings: "Settings"
    fingerprint: str = field(init=False)

    def __post_init__(self) -> None:
        """Name the settings once, for all files that share them."""
        how = self.settings.development
        companions: list[Path | str | None] = [how.bad_pixels]
        for kind, frames in (("dark", how.dark), ("flat", how.flat)):
            companions += [kind, *frames] if frames else []
        name = fingerprint("convert", self.settings, *companions)
        object.__setattr__(self, "fingerprint", name)

    def prepare(self) -> None:
        """Complete a small mosaic, which loads all that a large one needs; monochrome raws need as much."""
        from demosaic_ntc.demosaicing.demosaic import demosaic  # noqa: PLC0415 (see above)

        start_decoder(isolate=self.settings.limits.isolate)
        engine = self.settings.engine
        samples = np.random.default_rng(0).random((_TRIAL_SIDE, _TRIAL_SIDE), dtype=np.float32)
        given = self.settings.layout.cfa
        cfa = "RGGB" if given is None or given.is_mono else given
        demosaic(samples, cfa, method=engine.method, quality=engine.quality, threads=1)

    def __call__(
        self, source: Path, target: Path, *, overwrite: bool, threads: int, progress: ReportProgress
    ) -> WorkResult:
        """Convert the file."""
        from demosaic_ntc.workflows.conversion import convert_file  # noqa: PLC0415 (see above)

        settings = replace(
            self.settings,
            engine=replace(self.settings.engine, threads=threads),
            output=replace(self.settings.output, overwrite=overwrite),
        )
        facts = convert_file(source, target, settings, progress).facts
        proven = None if facts.certificate is None else facts.certificate.share
        check = None if facts.check is None else asdict(facts.check)
        return WorkResult(facts.size[0] * facts.size[1], facts.seconds, proven, facts.notices, check)


@dataclass(frozen=True, slots=True)
class Inpaint:
    """Restore the damaged parts of a picture that a mask marks, or else a painted colour."""

    settings: "RepairSettings"
    mask: Path | None
    fingerprint: str = field(init=False)

    def __post_init__(self) -> None:
        """Name the settings together with the mask, and with the files that they name."""
        name = fingerprint("inpaint", self.settings, self.mask, *find_paths(self.settings))
        object.__setattr__(self, "fingerprint", name)

    def prepare(self) -> None:
        """Repair a small picture, which loads all that a large one needs."""
        from demosaic_ntc.inpainting.inpaint import inpaint  # noqa: PLC0415 (see above)

        start_decoder(isolate=self.settings.limits.isolate)
        engine, generator = self.settings.engine, np.random.default_rng(0)
        colours = generator.integers(256, size=(_TRIAL_SIDE, _TRIAL_SIDE, 3), dtype=np.uint8)
        missing = generator.random((_TRIAL_SIDE, _TRIAL_SIDE)) < _TRIAL_DAMAGE
        inpaint(colours, missing, method=engine.method, quality=engine.quality, threads=1)

    def __call__(
        self, source: Path, target: Path, *, overwrite: bool, threads: int, progress: ReportProgress
    ) -> WorkResult:
        """Repair the file."""
        from demosaic_ntc.workflows.repair import repair_file  # noqa: PLC0415 (see above)

        engine = replace(self.settings.engine, threads=threads)
        settings = replace(self.settings, engine=engine, overwrite=overwrite)
        done = repair_file(source, self.mask, target, settings, progress)
        height, width = done.size
        proven = None if done.certificate is None else done.certificate.share
        return WorkResult(height * width, done.seconds, proven, done.notices)
