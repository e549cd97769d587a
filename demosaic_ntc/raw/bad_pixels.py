"""Dead and hot pixels: listed, found or seen in the dark, and filled to keep them out of all that follows."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import SIGMA_OF_MAD, Float32
from demosaic_ntc.choices import BadPixels
from demosaic_ntc.demosaicing.noise import NoiseModel
from demosaic_ntc.detection.defects import find_defects
from demosaic_ntc.errors import InputError
from demosaic_ntc.io.atomic import whole_file
from demosaic_ntc.io.header import InputLimits, open_regular, prefix_path
from demosaic_ntc.raw.noise import GREY_ARRAY, FoundNoise, linear_samples, noise_of, span_of
from demosaic_ntc.raw.photo import GREEN, UNBALANCED, Mosaic, RawPhoto, place_of
from demosaic_ntc.raw.saturation import saturation

_MOST_BYTES = 16 << 20

# Sensors have tens of them in a megapixel; where far more seem bad, something else is.
_LARGEST_SHARE = 0.002

# At most this may count against a defect of a plane, whose neighbours all measure the same light.
_MOST_IN_PLANES = 0.25

# Of white: the standard deviation of a linear raw, at least.
_LEAST_IN_LINEAR = 0.01


def remove_bad_pixels(
    photo: RawPhoto, wanted: BadPixels, given: NoiseModel | None, threads: int = 1
) -> tuple[RawPhoto, NDArray[np.bool_] | None, FoundNoise | None]:
    """The photo without the bad pixels of a list, or without those that are found, and their flags.

    Unless asked for, none are looked for in a mosaic without a camera. Where they are looked for, the noise
    that they were told from is returned as well.
    """
    if isinstance(wanted, Path):
        listed = read_bad_pixels(wanted, photo.size)
        return fill_bad_pixels(photo, listed), listed, None
    if wanted == "off" or (wanted is None and photo.is_plain):
        return photo, None, None
    light = linear_samples(photo)
    noise = noise_of(photo, given, light)
    found = find_bad_pixels(photo, light, noise.model, threads)
    del light
    count = int(np.count_nonzero(found))
    if count == 0:
        return photo, None, noise
    if count > _LARGEST_SHARE * found.size:
        remark = (
            f"{count} pixels look hot or dead, too many to be true; list those that are in `bad_pixels=FILE`"
        )
        return replace(photo, notices=(*photo.notices, remark)), None, noise
    those = "pixels were" if count > 1 else "pixel was"
    remark = f"{count} hot or dead {those} found and replaced (`bad_pixels=off` keeps them)"
    return fill_bad_pixels(replace(photo, notices=(*photo.notices, remark)), found), found, noise


def find_bad_pixels(
    photo: RawPhoto, light: Float32, noise: NoiseModel, threads: int = 1
) -> NDArray[np.bool_]:
    """Flags of the pixels that stick out of all around them by more than this noise, (height, width).

    Their ``light`` is that of `linear_samples`.
    """
    red, green, blue, _ = photo.camera_balance or photo.daylight_balance or UNBALANCED
    span, cfa = span_of(photo), photo.cfa
    white = (min(saturation(photo)) - float(photo.black.max())) / span
    told: Any = {"white": white, "step": 1 / span, "threads": threads}
    if cfa is not None and not cfa.is_mono:
        return find_defects(light, cfa, noise, balance=(red, green, blue), **told)
    planes, found = light[..., None] if light.ndim == 2 else light, np.zeros(photo.size, np.bool_)
    for channel in range(planes.shape[2]):  # of grey light, in which all around know of what a lens draws
        own = noise.of_channel(GREEN) if photo.is_monochrome else _raise_noise(noise.of_channel(channel))
        found |= find_defects(planes[..., channel], GREY_ARRAY, own, most=_MOST_IN_PLANES, **told)
    return found


def _raise_noise(noise: NoiseModel) -> NoiseModel:
    """The noise that a linear raw is judged by: it was smoothed, so estimates of its noise are too low."""
    return NoiseModel.from_user(noise.slope, np.maximum(noise.floor, _LEAST_IN_LINEAR**2).tolist())


def read_bad_pixels(path: Path, size: tuple[int, int]) -> NDArray[np.bool_]:
    """Flags of the pixels listed in a text file.

    Each line is ``column row``, counted from 0 at the top left of the visible area before rotation; what
    follows (dcraw's files add a date) and lines that start with ``#`` are left out.
    """
    with prefix_path(path), open_regular(path, InputLimits(file_bytes=_MOST_BYTES)) as file:
        lines = file.read().decode("utf-8", "replace").splitlines()
        places = [_place(number, line, size) for number, line in enumerate(lines, 1) if _says_something(line)]
    bad = np.zeros(size, np.bool_)
    for row, column in places:
        bad[row, column] = True
    return bad


def _says_something(line: str) -> bool:
    """Whether a line is more than blanks and a remark."""
    return bool(line.split("#")[0].strip())


def _place(number: int, line: str, size: tuple[int, int]) -> tuple[int, int]:
    """Row and column of a line of the list."""
    try:
        column, row = (int(word) for word in line.split("#")[0].split()[:2])
    except ValueError:
        raise InputError(f"line {number} is not `column row`; give two whole numbers") from None
    if not (0 <= row < size[0] and 0 <= column < size[1]):
        raise InputError(
            f"line {number}: {column} {row} lies outside {size[1]}×{size[0]} pixels; mend the list"
        )
    return row, column


def fill_bad_pixels(photo: RawPhoto, bad: NDArray[np.bool_]) -> RawPhoto:
    """The photo with the flagged samples filled by the nearest good ones of the same colour.

    The engine completes these samples; until then white balance and levels must not see them.
    """
    mosaic = photo.mosaic.copy()
    for row, column in np.argwhere(bad):
        mosaic[row, column] = _fill_median(photo, bad, int(row), int(column))
    return replace(photo, mosaic=mosaic)


def _fill_median(photo: RawPhoto, bad: NDArray[np.bool_], row: int, column: int) -> NDArray[Any]:
    """The median of the good samples of one colour, or of each plane, in the smallest window with some."""
    colours = np.zeros((1, 1), np.uint8) if photo.cfa is None else photo.cfa.pattern
    height, width = colours.shape
    for reach in range(2, max(photo.size) + 1, 2):
        rows = np.arange(max(row - reach, 0), min(row + reach + 1, photo.size[0]))
        columns = np.arange(max(column - reach, 0), min(column + reach + 1, photo.size[1]))
        window = np.ix_(rows, columns)
        same = colours[np.ix_(rows % height, columns % width)] == colours[row % height, column % width]
        good: Mosaic = photo.mosaic[window][same & ~bad[window]]
        if good.size:
            return np.asarray(np.rint(np.median(good, axis=0)), np.uint16)
    raise InputError("the list of bad pixels leaves a colour without any sample; mend the list")


_DEVIATIONS = 8.0
_AROUND = 5  # samples of one site of the array in each direction that tell what is dark there
_LEAST_DEVIATION = 0.5  # steps of the samples
_DARK_SHARE = 0.25  # of white: what is brighter was not taken in the dark


def hot_pixels(photos: Iterable[tuple[Path, RawPhoto]]) -> NDArray[np.bool_]:
    """Flags of the pixels that stand out in more than half of the dark frames."""
    counts: NDArray[np.int64] | None = None
    frames = 0
    for path, photo in photos:
        found = find_outliers(path, photo)
        if counts is not None and counts.shape != found.shape:
            height, width = counts.shape
            raise InputError(
                f"{path}: is not of {width}×{height} pixels as the first; give frames of one camera"
            )
        counts = found.astype(np.int64) if counts is None else counts + found
        frames += 1
    if counts is None:
        raise InputError("no dark frame was given; give one or more")
    return np.asarray(2 * counts > frames)


def find_outliers(path: Path, photo: RawPhoto) -> NDArray[np.bool_]:
    """Flags of the samples of a dark frame that differ from those around them by more than noise."""
    from scipy.ndimage import median_filter  # noqa: PLC0415 (slow to load; few photos have dark frames)

    middle = float(np.median(photo.mosaic))
    if middle - photo.black.mean() > _DARK_SHARE * (photo.white - photo.black.mean()):
        raise InputError(f"{path}: is not dark; cover the lens and take it again")
    found = np.zeros(photo.size, np.bool_)
    period = photo.channels.shape
    for index in np.ndindex(period):
        place = place_of(index, period)
        site = photo.mosaic[place].astype(np.float32)
        away = np.abs(site - median_filter(site, size=_AROUND, mode="nearest"))
        deviation = max(SIGMA_OF_MAD * float(np.median(away)), _LEAST_DEVIATION)
        found[place[:2]] |= away > _DEVIATIONS * deviation
    return found


def write_bad_pixels(target: Path, bad: NDArray[np.bool_], *, overwrite: bool) -> None:
    """Write flags as the list that `read_bad_pixels` reads: ``column row`` per line."""
    height, width = bad.shape
    lines = [f"# column row of {np.count_nonzero(bad)} bad pixels among {width}×{height}"]
    lines += [f"{column} {row}" for row, column in np.argwhere(bad)]
    with whole_file(target, overwrite=overwrite) as file:
        file.write("\n".join(lines).encode() + b"\n")
