"""The engine's run over the mosaic of a photo, whose picture is then read a few rows at a time."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.files.developing.denoising import Strengths, with_grain
from demosaic_ntc.files.developing.render import EncodedMosaic
from demosaic_ntc.files.developing.stabilised import Stabilised, steepness_of_way, to_srgb_curve
from demosaic_ntc.files.later import Later, Part
from demosaic_ntc.files.settings import Engine
from demosaic_ntc.imaging.cfa import Cfa
from demosaic_ntc.imaging.demosaic import StoredPicture, demosaic_stored
from demosaic_ntc.imaging.restored import ReportProgress, Restored


@dataclass(frozen=True, slots=True)
class Developing:
    """A mosaic, and what the engine is to do with it."""

    mosaic: EncodedMosaic
    cfa: Cfa
    missing: NDArray[np.bool_] | None
    strengths: Strengths
    engine: Engine
    error: bool

    def __call__(self, report: ReportProgress) -> Restored:
        """Let the engine restore the full colours; they come under the sRGB curve, to be read later."""
        stabilised = self.mosaic.stabilised
        stored = self._stored(report, None if stabilised is None else stabilised.levels())
        image = _read_later(stored)
        error = np.moveaxis(np.sqrt(stored.variance), 0, 2) if self.error else None
        if stabilised is None:
            white = np.float32(self.mosaic.white)
            image = image.then(lambda part, *_: part * white)
            error = None if error is None else error * white
        else:
            error = None if error is None else error * steepness_of_way(np.asarray(image), stabilised)
            image = self._under_srgb_curve(image, stabilised)
        # Read like an array, and turned into one where numpy meets it.
        return Restored(cast(NDArray[Any], image), stored.certificate, stored.notices, error=error)

    def _stored(self, report: ReportProgress, noise: NDArray[np.float64] | None) -> StoredPicture:
        """Let the engine work, with noise of these deviations, (3, levels)."""
        return demosaic_stored(
            self.mosaic.stored,
            self.cfa,
            method=self.engine.method,
            quality=self.engine.quality,
            threads=self.engine.threads,
            progress=report,
            missing=self.missing,
            time_limit=self.engine.time_limit,
            error=self.error,
            noise=noise,
            denoise=self.strengths.engine if noise is not None else 1.0,
        )

    def _under_srgb_curve(self, image: Later, stabilised: Stabilised) -> Later:
        """Return a picture without its noise, but with the grain it is to keep."""
        share = self.strengths.grain
        if share > 0:
            image = with_grain(image, self.mosaic.stored, self.cfa, share, stabilised.levels())
        back = to_srgb_curve(stabilised, 1 - share**2)
        return image.then(lambda part, *_: back(part))


def _read_later(stored: StoredPicture) -> Later:
    """Return a picture with its channels last."""

    def read(rows: slice, columns: slice) -> Part:
        return np.ascontiguousarray(np.moveaxis(stored.planes[:, rows, columns], 0, 2))

    _, height, width = stored.planes.shape
    return Later((height, width), np.float32, read)
