"""From several raws of one scene to one picture: read, aligned, merged, and developed like a single one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import log2
from pathlib import Path
from typing import Any

from demosaic_ntc.demosaicing.burst.burst import FrameReport, merge_mosaics
from demosaic_ntc.developing.brackets import PreparedBurst, prepare_burst
from demosaic_ntc.developing.frames import check_frame, choose_grain
from demosaic_ntc.developing.preprocess import CleanPhoto, Prepared, read_clean
from demosaic_ntc.developing.render import RestoredPhoto, finish_stored
from demosaic_ntc.developing.settings import Engine, Merging, Settings
from demosaic_ntc.developing.stored_frames import store_frame
from demosaic_ntc.errors import InputError
from demosaic_ntc.images.error_map import ErrorMap
from demosaic_ntc.io.scratch import ScratchFile
from demosaic_ntc.run import Progress, ReportProgress, Run, Timings, ignore_progress
from demosaic_ntc.workflows.conversion import (
    ConversionFacts,
    DevelopedPhoto,
    PhotoToDevelop,
    check_outputs,
    develop_photo,
    develop_prepared,
    write_developed,
)
from demosaic_ntc.workflows.costs import DECODING


@dataclass(frozen=True, slots=True)
class MergedFrame:
    """What became of a frame of a merged picture."""

    source: Path
    is_reference: bool
    is_used: bool
    shift: tuple[float, float]  # rows and columns that its centre lies off the reference's
    rotation: float  # degrees
    share: float  # of the frame that agrees with the reference
    stops: float  # of light that it gathered more than the reference

    def as_json(self) -> dict[str, Any]:
        """Return it as an object for JSON."""
        return {
            "source": str(self.source),
            "reference": self.is_reference,
            "used": self.is_used,
            "shift": list(self.shift),
            "rotation": self.rotation,
            "accepted": self.share,
            "stops": self.stops,
        }


@dataclass(frozen=True, slots=True)
class MergedPhoto:
    """A merged picture that is not written yet."""

    developed: DevelopedPhoto
    frames: tuple[MergedFrame, ...]  # in the order they were given


@dataclass(frozen=True, slots=True)
class Merge:
    """What was done, and where the picture is."""

    target: Path
    facts: ConversionFacts
    frames: tuple[MergedFrame, ...]
    error_map: ErrorMap | None = None

    @property
    def reference(self) -> Path:
        """The frame whose place and colours the picture has."""
        return next(each.source for each in self.frames if each.is_reference)


def merge_files(
    sources: Sequence[Path],
    target: Path,
    settings: Settings,
    merging: Merging,
    progress: ReportProgress | None = None,
    error_map: Path | None = None,
) -> Merge:
    """Read, merge and write frames of one scene; nothing appears at the target unless all went well."""
    report, timings = progress or ignore_progress, Timings()
    bits, wanted = check_outputs(sources, target, settings, error_map)
    done = merge_photos(sources, settings, merging, bits, report, timings, **wanted)
    mapped = write_developed(target, done.developed, settings, report, timings, error_map)
    return Merge(target, done.developed.facts, done.frames, mapped)


def merge_photos(
    sources: Sequence[Path],
    settings: Settings,
    merging: Merging,
    bits: int,
    report: ReportProgress,
    timings: Timings,
    *,
    error: bool = False,
    linear: bool = False,
) -> MergedPhoto:
    """Read frames and develop one picture of them; one frame alone is developed as ever."""
    check_merge(sources, settings)
    wanted = {"error": error, "linear": linear}
    if len(sources) == 1:
        alone = develop_photo(sources[0], settings, bits, report, timings, **wanted)
        return MergedPhoto(alone, (MergedFrame(sources[0], True, True, (0.0, 0.0), 0.0, 1.0, 0.0),))
    with timings.stage("decode"):
        burst = prepare_burst(_read_frames(sources, settings, report), settings, merging)
        merger = _Merger(burst, merging)
    done = develop_prepared(merger.photo, settings, bits, report, timings, **wanted)
    return MergedPhoto(done, tuple(merger.found))


def check_merge(sources: Sequence[Path], settings: Settings) -> None:
    """Refuse no frames, frames that are given twice, and what cannot be done to several."""
    if not sources:
        raise InputError("there is no frame to merge; give two or more raws of one scene")
    twice = [path for k, path in enumerate(sources) if path in sources[:k]]
    if twice:
        raise InputError(f"{twice[0]}: is given twice; name every frame once")
    engine = settings.engine
    if len(sources) > 1 and (engine.half or engine.method != "gaussian"):
        raise InputError(
            "frames are merged by the method gaussian at full size; leave out `method` and `half`"
        )


def _read_frames(sources: Sequence[Path], settings: Settings, report: ReportProgress) -> list[CleanPhoto]:
    """Read all frames into a file, or raise with the name of one that does not belong to the others."""
    frames, file = list[CleanPhoto](), ScratchFile()
    for k, source in enumerate(sources):
        report(Progress(DECODING, k, len(sources)))
        frame = read_clean(source, settings)
        check_frame(frame, frames[0] if frames else frame)
        frames.append(store_frame(frame, file))
    report(Progress(DECODING, len(sources), len(sources)))
    return frames


class _Merger:
    """Frames on their way into one picture; `found` tells what became of them once it is restored."""

    def __init__(self, burst: PreparedBurst, merging: Merging) -> None:
        self.burst, self.merging = burst, merging
        self.found: list[MergedFrame] = []

    @property
    def photo(self) -> PhotoToDevelop:
        """The reference, restored from all frames, with what its picture records of that."""
        merging, path = self.merging, self.burst.paths[self.burst.reference]
        parameters = {
            "frames": len(self.burst.paths),
            "reference": path.name,
            "motion": merging.motion,
            "ghosts": merging.ghosts,
        }
        return PhotoToDevelop(self.burst.ready, path, self.restore, parameters)

    def restore(self, ready: Prepared, engine: Engine, run: Run) -> RestoredPhoto:
        """Restore the reference's picture from the samples of all frames."""
        burst, cfa = self.burst, ready.photo.cfa
        assert cfa is not None
        motion, ghosts = self.merging.motion, self.merging.ghosts
        frames = burst.mosaics, burst.reference
        stored, reports = merge_mosaics(*frames, engine.quality, run, motion=motion, ghosts=ghosts)
        self.found = [self._describe(k, each) for k, each in enumerate(reports)]
        grain = choose_grain(ready, sum(each.is_used for each in reports))
        restored = finish_stored(stored, ready.mosaic, cfa, grain, 1 - grain**2)
        return replace(restored, notices=(*restored.notices, *self._notices()))

    def _notices(self) -> Iterator[str]:
        """Which frames were left out, by name."""
        for each in self.found:
            if not each.is_used:
                yield f"{each.source.name} was left out: {each.share:.0%} of it agree with the reference"

    def _describe(self, k: int, report: FrameReport) -> MergedFrame:
        """What became of a frame."""
        return MergedFrame(
            self.burst.paths[k],
            k == self.burst.reference,
            report.is_used,
            report.shift,
            report.rotation,
            report.share,
            log2(1 / self.burst.gains[k]),
        )
