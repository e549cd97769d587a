"""How noisy a photo is: as the user says, as the file says, or as its samples show."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.files.raw.photo import RawPhoto, place_of
from demosaic_ntc.files.raw.saturation import saturation
from demosaic_ntc.imaging.cfa import Cfa
from demosaic_ntc.imaging.noise import NoiseModel, estimate_noise

#: The array under which samples without one are looked at: as if it had measured them.
GREY_ARRAY = Cfa.named("RGGB")


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
    mosaic, cfa = _as_mosaic(photo)
    return FoundNoise(estimate_noise(mosaic, cfa, low=low, high=high), "estimated")


def span_of(photo: RawPhoto) -> float:
    """Return how far white lies above black, in the numbers of the samples."""
    return photo.white - float(photo.black.mean())


def linear_samples(photo: RawPhoto) -> NDArray[np.float32]:
    """Return the samples, as they lie, as light, black 0 and white 1; dark noise stays negative."""
    light = photo.mosaic.astype(np.float32)
    for index, black in np.ndenumerate(photo.black):
        site = light[place_of(index, photo.black.shape)]
        site -= np.float32(black)
        site /= np.float32(photo.white - black)
    return light


def _as_mosaic(photo: RawPhoto) -> tuple[NDArray[np.float32], Cfa]:
    """Return light (height, width) and its array: of a linear raw what an array would measure of it."""
    light, cfa = linear_samples(photo), photo.cfa
    if cfa is None:
        return GREY_ARRAY.sample(light), GREY_ARRAY
    return light, GREY_ARRAY if cfa.is_mono else cfa


def _clipping_levels(photo: RawPhoto) -> tuple[float, float]:
    """Return the light of samples that are zero, and could not be less, and of those that are saturated."""
    top = photo.white if photo.is_plain else min(saturation(photo))
    black, span = photo.black, photo.white - photo.black
    return float((-black / span).max()), float(((top - black) / span).min())
