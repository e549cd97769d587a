"""How noisy a photo is: as the user says, as the file says if its samples agree, or as these show."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from demosaic_ntc.arrays import Float32
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.noise import NoiseModel, estimate_noise, noise_factor
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.tiff_tags import Directory, numbers
from demosaic_ntc.raw.photo import RawPhoto, place_of
from demosaic_ntc.raw.saturation import lowest_saturation

#: Tags of DNGs: pairs S, O of variances S·x + O (DNG 1.4), and whether noise was removed.
NOISE_PROFILE, NOISE_REDUCTION_APPLIED = 51041, 50935

# Within this ratio of deviations a profile is taken as it is: texture adds a little to what is measured.
# It is scaled at most so far: where compression smoothed skies, shadows have their noise.
_AGREEMENT, _MOST_SCALED = 1.25, 2.0
_DOUBTFUL = 1.5  # times the deviations that were given, or their inverse

#: The array that samples without one are taken to be measured by.
GREY_ARRAY = Cfa.from_name("RGGB")


@dataclass(frozen=True, slots=True)
class FoundNoise:
    """The noise of a photo's samples, in light that is 0 at black and 1 at white, and where it comes from.

    ``measured`` is the ratio of the deviations that the samples show to those that the file states, if known.
    """

    model: NoiseModel
    source: Literal["given", "profile", "scaled", "estimated"]
    stated: NoiseModel | None = None  # the file's profile
    measured: float | None = None
    shown: float | None = None  # the ratio of the deviations that samples show to those given

    def describe(self, span: float) -> dict[str, Any]:
        """Return the model as an object for JSON; ``span`` is how far white lies above black."""
        return {
            "source": self.source,
            "slope": list(self.model.slope),
            "floor": list(self.model.floor),
            "mid_grey": self.model.typical_deviation(),
            "read_noise": self.model.typical_deviation(0) * span,
            "stated_mid_grey": self.stated and self.stated.typical_deviation(),
            "measured_mid_grey": self.mid_grey_deviation,
        }

    @property
    def mid_grey_deviation(self) -> float | None:
        """The standard deviation at mid grey that the samples show; None where it was not measured."""
        if self.source == "estimated":
            return self.model.typical_deviation()
        if self.stated is None or self.measured is None:
            return None
        return self.measured * self.stated.typical_deviation()

    @property
    def notices(self) -> tuple[str, ...]:
        """What a user should know: that samples contradict what was given, or what the file states."""
        if self.shown is not None and not 1 / _DOUBTFUL <= self.shown <= _DOUBTFUL:
            given, seen = (percent(times * self.model.typical_deviation()) for times in (1.0, self.shown))
            return (
                f"the noise given is {given} of white at mid grey, samples show {seen}; "
                "leave `noise` out to have it estimated",
            )
        if self.source != "scaled" or self.stated is None:
            return ()
        stated, used = (percent(model.typical_deviation()) for model in (self.stated, self.model))
        shown = percent(self.mid_grey_deviation or 0)
        return (
            f"the file's noise profile states {stated} of white at mid grey, its samples show {shown}; "
            f"{used} is used (`noise` gives another)",
        )


def percent(share: float) -> str:
    """Return a share as a percentage for people; what is too small to matter is zero."""
    return f"{round(100 * share, 4):.2g} %"


def noise_profile(tags: Directory) -> tuple[NoiseModel | None, tuple[str, ...]]:
    """Return the model that the tags of a DNG's mosaic state, if they do, and a notice if it is not used."""
    if NOISE_PROFILE not in tags:
        return None, ()
    stated = [float(value) for value in numbers(tags, NOISE_PROFILE)]
    try:
        model = NoiseModel.of_pairs(stated)
        if model.typical_deviation() > 1:
            raise InputError("it states more noise than white")
        return model, ()
    except InputError as error:
        reason = str(error).split(";", maxsplit=1)[0] if stated else "it holds no finite numbers"
        return None, (f"the file's noise profile is not used: {reason}",)


def is_denoised(*directories: Directory) -> bool:
    """Whether a DNG says that noise was removed, in the tags of its picture or of the whole file."""
    return any(value > 0 for tags in directories for value in numbers(tags, NOISE_REDUCTION_APPLIED))


def noise_of(photo: RawPhoto, given: NoiseModel | None = None, light: Float32 | None = None) -> FoundNoise:
    """Return the noise that was given, or that the file's profile states, or that the samples show.

    A profile that the samples contradict is scaled to what they show. The ``light`` is what `linear_samples`
    returns, where it is there already.
    """
    mosaic, cfa = linear_samples(photo) if light is None else light, photo.cfa
    if cfa is None:  # what an array would measure of a linear raw
        mosaic = GREY_ARRAY.sample(mosaic)
    cfa = GREY_ARRAY if cfa is None or cfa.is_mono else cfa
    black, span = photo.black, photo.white - photo.black
    low = float((-black / span).max())  # the light of a stored zero, and that of saturation
    high = float(((lowest_saturation(photo) - black) / span).min())
    if given is not None:
        shown = noise_factor(mosaic, cfa, given, low=low, high=high)
        return FoundNoise(given, "given", photo.noise, shown=shown)
    if photo.noise is None:
        return FoundNoise(estimate_noise(mosaic, cfa, low=low, high=high), "estimated")
    return _scale(photo.noise, noise_factor(mosaic, cfa, photo.noise, low=low, high=high))


def _scale(stated: NoiseModel, measured: float | None) -> FoundNoise:
    """Return the noise that a file states, scaled where its samples show less or more by far."""
    if measured is None or 1 / _AGREEMENT <= measured <= _AGREEMENT:
        return FoundNoise(stated, "profile", stated, measured)
    factor = min(max(measured, 1 / _MOST_SCALED), _MOST_SCALED)
    return FoundNoise(stated.scale(factor), "scaled", stated, measured)


def span_of(photo: RawPhoto) -> float:
    """Return how far white lies above the mean black level, in the numbers of the samples."""
    return photo.white - float(photo.black.mean())


def linear_samples(photo: RawPhoto) -> Float32:
    """Return the samples, as they lie, as light, black 0 and white 1; dark noise stays negative."""
    light = photo.mosaic.astype(np.float32)
    for index, black in np.ndenumerate(photo.black):
        site = light[place_of(index, photo.black.shape)]
        site -= np.float32(black)
        site /= np.float32(photo.white - black)
    return light
