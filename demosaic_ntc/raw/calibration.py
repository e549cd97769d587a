"""Calibration of a photo: dark frames, flat fields and banding.

Frames are raws of the same camera, read one by one, whose mean is kept for the next photo. What a sensor
reads without light is taken off, with the pixels that are hot in it. Photos of an even light tell how lens,
dust and sensor shade each colour: their mean becomes a map of gains for each colour, smooth enough to have
none of their noise, and is done as the maps that a DNG states. Offsets of rows and columns are told, and
removed where they are beyond doubt.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from demosaic_ntc.arrays import SIGMA_OF_MAD, Flags, Float32
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.choices import Banding
from demosaic_ntc.detection.banding import LineNoise, clean_lines
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.formats import Layout
from demosaic_ntc.io.header import InputLimits
from demosaic_ntc.raw.levels import replace_levels
from demosaic_ntc.raw.noise import span_of
from demosaic_ntc.raw.opcodes.area import Area
from demosaic_ntc.raw.opcodes.pixel_opcodes import GainMap
from demosaic_ntc.raw.photo import Mosaic, RawPhoto
from demosaic_ntc.raw.reading import read_photo
from demosaic_ntc.raw.saturation import lowest_saturation

Paths: TypeAlias = tuple[Path, ...]
Made = TypeVar("Made")

_EXPOSURES_ALIKE = 1.1  # times


@dataclass(frozen=True, slots=True)
class FrameReader:
    """How frames are read: as the photo that they are for."""

    layout: Layout
    limits: InputLimits
    black: tuple[float, ...] | None

    def read(self, path: Path) -> RawPhoto:
        """A frame, with the black level that was given for the photo."""
        return replace_levels(read_photo(path, self.layout, self.limits), self.black, "auto")


@dataclass(frozen=True, slots=True)
class FrameFacts:
    """What frames have in common with the photo that they are for, as far as files tell."""

    size: tuple[int, int]
    array: str
    camera: str
    iso: float | None
    seconds: float | None

    @classmethod
    def of(cls, photo: RawPhoto) -> "FrameFacts":
        """Those of a photo."""
        facts = photo.exif.facts
        return cls(
            photo.size, photo.array_name, photo.exif.camera, facts.get("iso"), facts.get("exposure_seconds")
        )

    def check(self, path: Path, frame: "FrameFacts", kind: str) -> None:
        """Refuse a frame of another camera or size."""
        if frame.size != self.size or frame.array != self.array:
            raise InputError(
                f"{path}: is a {kind} of {frame.size[1]}×{frame.size[0]} pixels ({frame.array}), not of "
                f"{self.size[1]}×{self.size[0]} ({self.array}) as the photo; take it with the same camera"
            )
        if self.camera and frame.camera and frame.camera != self.camera:
            raise InputError(
                f"{path}: is a {kind} of {frame.camera}, the photo of {self.camera}; use the same camera"
            )

    def check_exposure(self, path: Path, frame: "FrameFacts", kind: str) -> None:
        """Refuse a frame of another ISO or exposure."""
        if self.iso and frame.iso and frame.iso != self.iso:
            raise InputError(
                f"{path}: is a {kind} at ISO {frame.iso:g}, the photo at ISO {self.iso:g}; take it at that"
            )
        if self.seconds and frame.seconds:
            ratio = max(self.seconds / frame.seconds, frame.seconds / self.seconds)
            if ratio > _EXPOSURES_ALIKE:
                raise InputError(
                    f"{path}: is a {kind} of {frame.seconds:g} s, the photo of {self.seconds:g} s; "
                    "expose it as long"
                )


def add_means(total: Float32 | None, frame: RawPhoto) -> Float32:
    """A running sum of the samples of frames above their black levels."""
    height, width = frame.size
    down, across = frame.black.shape[:2]
    black = np.tile(frame.black, (-(-height // down), -(-width // across)))[:height, :width]
    above = np.asarray(frame.mosaic - black.astype(np.float32), np.float32)
    return above if total is None else total + above


def remember(make: Callable[[Paths, FrameReader], Made]) -> Callable[[Paths, FrameReader], Made]:
    """Let a function make something of frames once for all photos, until a frame has changed.

    Nothing is kept but the last: frames are large.
    """
    made: dict[object, Made] = {}

    def look_up(paths: Paths, reader: FrameReader) -> Made:
        key = (paths, tuple(_signs(paths)), repr(reader))
        if key not in made:
            result = make(paths, reader)
            made.clear()
            made[key] = result
        return made[key]

    return look_up


def _signs(paths: Paths) -> Iterator[tuple[int, int] | None]:
    """What tells whether a file has changed; None where there is none, which its reader tells."""
    for path in paths:
        try:
            status = os.stat(path)
        except OSError:
            yield None
        else:
            yield status.st_size, status.st_mtime_ns


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
    from demosaic_ntc.raw.bad_pixels import hot_pixels  # noqa: PLC0415 (loads kernels; `info` does without)

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
    return DarkFrame(mean, hot, SIGMA_OF_MAD * float(np.median(np.abs(mean - middle))), tuple(facts))


def subtract_dark(
    photo: RawPhoto, paths: tuple[Path, ...], reader: FrameReader, *, hot: bool
) -> tuple[RawPhoto, Flags | None]:
    """The photo without what it reads in the dark, and flags of the pixels that are hot, if that is wanted.

    Levels are raised where noise would end below zero. What is saturated stays so.
    """
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
    from demosaic_ntc.raw.bad_pixels import fill_bad_pixels  # noqa: PLC0415 (loads kernels; `info` does without)

    frames = f"{count} dark frame{'s' if count > 1 else ''}"
    said = f"the mean of {frames} was subtracted, {float(dark.above.mean()):.2g} above black on average"
    number = int(np.count_nonzero(dark.hot))
    if not wanted or number == 0 or number > _MOST_HOT * dark.hot.size:
        return replace(photo, notices=(*photo.notices, said)), None
    told = f"{said}; {number} hot pixels were replaced"
    return fill_bad_pixels(replace(photo, notices=(*photo.notices, told)), dark.hot), dark.hot


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


def flat_gains(photo: RawPhoto, paths: tuple[Path, ...], reader: FrameReader) -> tuple[GainMap, ...]:
    """The gains of each site of a photo's array."""
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


