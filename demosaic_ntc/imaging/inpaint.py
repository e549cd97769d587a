"""From a damaged picture to a whole one: the border where input is checked and the scale is found."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.errors import InputError
from demosaic_ntc.imaging.checks import (
    QUALITIES,
    check_choice,
    checked_missing,
    checked_threads,
    full_scale,
    silently,
)
from demosaic_ntc.imaging.repair import METHODS, repair
from demosaic_ntc.imaging.restored import ReportProgress, Restored
from demosaic_ntc.ntc.deadline import Deadline

Flags = NDArray[np.bool_]
Planes = NDArray[np.float32]

# Known values within this share of full scale are stretched: float32 would lose them, and tolerances too.
_LEAST_CONTRAST = 1 / 64


def inpaint(
    image: NDArray[Any],
    missing: NDArray[np.bool_],
    *,
    method: str = "ntc",
    quality: str = "normal",
    seed: int = 0,
    threads: int | None = None,
    progress: ReportProgress | None = None,
    time_limit: float | None = None,
) -> Restored:
    """Restore the missing pixels of a picture.

    Parameters
    ----------
    image
        Height × width or height × width × channels, of any integer or float type and in any range from zero
        up. Known entries are finite and not negative; whatever stands at missing ones is ignored.
    missing
        Flags of what is to be restored: height × width for pixels, or of the image's shape for entries.
    method
        ``"ntc"`` (groups of patches completed), ``"group-mean"`` (the same without the completion, to see
        what it adds) or ``"biharmonic"`` (the first estimate alone).
    quality
        ``"fast"``, ``"normal"`` or ``"best"``: how much effort the groups are worth.
    seed
        Here for the sake of calls written for every method: no step of these draws random numbers.
    threads
        How many threads share the work; all processors when not given. The result does not depend on it.
    progress
        Called with a `Progress` after each step.
    time_limit
        Seconds after which groups are no longer completed but left at their means, which the certificate
        then shows. The first estimate is always computed.

    Returns
    -------
    Restored
        The picture in the type of the input, known entries bit by bit as they were.
    """
    check_choice("method", method, METHODS)
    check_choice("quality", quality, QUALITIES)
    workers, deadline = checked_threads(threads), Deadline.after(time_limit)
    picture = _checked_picture(image)
    flags = _flags_of_entries(missing, picture)
    _check_known(picture, flags)
    if not flags.any():
        return Restored(picture.copy(), notices=("nothing is missing, nothing to do",))
    scale = Scale.of(picture[~flags])
    planes, known = scale.planes(picture, flags), np.ascontiguousarray(_as_planes(~flags))
    seen = np.array([plane.any() for plane in known])
    used = slice(None) if seen.all() else seen
    filled, certificate = repair(
        planes[used], known[used], method, quality, workers, progress or silently, deadline
    )
    values = _as_image(_with_unseen(filled, seen), picture.shape)[flags]
    return Restored(_with(picture, flags, scale.values(values, picture.dtype)), certificate, _notices(seen))


@dataclass(frozen=True, slots=True)
class Scale:
    """The straight line between the values of a picture and those of the engine, about 0 to 1."""

    black: float
    width: float
    white: float  # nothing restored lies above

    @classmethod
    def of(cls, known: NDArray[Any]) -> "Scale":
        """Return the scale of the known values: full scale is 1, unless they crowd in a small part of it."""
        white, low, high = full_scale(known), float(known.min()), float(known.max())
        if 0 < high - low < white * _LEAST_CONTRAST:
            return cls(low, high - low, white)
        return cls(0.0, white, white)

    def planes(self, picture: NDArray[Any], missing: Flags) -> Planes:
        """Return the engine's values, channel by channel; zero where they are missing."""
        planes = np.zeros(_as_planes(picture).shape, np.float32)
        for plane, values, flags in zip(planes, _as_planes(picture), _as_planes(missing), strict=True):
            np.copyto(plane, (values - self.black) / self.width, where=~flags, casting="same_kind")
        return planes

    def values(self, planes: Planes, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return values of the picture's type, integers rounded, none out of range."""
        values = planes.astype(np.float64) * self.width + self.black
        if dtype.kind == "f":
            return np.clip(values, 0.0, min(self.white, float(np.finfo(dtype).max))).astype(dtype)
        return np.rint(np.clip(values, 0.0, min(self.white, _largest_float(dtype)))).astype(dtype)


def _largest_float(dtype: np.dtype[Any]) -> float:
    """Return the largest float64 that an integer type holds; rounding up would wrap around."""
    largest = np.iinfo(dtype).max
    return float(np.nextafter(float(largest), 0.0)) if float(largest) > largest else float(largest)


def _checked_picture(image: NDArray[Any]) -> NDArray[Any]:
    """Return the picture as an array that can be restored, or raise."""
    picture = np.asarray(image)
    if picture.ndim not in (2, 3) or picture.size == 0:
        raise InputError(
            f"an image of shape {picture.shape} is no picture; give height × width, or × channels as well"
        )
    if picture.dtype.kind not in "uif":
        raise InputError(f"values of type {picture.dtype} are no levels; give integers or floats")
    return picture


def _flags_of_entries(missing: NDArray[np.bool_], picture: NDArray[Any]) -> Flags:
    """Return a flag for every entry of the picture, or raise when the mask does not fit it."""
    flags = checked_missing(missing, "image", picture.shape[:2], *[picture.shape][: picture.ndim - 2])
    return flags if flags.ndim == picture.ndim else np.broadcast_to(flags[..., None], picture.shape)


def _check_known(picture: NDArray[Any], missing: Flags) -> None:
    """Raise if known entries are nothing that can be completed, with their number and the first of them."""
    if picture.dtype.kind == "u":
        return
    if picture.dtype.kind == "f":
        _refuse(~np.isfinite(picture) & ~missing, "NaN or infinite", "mark them as missing or replace them")
    with np.errstate(invalid="ignore"):
        _refuse((picture < 0) & ~missing, "negative", "add a constant or clip at zero")


def _refuse(wrong: Flags, what: str, remedy: str) -> None:
    """Raise if any entry is wrong."""
    count = int(wrong.sum())
    if count:
        row, column, *channel = np.unravel_index(int(wrong.argmax()), wrong.shape)
        where = f"row {row}, column {column}" + "".join(f", channel {each}" for each in channel)
        raise InputError(f"known entries that are {what}: {count}, the first at {where}; {remedy}")


def _with_unseen(filled: Planes, seen: Flags) -> Planes:
    """Return all channels; one without any known entry is the mean of the others."""
    if seen.all():
        return filled
    planes = np.broadcast_to(filled.mean(axis=0), (seen.size, *filled.shape[1:])).copy()
    planes[seen] = filled
    return planes


def _notices(seen: Flags) -> tuple[str, ...]:
    """Return what a user should know: channels of which nothing was known."""
    return tuple(
        f"no data in channel {channel}; it became the mean of the others" for channel in np.flatnonzero(~seen)
    )


def _as_planes(image: NDArray[Any]) -> NDArray[Any]:
    """Return the channels of an image as a stack of planes."""
    return np.moveaxis(np.atleast_3d(image), 2, 0)


def _as_image(planes: Planes, shape: tuple[int, ...]) -> Planes:
    """Return a stack of planes as the image of this shape."""
    return np.moveaxis(planes, 0, 2).reshape(shape)


def _with(picture: NDArray[Any], missing: Flags, values: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of the picture with other values where they are missing."""
    restored = picture.copy()
    restored[missing] = values
    return restored
