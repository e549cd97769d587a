"""What worker processes do when a person wants to see damage repaired: the regions around it, and no others.

They are restored as the command restores them, to the bit, so that what is seen is what is saved.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.batch.job import WorkResult
from demosaic_ntc.inpainting.inpaint import too_wide
from demosaic_ntc.inpainting.inpaint_parts import inpaint_parts
from demosaic_ntc.inpainting.wide_holes import tell_copied
from demosaic_ntc.io.atomic import whole_file
from demosaic_ntc.io.pixels import orient
from demosaic_ntc.run import ReportProgress
from demosaic_ntc.studio.canvas.boxes import PixelBox
from demosaic_ntc.studio.canvas.mask import read_flags
from demosaic_ntc.studio.work.base import StudioWork
from demosaic_ntc.studio.work.opening import load_colours

BACK = {6: 8, 8: 6}  # the orientation that undoes another; all others undo themselves

# Large enough for every step of the engine, small enough to take no time.
_TRIAL_SIDE, _TRIAL_STROKE = 64, slice(28, 34)


@dataclass(frozen=True, slots=True)
class Patch:
    """A repaired box of the picture as it is seen."""

    box: PixelBox
    colours: NDArray[Any]
    error: Float32  # the standard deviation expected, largest of the channels, in the picture's scale


@dataclass(frozen=True, slots=True)
class RepairQuickly(StudioWork):
    """Restore regions; the source holds flags `missing` and `wanted` as seen, the target becomes patches."""

    orientation: int = 1
    quality: str = "normal"
    grain: str = "auto"
    fill: str = "smooth"
    has_source: bool = False  # flags `source` say what may be copied

    def prepare(self) -> None:
        """Repair a small picture, which loads all that a large one needs."""
        image = np.random.default_rng(0).integers(256, size=(_TRIAL_SIDE, _TRIAL_SIDE, 3), dtype=np.uint8)
        missing = np.zeros((_TRIAL_SIDE, _TRIAL_SIDE), np.bool_)
        missing[_TRIAL_STROKE, _TRIAL_STROKE] = True
        list(inpaint_parts(image, missing, missing, quality=self.quality, grain=self.grain))

    def run(self, source: Path, target: Path, threads: int, progress: ReportProgress) -> WorkResult:
        """Restore them."""
        image = load_colours(source.parent)
        missing, wanted = (self._unorient_flags(read_flags(source, name)) for name in ("missing", "wanted"))
        source_flags = self._unorient_flags(read_flags(source, "source")) if self.has_source else None
        how: dict[str, Any] = {
            "quality": self.quality,
            "grain": self.grain,
            "fill": self.fill,
            "source": source_flags,
        }
        parts = inpaint_parts(image, missing, wanted, **how, threads=threads, progress=progress)
        content: dict[str, Any] = {}
        deep, copied, restored = 0, 0, 0
        for number, part in enumerate(parts):
            stored = PixelBox(part.rows.start, part.rows.stop, part.columns.start, part.columns.stop)
            box = stored.upright((image.shape[0], image.shape[1]), self.orientation)
            doubt = part.error if part.error.ndim == 2 else part.error.max(axis=2)
            content[f"box{number}"] = np.array(box.plain())
            content[f"colours{number}"] = orient(part.image, self.orientation)
            content[f"error{number}"] = orient(doubt.astype(np.float32), self.orientation)
            deep, copied = deep + part.too_deep, copied + part.copied
            restored += int(missing[stored.slices].sum())
        with whole_file(target, overwrite=True) as file:
            np.savez(file, **content)
        return WorkResult(restored, {}, None, (*tell_copied(copied, restored), *too_wide(deep, restored)))

    def _unorient_flags(self, flags: Flags) -> Flags:
        """Flags of the picture as it is stored."""
        return np.ascontiguousarray(orient(flags, BACK.get(self.orientation, self.orientation)))


def read_patches(source: Path) -> Iterator[Patch]:
    """The patches that a worker has written."""
    with np.load(source, allow_pickle=False) as stored:
        for number in range(sum(name.startswith("box") for name in stored.files)):
            top, bottom, left, right = (int(side) for side in stored[f"box{number}"])
            box = PixelBox(top, bottom, left, right)
            yield Patch(box, stored[f"colours{number}"], stored[f"error{number}"])
