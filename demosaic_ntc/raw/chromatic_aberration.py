"""Lateral chromatic aberration of a photo, found and corrected in its samples."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.demosaicing.interpolation.dead_samples import replace_missing_samples
from demosaic_ntc.detection.chromatic_aberration import FindOffsets, Fringes, correct_fringes, find_fringes
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.raw.photo import UNBALANCED, Multipliers, RawPhoto
from demosaic_ntc.raw.saturation import saturation

_BAND = 512  # rows that stand under the curve at once


def correct_photo_fringes(photo: RawPhoto, missing: Flags | None = None) -> RawPhoto:
    """The photo with red and blue drawn as large as green, and a notice of how far off they were.

    Samples that are missing count for nothing.
    """
    if photo.cfa is None or not photo.cfa.is_bayer:
        return _add_notice(photo, "colour fringes are looked for in Bayer arrays only")
    moved, found = align_samples(photo, missing)
    if not found.any:
        return _add_notice(photo, "no colour fringes were found")
    shares = f"red was {found.red:+.2%} and blue {found.blue:+.2%} larger than green"
    return _add_notice(moved, f"chromatic aberration was corrected: {shares}")


def align_samples(
    photo: RawPhoto, missing: Flags | None, stated: FindOffsets | None = None
) -> tuple[RawPhoto, Fringes]:
    """A Bayer photo with red and blue where green is, and how far off they were beyond what is stated."""
    assert photo.cfa is not None
    gain, black = _levels(photo)
    light = ((photo.mosaic - black) * gain).astype(np.float32)
    if missing is not None and missing.any():
        light = replace_missing_samples(light, missing, photo.cfa)
    found = find_fringes(light, photo.cfa, stated)
    if not found.any:
        return photo, found
    aligned = correct_fringes(_by_bands(_encode, light), photo.cfa, found, _find_tops(photo))
    codes = np.rint(_by_bands(_decode, aligned) / gain + black)
    return replace(photo, mosaic=np.clip(codes, 0, np.iinfo(np.uint16).max).astype(np.uint16)), found


def _find_tops(photo: RawPhoto) -> tuple[float, ...]:
    """Where red, green and blue saturate, under the curve."""
    tops = (np.array(saturation(photo)) - photo.blacks) * np.array(_gains(photo)[:3])
    return tuple(SRGB_CURVE.encode(tops).tolist())


def _encode(light: Float32) -> Float32:
    """Light under the sRGB curve."""
    return np.asarray(SRGB_CURVE.encode(light), np.float32)  # type: ignore[arg-type]


def _decode(codes: Float32) -> Float32:
    """Light from under the sRGB curve."""
    return np.asarray(SRGB_CURVE.decode(codes), np.float32)  # type: ignore[arg-type]


def _by_bands(change: Callable[[Float32], Float32], plane: Float32) -> Float32:
    """A plane whose values are changed one by one, some rows at a time."""
    changed = np.empty_like(plane)
    for top in range(0, len(plane), _BAND):
        changed[top : top + _BAND] = change(plane[top : top + _BAND])
    return changed


def _add_notice(photo: RawPhoto, notice: str) -> RawPhoto:
    """The photo with one more thing to be told of it."""
    return replace(photo, notices=(*photo.notices, notice))


def _gains(photo: RawPhoto) -> Multipliers:
    """What makes samples light, white 1, that is about balanced."""
    balance = photo.camera_balance or photo.daylight_balance or UNBALANCED
    return tuple(each / (balance[1] * photo.span) for each in balance)  # type: ignore[return-value]


def _levels(photo: RawPhoto) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The gain and the black level of every sample."""
    sites, (height, width) = photo.sites, photo.size
    down, across = sites.period
    gains = np.asarray(_gains(photo), dtype=np.float32)[sites.channels]
    tiles = (-(-height // down), -(-width // across))
    gain, black = (np.tile(each, tiles)[:height, :width] for each in (gains, sites.black.astype(np.float32)))
    return gain, black
