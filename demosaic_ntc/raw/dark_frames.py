"""Hot pixels from dark frames: photos taken with the lens covered, in which nothing else is bright."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.errors import InputError
from demosaic_ntc.io.atomic import whole_file
from demosaic_ntc.raw.photo import RawPhoto, place_of

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
        deviation = max(1.4826 * float(np.median(away)), _LEAST_DEVIATION)
        found[place[:2]] |= away > _DEVIATIONS * deviation
    return found


def write_bad_pixels(target: Path, bad: NDArray[np.bool_], *, overwrite: bool) -> None:
    """Write flags as the list that `read_bad_pixels` reads: ``column row`` per line."""
    height, width = bad.shape
    lines = [f"# column row of {np.count_nonzero(bad)} bad pixels among {width}×{height}"]
    lines += [f"{column} {row}" for row, column in np.argwhere(bad)]
    with whole_file(target, overwrite=overwrite) as file:
        file.write("\n".join(lines).encode() + b"\n")
