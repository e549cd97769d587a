"""How noisy a photo is: as the user says, as the file says, or as its samples show."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.files.raw.photo import RawPhoto
from demosaic_ntc.files.raw.saturation import saturation
from demosaic_ntc.imaging.noise import NoiseModel, estimate_noise


@dataclass(frozen=True, slots=True)
class FoundNoise:
    """The noise of a photo's samples, in light that is 0 at black and 1 at white, and where it comes from."""

    model: NoiseModel
    source: Literal["given", "profile", "estimated"]

    def described(self, span: float) -> dict[str, Any]:
        """Return the model as an object for JSON; ``span`` is how far white lies above black."""
        return {
            "source": self.source,
            "slope": list(self.model.slope),
            "floor": list(self.model.floor),
            "mid_grey": self.model.typical_deviation(),
            "read_noise": self.model.typical_deviation(0) * span,
        }


def noise_of(photo: RawPhoto, given: NoiseModel | None = None) -> FoundNoise:
    """Return the noise that was given, or that the file's profile states, or that the samples show."""
    if given is not None:
        return FoundNoise(given, "given")
    if photo.noise is not None:
        return FoundNoise(photo.noise, "profile")
    low, high = _clipping_levels(photo)
    return FoundNoise(estimate_noise(linear_samples(photo), photo.cfa, low=low, high=high), "estimated")


def span_of(photo: RawPhoto) -> float:
    """Return how far white lies above black, in the numbers of the samples."""
    return photo.white - float(photo.black.mean())


def linear_samples(photo: RawPhoto) -> NDArray[np.float32]:
    """Return the samples (height, width) as light, black 0 and white 1; dark noise stays negative."""
    light = photo.mosaic.astype(np.float32)
    down, across = photo.black.shape
    for (i, j), black in np.ndenumerate(photo.black):
        site = light[i::down, j::across]
        site -= np.float32(black)
        site /= np.float32(photo.white - black)
    return light


def _clipping_levels(photo: RawPhoto) -> tuple[float, float]:
    """Return the light of samples that are zero, and could not be less, and of those that are saturated."""
    top = photo.white if photo.is_plain else min(saturation(photo))
    black, span = photo.black, photo.white - photo.black
    return float((-black / span).max()), float(((top - black) / span).min())
