"""What worker processes do to propose or read a mask: flags of the picture as it is seen."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.batch.job import WorkResult
from demosaic_ntc.detection.blemishes import find_blemishes
from demosaic_ntc.images.mask import read_mask
from demosaic_ntc.images.mask_rule import MaskRule
from demosaic_ntc.images.picture import DecodedImage
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.io.pixels import orient
from demosaic_ntc.raw.bad_pixels import find_bad_pixels
from demosaic_ntc.raw.noise import linear_samples, noise_of
from demosaic_ntc.raw.reading import read_photo
from demosaic_ntc.run import ReportProgress
from demosaic_ntc.studio.canvas.mask import write_flags
from demosaic_ntc.studio.work.base import StudioWork
from demosaic_ntc.studio.work.opening import BEFORE, RAW_LEVEL, PictureFacts, load_colours

FLAGS = "marked"

_FROM = MaskRule(threshold=0.5)  # greys of soft brushes count from the middle on


@dataclass(frozen=True, slots=True)
class ReadMask(StudioWork):
    """Read a mask file; the target becomes its flags."""

    size: tuple[int, int]  # of the picture as it is seen
    limits: InputLimits = field(default_factory=InputLimits)

    def run(self, source: Path, target: Path, threads: int, progress: ReportProgress) -> WorkResult:
        """Read it as the command does, as belonging to the picture as it is seen."""
        seen = DecodedImage(np.broadcast_to(np.uint8(0), self.size))
        write_flags(target, **{FLAGS: read_mask(source, seen, _FROM, self.limits)})
        return WorkResult(self.size[0] * self.size[1], {})


@dataclass(frozen=True, slots=True)
class FindBlemishes(StudioWork):
    """Look for dust or scratches in an opened picture; the source is the file of its facts."""

    kinds: tuple[str, ...]
    sensitivity: float

    def run(self, source: Path, target: Path, threads: int, progress: ReportProgress) -> WorkResult:
        """Look for them."""
        facts = PictureFacts.read(source.parent)
        found = find_blemishes(_pixels(source.parent, facts), self.kinds, self.sensitivity)
        if facts.is_raw:
            found = np.repeat(np.repeat(found, 2, axis=0), 2, axis=1)[: facts.size[0], : facts.size[1]]
        write_flags(target, **{FLAGS: found})
        return WorkResult(found.size, {})


def _pixels(folder: Path, facts: PictureFacts) -> NDArray[Any]:
    """The colours of a picture as it is seen; of a raw, the camera's own at half the size."""
    if facts.is_raw:
        return np.asarray(np.load(folder / BEFORE / f"{RAW_LEVEL}.npy", allow_pickle=False))
    return orient(load_colours(folder), facts.orientation)


@dataclass(frozen=True, slots=True)
class FindHotPixels(StudioWork):
    """Look for hot and dead pixels of a raw; the target becomes their flags."""

    limits: InputLimits = field(default_factory=InputLimits)

    def run(self, source: Path, target: Path, threads: int, progress: ReportProgress) -> WorkResult:
        """Look for them as conversions do."""
        photo = read_photo(source, limits=self.limits)
        light = linear_samples(photo)
        found = find_bad_pixels(photo, light, noise_of(photo, None, light).model)
        write_flags(target, **{FLAGS: np.ascontiguousarray(orient(found, photo.orientation))})
        return WorkResult(found.size, {})
