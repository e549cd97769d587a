"""How much noise is taken off a photo, and the engine's run that does so.

Colour noise is blotches nobody wants, noise of brightness is grain: each has a strength of its own. The
engine estimates every channel at the larger of the two; of what it took off each sample a share is then given
back to all channels alike, as grey grain, if brightness is to keep more of it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.files.levels import Exposure
from demosaic_ntc.files.photo import RawPhoto
from demosaic_ntc.files.stabilised import Stabilised, steepness_of_way, to_srgb_curve
from demosaic_ntc.imaging.cfa import Cfa
from demosaic_ntc.imaging.noise import NoiseModel
from demosaic_ntc.imaging.restored import Restored

Floats = NDArray[np.float32]

COLOUR_OVER_BRIGHTNESS = 1.25  # how much stronger colour noise is taken off where nothing else is asked
_HARDLY_SEEN = 0.5 / 255  # under the sRGB curve at mid grey: less noise is left alone
_BAND = 64  # rows
_GLANCE, _GLANCE_ROWS = 96, 12  # of so many rows, so many first are looked at: whole periods of any array


@dataclass(frozen=True, slots=True)
class Strengths:
    """How much noise is taken off, in multiples of what the model says there is."""

    brightness: float = 1.0
    colour: float = COLOUR_OVER_BRIGHTNESS

    @property
    def engine(self) -> float:
        """What the engine is told."""
        return max(self.brightness, self.colour)

    @property
    def grain(self) -> float:
        """The share of what was taken off that brightness gets back."""
        return 1 - self.brightness / self.engine if self.engine > 0 else 0.0


AS_IT_IS = Strengths(0.0, 0.0)


def stabilised_for(
    noise: NoiseModel, photo: RawPhoto, exposure: Exposure, *, always: bool
) -> Stabilised | None:
    """The noise of a photo's balanced light; None where there is none, or too little to be seen."""
    found = Stabilised.of(noise, photo, exposure)
    worth_while = found.shown() > (0.0 if always else _HARDLY_SEEN)
    return found if worth_while and not noise.is_zero else None


def denoised(
    samples: Floats,
    cfa: Cfa,
    stabilised: Stabilised,
    strengths: Strengths,
    restore: Callable[[NDArray[np.float64], float], Restored],
) -> Restored:
    """Let the engine restore a stabilised mosaic and bring its picture under the sRGB curve.

    ``restore`` is told the deviations, (3, levels), of the samples (height, width), and the strength.
    """
    levels = stabilised.levels()
    restored = restore(levels, strengths.engine)
    if restored.error is not None:
        steeper = steepness_of_way(restored.image, stabilised)
        restored = replace(restored, error=restored.error * steeper)
    if strengths.grain > 0:
        give_grain(restored.image, samples, cfa, strengths.grain, levels)
    to_srgb_curve(restored.image, stabilised, 1 - strengths.grain**2)
    return restored


def give_grain(
    image: Floats, samples: Floats, cfa: Cfa, share: float, deviations: NDArray[np.float64]
) -> None:
    """Give back, to all channels alike and in place, a share of what samples lost.

    ``image`` is (height, width, 3), ``samples`` (height, width); ``deviations`` are those of R, G and B at
    equal steps of the level, (3, levels), by which the loss is scaled to what green would have lost: else
    grain would show the pattern of the array. What the model misses of the ratio between the colours is
    measured: the middle loss of each, in deviations.
    """
    told: Floats = np.maximum(deviations, 1e-12).astype(np.float32)
    channels, bands = cfa.channel_map(samples.shape).astype(np.intp), range(0, len(samples), _BAND)
    middle = _middle_losses(image, samples, channels, told)
    for top in bands:
        rows = slice(top, top + _BAND)
        loss = _losses(image[rows], samples[rows], channels[rows], told)
        loss *= (middle[1] / middle)[channels[rows]]
        green = told[1, _level(image[rows, :, 1], told)]
        image[rows] += (np.float32(share) * loss * green)[..., None]


def _losses(
    image: Floats, samples: Floats, channels: NDArray[np.intp], deviations: Floats
) -> NDArray[np.float32]:
    """Return what samples lost, (height, width), in deviations of their noise."""
    own = np.take_along_axis(image, channels[..., None], axis=2)[..., 0]
    return np.asarray((samples - own) / deviations[channels, _level(own, deviations)], np.float32)


def _middle_losses(
    image: Floats, samples: Floats, channels: NDArray[np.intp], deviations: Floats
) -> NDArray[np.float32]:
    """Return the median size of what samples of each colour lost, from some of the rows."""
    rows = (np.arange(len(samples)) // _GLANCE_ROWS) % (_GLANCE // _GLANCE_ROWS) == 0
    which, lost = channels[rows], np.abs(_losses(image[rows], samples[rows], channels[rows], deviations))
    middle = [float(np.median(lost[which == channel])) for channel in range(3)]
    return np.maximum(np.array(middle, np.float32), np.float32(1e-6))


def _level(values: Floats, deviations: Floats) -> NDArray[np.intp]:
    """Return the step of the level that values are closest to."""
    last = deviations.shape[1] - 1
    return np.asarray(np.clip(np.rint(values * last), 0, last), np.intp)
