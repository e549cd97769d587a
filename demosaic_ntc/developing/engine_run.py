"""The engine's run over the mosaic of a photo, whose picture is then read a few rows at a time."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32
from demosaic_ntc.demosaicing.cfa import Cfa
from demosaic_ntc.demosaicing.demosaic import StoredPicture, demosaic_stored
from demosaic_ntc.developing.denoising import Strengths, add_grain
from demosaic_ntc.developing.render import EncodedMosaic
from demosaic_ntc.developing.settings import Engine
from demosaic_ntc.developing.variance_stabilisation import convert_to_srgb_curve, steepness_of_way
from demosaic_ntc.engine.result import ReportProgress, Restored
from demosaic_ntc.engine.windowed import Windowed
from demosaic_ntc.io.lazy_image import LazyImage, Part


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
        stored = self._run_engine(report, None if stabilised is None else stabilised.levels())
        return finish_stored(stored, self.mosaic, self.cfa, self.strengths.grain, error=self.error)

    def _run_engine(self, report: ReportProgress, noise: NDArray[np.float64] | None) -> StoredPicture:
        """Let the engine work, with noise of these deviations, (3, levels)."""
        return demosaic_stored(
            self.mosaic.plane(),
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


def finish_stored(
    stored: StoredPicture, mosaic: EncodedMosaic, cfa: Cfa, grain: float, *, error: bool
) -> Restored:
    """Return the engine's picture of a mosaic under the sRGB curve, to be read later.

    Where noise was removed, a share of it is given back as grain.
    """
    image, stabilised = read_later(stored.planes), mosaic.stabilised
    deviation = expand_channels(np.moveaxis(np.sqrt(stored.variance), 0, 2)) if error else None
    if stabilised is None:
        white = np.float32(mosaic.white)
        image = image.map(lambda part, *_: part * white)
        deviation = None if deviation is None else deviation * white
    else:
        if deviation is not None:
            deviation = deviation * steepness_of_way(np.asarray(image), stabilised)
        if grain > 0:
            image = add_grain(image, mosaic.plane(), cfa, grain, stabilised.levels())
        back = convert_to_srgb_curve(stabilised, 1 - grain**2)
        image = image.map(lambda part, *_: back(part))
    # Read like an array, and turned into one where numpy meets it.
    return Restored(cast(NDArray[Any], image), stored.certificate, stored.notices, error=deviation)


def read_later(planes: Windowed) -> LazyImage:
    """Return planes as a picture with its channels last, three of them."""

    def read(rows: slice, columns: slice) -> Part:
        return np.ascontiguousarray(expand_channels(np.moveaxis(planes[:, rows, columns], 0, 2)))

    _, height, width = planes.shape
    return LazyImage((height, width), np.float32, read)


def expand_channels(picture: Float32) -> Float32:
    """Return a picture of three channels, which are equal where it had one."""
    planes = picture if picture.ndim == 3 else picture[..., None]
    return np.broadcast_to(planes, (*planes.shape[:2], 3))
