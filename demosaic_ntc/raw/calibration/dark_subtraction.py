"""Dark frames: what a sensor reads without light is taken off a photo, with the pixels that are hot in it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.errors import InputError
from demosaic_ntc.raw.bad_pixels import fill_bad_pixels
from demosaic_ntc.raw.calibration.frames import FrameFacts, FrameReader, add_means, remember
from demosaic_ntc.raw.dark_frames import hot_pixels
from demosaic_ntc.raw.photo import RawPhoto
from demosaic_ntc.raw.saturation import lowest_saturation

_FULL = 65535
_MOST_HOT = 0.005  # of all pixels; where more stand out, they are no more than subtracted
_ROOM = 6.0  # deviations below black that are kept


@dataclass(frozen=True, slots=True)
class DarkFrame:
    """The mean of dark frames."""

    above: Float32  # (height, width): samples above black
    hot: Flags
    deviation: float  # of the mean's samples, about
    facts: tuple[FrameFacts, ...]


@remember
def read_dark(paths: tuple[Path, ...], reader: FrameReader) -> DarkFrame:
    """The mean of dark frames, and the pixels that stand out in more than half of them."""
    total: Float32 | None = None
    facts: list[FrameFacts] = []

    def frames() -> Iterator[tuple[Path, RawPhoto]]:
        nonlocal total
        for path in paths:
            frame = reader.read(path)
            if frame.is_linear:
                raise InputError(f"{path}: is a linear raw; dark frames are mosaics as a sensor reads them")
            if facts:
                facts[0].check(path, FrameFacts.of(frame), "dark frame")
            facts.append(FrameFacts.of(frame))
            yield path, frame
            total = add_means(total, frame)

    hot = hot_pixels(frames())
    assert total is not None  # there is a frame, or `hot_pixels` raises
    mean = total / np.float32(len(paths))
    middle = float(np.median(mean))
    return DarkFrame(mean, hot, 1.4826 * float(np.median(np.abs(mean - middle))), tuple(facts))


def subtract_dark(
    photo: RawPhoto, paths: tuple[Path, ...] | None, reader: FrameReader, *, hot: bool
) -> tuple[RawPhoto, Flags | None]:
    """The photo without what it reads in the dark, and flags of the pixels that are hot, if that is wanted.

    Levels are raised where noise would end below zero. What is saturated stays so.
    """
    if not paths:
        return photo, None
    if photo.is_linear:
        raise InputError("is a linear raw, from which no dark frame is taken; leave out `dark`")
    dark: DarkFrame = read_dark(paths, reader)
    for path, frame in zip(paths, dark.facts, strict=True):
        FrameFacts.of(photo).check(path, frame, "dark frame")
        FrameFacts.of(photo).check_exposure(path, frame, "dark frame")
    room = float(np.quantile(dark.above, 0.999)) + _ROOM * dark.deviation - float(photo.black.min())
    raised = min(max(int(np.ceil(room)), 0), int(_FULL - photo.white))
    lowest = lowest_saturation(photo)
    samples = photo.mosaic.astype(np.float32)
    taken = samples + raised - np.where(samples < lowest, dark.above, np.float32(0))
    mosaic = np.clip(np.rint(taken), 0, _FULL).astype(np.uint16)
    photo = replace(photo, mosaic=mosaic, black=photo.black + raised, white=photo.white + raised)
    return _remove_hot(photo, dark, len(paths), wanted=hot)


def _remove_hot(
    photo: RawPhoto, dark: DarkFrame, count: int, *, wanted: bool
) -> tuple[RawPhoto, Flags | None]:
    """The photo without hot pixels, as far as that is wanted, and what is to be told."""
    frames = f"{count} dark frame{'s' if count > 1 else ''}"
    said = f"the mean of {frames} was subtracted, {float(dark.above.mean()):.2g} above black on average"
    number = int(np.count_nonzero(dark.hot))
    if not wanted or number == 0 or number > _MOST_HOT * dark.hot.size:
        return replace(photo, notices=(*photo.notices, said)), None
    told = f"{said}; {number} hot pixels were replaced"
    return fill_bad_pixels(replace(photo, notices=(*photo.notices, told)), dark.hot), dark.hot
