"""Lateral chromatic aberration of a photo, found and corrected in balanced light."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.detection.chromatic_aberration import correct_fringes, find_fringes
from demosaic_ntc.raw.levels import Exposure
from demosaic_ntc.raw.photo import RawPhoto


def correct_photo_fringes(photo: RawPhoto, exposure: Exposure) -> RawPhoto:
    """The photo with red and blue drawn as large as green, and a notice of how far off they were."""
    if photo.cfa is None or not photo.cfa.is_bayer:
        return _add_notice(photo, "colour fringes are looked for in Bayer arrays only")
    gain, black = _levels(photo, exposure)
    light = ((photo.mosaic - black) * gain).astype(np.float32)
    found = find_fringes(light, photo.cfa)
    if not found.any:
        return _add_notice(photo, "no colour fringes were found")
    codes = correct_fringes(light, photo.cfa, found) / gain + black
    mosaic = np.clip(np.rint(codes), 0, np.iinfo(np.uint16).max).astype(np.uint16)
    shares = f"red was {found.red:+.2%} and blue {found.blue:+.2%} larger than green"
    return _add_notice(replace(photo, mosaic=mosaic), f"chromatic aberration was corrected: {shares}")


def _add_notice(photo: RawPhoto, notice: str) -> RawPhoto:
    """The photo with one more thing to be told of it."""
    return replace(photo, notices=(*photo.notices, notice))


def _levels(photo: RawPhoto, exposure: Exposure) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The gain and the black level of every sample."""
    sites, (height, width) = photo.sites, photo.size
    down, across = sites.period
    gains = np.asarray(exposure.gains, dtype=np.float32)[sites.channels]
    tiles = (-(-height // down), -(-width // across))
    gain, black = (np.tile(each, tiles)[:height, :width] for each in (gains, sites.black.astype(np.float32)))
    return gain, black
