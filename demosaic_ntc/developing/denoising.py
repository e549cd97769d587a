"""How much noise is removed from a photo, and how much of it is given back as grain.

Colour noise is blotches nobody wants, noise of brightness is grain: each has a strength of its own. The
engine estimates every channel at the larger of the two; a share of what it removed from each sample is then
given back to all channels alike, as grey grain, if brightness is to keep more of it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.noise import NoiseModel
from demosaic_ntc.demosaicing.samples import MosaicSamples
from demosaic_ntc.developing.variance_stabilisation import Stabilised
from demosaic_ntc.engine.checks import Quality
from demosaic_ntc.io.pixels import LazyImage
from demosaic_ntc.raw.levels import Exposure
from demosaic_ntc.raw.photo import RawPhoto

# The methods that remove noise; interpolations show it.
DENOISING_METHODS = ("gaussian", "ntc")

# How much more strongly colour noise is removed where nothing else is asked, and how many times the noise
# there is the engine is told of at strength 1. Chosen by `benchmark texture` on two charts: more smooths skin
# and fabric, and gains no decibels.
COLOUR_OVER_BRIGHTNESS = 1.1
_OF_NOISE = 0.77
_HARDLY_SEEN = 0.5 / 255  # under the sRGB curve at mid grey: less noise is left alone
_LEFT_BY_FAST = 1 / 255  # and so much is at that quality: to remove it takes a third of the time
_GLANCE, _GLANCE_ROWS = 96, 12  # of so many rows, so many first are looked at: whole periods of any array
_MOST_GLANCED = 2_000_000  # samples: of large pictures fewer rows are looked at


@dataclass(frozen=True, slots=True)
class Strengths:
    """How much noise is removed, in multiples of what is usual."""

    brightness: float = 1.0
    colour: float = COLOUR_OVER_BRIGHTNESS

    @property
    def engine(self) -> float:
        """How many times the noise there is the engine is told of."""
        return _OF_NOISE * self.strongest

    @property
    def strongest(self) -> float:
        """The larger of the two."""
        return max(self.brightness, self.colour)

    @property
    def luma_only(self) -> "Strengths | None":
        """The same for a photo that has no colours; None if no noise is removed."""
        return Strengths(self.brightness, self.brightness) if self.brightness > 0 else None

    @property
    def grain(self) -> float:
        """The share of what was removed that brightness gets back."""
        return 1 - self.brightness / self.strongest if self.strongest > 0 else 0.0

    @property
    def removed(self) -> float:
        """The share of the noise's variance that is taken off."""
        return 1 - self.grain**2 if self.strongest > 0 else 0.0


AS_IT_IS = Strengths(0.0, 0.0)
#: For those who want more texture, and take some grain with it.
FOR_TEXTURE = Strengths(0.7, 0.95)


def strengths_of(
    brightness: float | Literal["auto", "texture"], colour: float | None = None
) -> Strengths | None:
    """Return the strengths asked for, that of colour along with brightness; None if no noise is removed."""
    named = {"auto": Strengths(), "texture": FOR_TEXTURE}
    if isinstance(brightness, str):
        asked = named[brightness]
    else:
        asked = Strengths(brightness, COLOUR_OVER_BRIGHTNESS * brightness)
    if colour is not None:
        asked = replace(asked, colour=colour)
    return asked if asked.strongest > 0 else None


def stabilise_noise(
    noise: NoiseModel, photo: RawPhoto, exposure: Exposure, *, always: bool
) -> Stabilised | None:
    """The noise of a photo's balanced light; None where there is none, or too little to be seen."""
    found = Stabilised.of(noise, photo, exposure)
    worth_while = found.display_deviation() > (0.0 if always else _HARDLY_SEEN)
    return found if worth_while and not noise.is_zero else None


def leave_hardly_seen(
    strengths: Strengths | None, stabilised: Stabilised | None, quality: Quality
) -> Strengths | None:
    """Return the strengths for a mosaic's noise where it is removed unasked: none, if that takes too long."""
    if stabilised is None or quality != "fast" or stabilised.display_deviation() > _LEFT_BY_FAST:
        return strengths
    return AS_IT_IS


def add_grain(
    image: LazyImage, samples: MosaicSamples, cfa: Cfa, share: float, deviations: NDArray[np.float64]
) -> LazyImage:
    """Give back, to all channels alike, a share of what samples lost.

    ``deviations`` are those of R, G and B at equal steps of the level, (3, levels), by which the loss is
    scaled to what green would have lost: else grain would show the pattern of the array. What the model
    misses of the ratio between the colours is measured: the middle loss of each, in deviations.
    """
    told: Float32 = np.maximum(deviations, 1e-12).astype(np.float32)

    def losses(part: Float32, rows: slice, columns: slice) -> tuple[Float32, NDArray[np.intp]]:
        channels = cfa.window(rows, columns).astype(np.intp)
        return _losses(part, samples.window(rows, columns), channels, told), channels

    middle = _middle_losses(image, losses)

    def add(part: Float32, rows: slice, columns: slice) -> Float32:
        loss, channels = losses(part, rows, columns)
        loss *= (middle[1] / middle)[channels]
        green = told[1, _level(part[..., 1], told)]
        return np.asarray(part + (np.float32(share) * loss * green)[..., None])

    return image.map(add)


def _losses(
    image: Float32, samples: Float32, channels: NDArray[np.intp], deviations: Float32
) -> NDArray[np.float32]:
    """Return what samples lost, (height, width), in deviations of their noise."""
    own = np.take_along_axis(image, channels[..., None], axis=2)[..., 0]
    return np.asarray((samples - own) / deviations[channels, _level(own, deviations)], np.float32)


def _middle_losses(
    image: LazyImage, losses: Callable[[Float32, slice, slice], tuple[Float32, NDArray[np.intp]]]
) -> NDArray[np.float32]:
    """Return the median size of what samples of each colour lost, from some of the rows."""
    lost: list[list[Float32]] = [[], [], []]
    height, width = image.shape[:2]
    apart = max(1, image.shape[0] * image.shape[1] * _GLANCE_ROWS // (_GLANCE * _MOST_GLANCED)) * _GLANCE
    for top in range(0, height, apart):
        rows, columns = slice(top, min(top + _GLANCE_ROWS, height)), slice(0, width)
        loss, which = losses(np.asarray(image[rows]), rows, columns)
        for channel in range(3):
            lost[channel].append(np.abs(loss[which == channel]))
    found = [np.concatenate(each) for each in lost]
    middle = [float(np.median(each)) if each.size else 0.0 for each in found]  # of a colour without samples
    return np.maximum(np.array(middle, np.float32), np.float32(1e-6))


def _level(values: Float32, deviations: Float32) -> NDArray[np.intp]:
    """Return the step of the level that values are closest to."""
    last = deviations.shape[1] - 1
    return np.asarray(np.clip(np.rint(values * last), 0, last), np.intp)
