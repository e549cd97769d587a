"""What worker processes do to show a raw as it would be converted: quickly, at half its size."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from demosaic_ntc.batch.job import WorkResult
from demosaic_ntc.io.atomic import whole_file
from demosaic_ntc.run import ReportProgress, Timings
from demosaic_ntc.studio.canvas.pyramid import sizes_of, write_pyramid
from demosaic_ntc.studio.canvas.tile_images import resize
from demosaic_ntc.studio.work.base import StudioWork
from demosaic_ntc.studio.work.opening import RAW_LEVEL
from demosaic_ntc.workflows.conversion import develop_photo

if TYPE_CHECKING:
    from demosaic_ntc.developing.settings import Settings

_BITS = 8


@dataclass(frozen=True, slots=True)
class Preview(StudioWork):
    """Develop a raw by cells; levels appear in a folder, and the target when they are complete."""

    settings: "Settings"
    size: tuple[int, int]  # of the raw as it is seen
    folder: Path

    def run(self, source: Path, target: Path, threads: int, progress: ReportProgress) -> WorkResult:
        """Develop it as the command does with --half."""
        done = develop_photo(source, self.settings, _BITS, progress, Timings())
        half = sizes_of(self.size, RAW_LEVEL)[RAW_LEVEL]
        pixels = np.ascontiguousarray(done.picture.colours, np.uint8)
        write_pyramid(self.folder, pixels if pixels.shape[:2] == half else resize(pixels, half), RAW_LEVEL)
        with whole_file(target, overwrite=True) as file:
            file.write(b"done")
        return WorkResult(half[0] * half[1], {}, notices=done.facts.notices)
