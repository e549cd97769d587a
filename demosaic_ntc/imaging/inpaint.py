"""From a damaged picture to a whole one: the border where input is checked and the scale is found."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demosaic_ntc.arrays import Flags, Planes
from demosaic_ntc.errors import InputError
from demosaic_ntc.imaging.checks import (
    QUALITIES,
    check_choice,
    checked_missing,
    checked_noise,
    checked_threads,
    full_scale,
    silently,
)
from demosaic_ntc.imaging.holes.repair import repair
from demosaic_ntc.imaging.kernels.examples import for_holes, prepare_kernels
from demosaic_ntc.imaging.plan import TOLERANCE
from demosaic_ntc.imaging.plans import PLANS, Plan, without_completion
from demosaic_ntc.imaging.restored import GroupCertificate, ReportProgress, Restored
from demosaic_ntc.ntc.deadline import Deadline

METHODS = ("ntc", "predict-only", "biharmonic")

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
    error: bool = False,
    noise: ArrayLike | None = None,
) -> Restored:
    """Restore the missing pixels of a picture, in its own type, known entries bit by bit as they were.

    * ``image``: height × width or height × width × channels, of any integer or float type and in any range
      from zero up. Known entries are finite and not negative; what stands at missing ones is ignored.
    * ``missing``: flags of what is to be restored, height × width for pixels or of the image's shape.
    * ``method``: ``"ntc"`` (groups of patches predicted and completed), ``"predict-only"`` (the same without
      the completion, to see what it adds) or ``"biharmonic"`` (the first estimate alone).
    * ``quality``: ``"fast"``, ``"normal"`` or ``"best"``: how much effort the groups are worth.
    * ``seed``: here for the sake of calls written for every method: no step of these draws random numbers.
    * ``threads``: how many share the work, all processors by default; the result does not depend on it.
    * ``progress``: called with a `Progress` after each step.
    * ``time_limit``: seconds after which no more groups are restored: what stands then is the result, and the
      certificate shows it. The first estimate is always computed.
    * ``error``: also return `Restored.error`, the standard deviation of the error expected at every entry.
    * ``noise``: the standard deviation of the noise in what is known, in the picture's scale: one, or one for
      each channel, or for each of them those at equal steps of the level, (channels, steps). What is known
      stays as it is, but is not taken at its word: what is restored does not go on with its noise.
    """
    check_choice("method", method, METHODS)
    check_choice("quality", quality, QUALITIES)
    workers, deadline = checked_threads(threads), Deadline.after(time_limit)
    picture = _checked_picture(image)
    holes = _holes(missing, picture)
    _check_known(_planes_of(picture), holes)
    if not holes.any():
        nothing = np.zeros(picture.shape, np.float32) if error else None
        return Restored(picture.copy(), notices=("nothing is missing, nothing to do",), error=nothing)
    prepare_kernels(for_holes(method, error))
    report = progress or silently
    return _restored(picture, holes, method, quality, workers, report, deadline, error, noise)


def _restored(
    picture: NDArray[Any],
    holes: Flags,
    method: str,
    quality: str,
    threads: int,
    report: ReportProgress,
    deadline: Deadline,
    error: bool,
    noise: ArrayLike | None,
) -> Restored:
    """Restore a picture that was found in order; ``holes`` are (channels, height, width)."""
    channels, known = _planes_of(picture), np.logical_not(holes, order="C")
    scale, seen = Scale.of(channels, holes), np.array([plane.any() for plane in known])
    used = slice(None) if seen.all() else seen
    planes = scale.planes(channels, holes)[used]
    variance = None if noise is None else checked_noise(noise, scale.width, len(channels))[used]
    plan = _plan(method, quality)
    filled, gaps = repair(planes, known[used], plan, threads, report, deadline, error, variance)
    restored = picture.copy()
    for channel, plane, hole in zip(
        _planes_of(restored), _with_unseen(filled.planes, seen), holes, strict=True
    ):
        channel[hole] = scale.values(plane[hole], picture.dtype)
    certificate = GroupCertificate.of(gaps, TOLERANCE) if method == "ntc" else None
    deviation = None
    if error:
        planes = np.sqrt(_with_unseen(filled.variance, seen)) * np.float32(scale.width)
        deviation = np.moveaxis(planes, 0, 2).reshape(picture.shape)
    return Restored(restored, certificate, _notices(seen), deviation)


def _plan(method: str, quality: str) -> Plan:
    """Return the steps of a method."""
    if method == "biharmonic":
        return {}
    return PLANS[quality] if method == "ntc" else without_completion(PLANS[quality])


@dataclass(frozen=True, slots=True)
class Scale:
    """The straight line between the values of a picture and those of the engine, about 0 to 1."""

    black: float
    width: float
    white: float  # nothing restored lies above

    @classmethod
    def of(cls, channels: NDArray[Any], holes: Flags) -> "Scale":
        """Return the scale of the known values: full scale is 1, unless they crowd in a small part of it."""
        extremes = _extremes(channels, holes)
        white, low, high = full_scale(extremes), float(extremes.min()), float(extremes.max())
        if 0 < high - low < white * _LEAST_CONTRAST:
            return cls(low, high - low, white)
        return cls(0.0, white, white)

    def planes(self, channels: NDArray[Any], holes: Flags) -> Planes:
        """Return the engine's values; zero where they are missing."""
        planes = np.empty(channels.shape, np.float32)
        for plane, values, hole in zip(planes, channels, holes, strict=True):
            with np.errstate(over="ignore", invalid="ignore"):  # of whatever stands at missing places
                plane[...] = values if self.black == 0 else values - self.black
            plane /= np.float32(self.width)
            plane[hole] = 0.0
        return planes

    def values(self, planes: Planes, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return values of the picture's type, integers rounded, none out of range."""
        values = planes.astype(np.float64) * self.width + self.black
        if dtype.kind == "f":
            return np.clip(values, 0.0, min(self.white, float(np.finfo(dtype).max))).astype(dtype)
        return np.rint(np.clip(values, 0.0, min(self.white, _largest_float(dtype)))).astype(dtype)


def _extremes(channels: NDArray[Any], holes: Flags) -> NDArray[Any]:
    """Return the least and the largest known value of every channel that has any."""
    found = []
    for channel, hole in zip(channels, holes, strict=True):
        if not hole.all():
            values, shown = np.ascontiguousarray(channel), ~hole
            first = values[np.unravel_index(int(hole.argmin()), hole.shape)]
            found.append((values.min(where=shown, initial=first), values.max(where=shown, initial=first)))
    return np.array(found)


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


def _holes(missing: NDArray[np.bool_], picture: NDArray[Any]) -> Flags:
    """Return a flag for every entry, channel by channel, or raise when the mask does not fit the picture."""
    flags = checked_missing(missing, "image", picture.shape[:2], *[picture.shape][: picture.ndim - 2])
    if flags.ndim == 3:
        return _planes_of(flags)
    return np.broadcast_to(flags, _planes_of(picture).shape)


def _check_known(channels: NDArray[Any], holes: Flags) -> None:
    """Raise if known entries are nothing that can be completed, with their number and the first of them."""
    if channels.dtype.kind == "f":
        _refuse(~np.isfinite(channels) & ~holes, "NaN or infinite", "mark them as missing or replace them")
    if channels.dtype.kind != "u":
        with np.errstate(invalid="ignore"):
            _refuse((channels < 0) & ~holes, "negative", "add a constant or clip at zero")


def _refuse(wrong: Flags, what: str, remedy: str) -> None:
    """Raise if any entry is wrong."""
    count = int(wrong.sum())
    if count:
        entries = np.moveaxis(wrong, 0, 2)
        row, column, channel = np.unravel_index(int(entries.argmax()), entries.shape)
        where = f"row {row}, column {column}" + (f", channel {channel}" if entries.shape[2] > 1 else "")
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


def _planes_of(image: NDArray[Any]) -> NDArray[Any]:
    """Return the channels of an image as a stack of planes, a view."""
    return np.moveaxis(np.atleast_3d(image), 2, 0)