_LINES = ("rows", "columns")
_CODES = 255.0  # in which offsets are told to people
_BELOW = 0.98  # of the way from black to saturation: samples above count as saturated


@dataclass(frozen=True, slots=True)
class FoundBanding:
    """Offsets of the rows and columns of a photo, and its samples without those that are beyond doubt."""

    lines: tuple[LineNoise, ...]
    mosaic: Mosaic
    span: float  # how far white lies above black

    def describe(self) -> dict[str, Any]:
        """Return how strong offsets are, of 255, and how far both ends of lines agree, for JSON."""
        told = zip(_LINES, self.lines, strict=True)
        return {
            name: {
                "deviation": _CODES * each.deviation / self.span,
                "correlation": each.correlation,
                "removed": each.is_found,
            }
            for name, each in told
        }


def find_banding(photo: RawPhoto, threads: int = 1) -> FoundBanding | None:
    """The offsets of a photo's rows, and those of its columns without these; None of linear raws."""
    if photo.cfa is None:
        return None
    black = float(photo.black.max())
    limit = black + _BELOW * (lowest_saturation(photo) - black)
    lines, cleaned = clean_lines(photo.mosaic, photo.cfa, limit, threads)
    return FoundBanding(lines, cleaned, span_of(photo))


def remove_banding(photo: RawPhoto, wanted: Banding | None, threads: int = 1) -> RawPhoto:
    """The photo without row and column noise, with a notice; one without any is returned as it is.

    Unless asked for, none is looked for in a mosaic without a camera.
    """
    if wanted == "off" or (wanted is None and photo.is_plain):
        return photo
    found = find_banding(photo, threads)
    if found is None or found.mosaic is photo.mosaic:
        return photo
    removed = ((name, each["deviation"]) for name, each in found.describe().items() if each["removed"])
    told = ", ".join(f"{name} by {deviation:.2g} of 255" for name, deviation in removed)
    remark = f"banding was found and removed: {told} (`banding=off` keeps it)"
    return replace(photo, mosaic=found.mosaic, notices=(*photo.notices, remark))
