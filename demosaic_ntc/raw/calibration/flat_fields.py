"""Flat fields: photos of an even light tell how lens, dust and sensor shade each colour.

Their mean becomes a map of gains for each colour, smooth enough to have none of their noise, and is done as
the maps that a DNG states.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.errors import InputError
from demosaic_ntc.raw.calibration.frames import FrameFacts, FrameReader, add_means, remember
from demosaic_ntc.raw.opcodes.area import Area
from demosaic_ntc.raw.opcodes.pixel_opcodes import GainMap
from demosaic_ntc.raw.photo import RawPhoto
from demosaic_ntc.raw.saturation import lowest_saturation

_STEP = 4  # pixels between the points of a map
_REACH = 4.0  # pixels: the deviation of the Gaussian that smooths it
_OUTLIER = 0.1  # of the light around: what differs by more is a bad pixel
_LEAST_LIGHT = 0.02  # of white
_LARGEST_GAIN = 16.0
_BRIGHTEST = 0.999  # the share of a picture that is not as bright as where the gain is 1


@dataclass(frozen=True, slots=True)
class FlatField:
    """The light of flat frames by colour, at the points of a grid."""

    gains: tuple[Float32, ...]  # (rows, columns) of each colour that the array has, by its number
    facts: tuple[FrameFacts, ...]


@remember
def read_flat(paths: tuple[Path, ...], reader: FrameReader) -> FlatField:
    """The gains that make the mean of flat frames even."""
    total: Float32 | None = None
    facts: list[FrameFacts] = []
    for path in paths:
        frame = reader.read(path)
        _check_frame(path, frame)
        if facts:
            facts[0].check(path, FrameFacts.of(frame), "flat frame")
        facts.append(FrameFacts.of(frame))
        total = add_means(total, frame)
    if total is None or frame.cfa is None:
        raise InputError("no flat frame was given; give one or more")
    gains = tuple(_make_even(total, frame.cfa, colour) for colour in range(3))
    return FlatField(gains, tuple(facts))


def flat_gains(photo: RawPhoto, paths: tuple[Path, ...] | None, reader: FrameReader) -> tuple[GainMap, ...]:
    """The gains of each site of a photo's array; none without flat frames."""
    if not paths:
        return ()
    if photo.cfa is None:
        raise InputError("is a linear raw, for which there is no flat field; leave out `flat`")
    flat: FlatField = read_flat(paths, reader)
    for path, frame in zip(paths, flat.facts, strict=True):
        FrameFacts.of(photo).check(path, frame, "flat frame")
    return tuple(_maps(photo.cfa, photo.size, flat))


def _check_frame(path: Path, frame: RawPhoto) -> None:
    """Refuse what shows no even light."""
    if frame.is_linear:
        raise InputError(f"{path}: is a linear raw; flat frames are mosaics as a sensor reads them")
    black, middle = float(frame.black.mean()), float(np.median(frame.mosaic))
    if middle - black < _LEAST_LIGHT * (frame.white - black):
        raise InputError(f"{path}: is too dark for a flat frame; expose it longer")
    lowest = lowest_saturation(frame)
    if np.count_nonzero(frame.mosaic >= lowest) > _OUTLIER * frame.mosaic.size:
        raise InputError(f"{path}: is overexposed, which tells nothing of shading; expose it less")


def _make_even(light: Float32, cfa: Cfa, colour: int) -> Float32:
    """The gains of a colour at every few pixels: they make its light as bright as where it is brightest."""
    height, width = light.shape
    own = np.tile(cfa.pattern == colour, (-(-height // cfa.period[0]), -(-width // cfa.period[1])))
    own = own[:height, :width]
    if not own.any():
        return np.ones((1, 1), np.float32)
    smooth = _smooth(light, own)
    good = own & (np.abs(light - smooth) <= _OUTLIER * smooth)
    smooth = _smooth(light, good if good.any() else own)
    brightest = np.quantile(smooth, _BRIGHTEST)
    gains = brightest / np.maximum(smooth, brightest / _LARGEST_GAIN)
    return np.asarray(gains[::_STEP, ::_STEP], np.float32)


def _smooth(light: Float32, own: Flags) -> Float32:
    """The light of some samples around each pixel, by a Gaussian, and by another of what that leaves.

    The second pass gives back the curvature that the first has lost (J. W. Tukey's twicing).
    """
    weights = np.maximum(_blur(own.astype(np.float32)), np.float32(1e-6))
    once = _blur(np.where(own, light, np.float32(0))) / weights
    return np.asarray(once + _blur(np.where(own, light - once, np.float32(0))) / weights, np.float32)


def _blur(image: Float32) -> Float32:
    """A picture under a wide Gaussian."""
    from scipy.ndimage import gaussian_filter  # noqa: PLC0415 (slow to load; few photos have flat fields)

    return np.asarray(gaussian_filter(image, _REACH, mode="nearest", truncate=3), np.float32)


def _maps(cfa: Cfa, size: tuple[int, int], flat: FlatField) -> Iterator[GainMap]:
    """A map for each site of the array; points lie in the middles of pixels."""
    height, width = size
    spacing, origin = (_STEP / height, _STEP / width), (0.5 / height, 0.5 / width)
    for top, left in np.ndindex(*cfa.period):
        area = Area(top, left, height, width, 0, 1, cfa.period[0], cfa.period[1])
        yield GainMap(area, spacing, origin, flat.gains[int(cfa.pattern[top, left])][..., None])
