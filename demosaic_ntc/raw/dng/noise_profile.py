"""The noise that a DNG states of its samples: tag 51041, pairs S, O of variances S·x + O (DNG 1.4)."""

from typing import BinaryIO

from demosaic_ntc.demosaicing.noise import NoiseModel
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.tiff_tags import Directory, TagReader, numbers

NOISE_PROFILE, NOISE_REDUCTION_APPLIED = 51041, 50935


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


def is_denoised(file: BinaryIO, tags: Directory) -> bool:
    """Whether a DNG says that noise was removed, in the tags of its picture or of the whole file."""
    return any(
        value > 0
        for directory in (tags, TagReader(file).first())
        for value in numbers(directory, NOISE_REDUCTION_APPLIED)
    )
