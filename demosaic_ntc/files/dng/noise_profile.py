"""The noise that a DNG states of its samples: tag 51041, pairs S, O of variances S·x + O (DNG 1.4)."""

from demosaic_ntc.errors import InputError
from demosaic_ntc.files.tags import Directory, numbers
from demosaic_ntc.imaging.noise import NoiseModel

NOISE_PROFILE = 51041


def noise_profile(tags: Directory) -> tuple[NoiseModel | None, tuple[str, ...]]:
    """Return the model that the tags of a DNG's mosaic state, if they do, and a notice if it is not used."""
    if NOISE_PROFILE not in tags:
        return None, ()
    stated = [float(value) for value in numbers(tags, NOISE_PROFILE)]
    try:
        return NoiseModel.of_pairs(stated), ()
    except InputError as error:
        reason = str(error).split(";", maxsplit=1)[0] if stated else "it holds no finite numbers"
        return None, (f"the file's noise profile is not used: {reason}",)
