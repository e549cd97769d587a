"""From the picture that the engine stores to one under the sRGB curve that is read a few rows at a time."""

from dataclasses import dataclass

import numpy as np

from demosaic_ntc.arrays import Float32
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.developing.denoising import add_grain
from demosaic_ntc.developing.render import EncodedMosaic
from demosaic_ntc.developing.variance_stabilisation import convert_to_srgb_curve, steepness_of_way
from demosaic_ntc.engine.result import NormCertificate, Restored, SampleCheck, StoredPicture
from demosaic_ntc.engine.tiles import Windowed
from demosaic_ntc.io.pixels import ImageLike, LazyImage, Part


@dataclass(frozen=True, slots=True, eq=False)
class RestoredPhoto:
    """A restored picture that may be made as it is read; see `Restored`."""

    image: ImageLike  # (height, width, 3), under the sRGB curve
    certificate: NormCertificate | None = None
    notices: tuple[str, ...] = ()
    error: Float32 | None = None
    check: SampleCheck | None = None

    @classmethod
    def of(cls, restored: Restored) -> "RestoredPhoto":
        """Return a picture that stands in memory."""
        return cls(restored.image, restored.certificate, restored.notices, restored.error, restored.check)


def finish_stored(
    stored: StoredPicture, mosaic: EncodedMosaic, cfa: Cfa, grain: float, removed: float
) -> RestoredPhoto:
    """Return the engine's picture of a mosaic under the sRGB curve, to be read later.

    Where noise was removed, a share of it is given back as grain; ``removed`` is the share of its variance
    that is gone in the end.
    """
    image, stabilised = read_later(stored.planes), mosaic.stabilised
    deviation = None
    if stored.variance.size:
        deviation = expand_channels(np.moveaxis(np.sqrt(stored.variance), 0, 2))
    if stabilised is None:
        white = np.float32(mosaic.white)
        image = image.map(lambda part, *_: part * white)
        deviation = None if deviation is None else deviation * white
    else:
        if deviation is not None:
            deviation = deviation * steepness_of_way(np.asarray(image), stabilised)
        if grain > 0:
            image = add_grain(image, mosaic.plane(), cfa, grain, stabilised.levels())
        back = convert_to_srgb_curve(stabilised, removed)
        image = image.map(lambda part, *_: back(part))
    return RestoredPhoto(image, stored.certificate, stored.notices, deviation, stored.check)


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
