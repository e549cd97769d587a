"""From a damaged picture to a whole one: the border where input is checked and the scale is found."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demosaic_ntc.arrays import Flags, Planes
from demosaic_ntc.errors import InputError, check_choice
from demosaic_ntc.imaging.checks import (
    QUALITIES,
    Quality,
    all_finite,
    as_array,
    checked_missing,
    checked_noise,
    checked_threads,
    checked_time_limit,
    full_scale,
    result_type,
    silently,
)
from demosaic_ntc.imaging.holes.kinds import depths
from demosaic_ntc.imaging.holes.repair import repair
from demosaic_ntc.imaging.kernels.examples import for_holes, prepare_kernels
from demosaic_ntc.imaging.parallel import in_order
from demosaic_ntc.imaging.plan import TOLERANCE
from demosaic_ntc.imaging.plans import PLANS, Plan, without_completion
from demosaic_ntc.imaging.restored import GroupCertificate, ReportProgress, Restored, out_of_time
from demosaic_ntc.ntc.deadline import Deadline

Method = Literal["ntc", "predict-only", "biharmonic"]
METHODS: tuple[str, ...] = get_args(Method)

# This far inside holes (squares in the first eight pictures of Kodak) four fifths of the squared difference
# between the scene and the mean around a hole are left: what is filled in is smooth, whatever was there.
TOO_DEEP = 12  # pixels

_BAND = 64  # rows that are worked on together

# Known values within this share of full scale are stretched: float32 would lose them, and tolerances too.
LEAST_CONTRAST = 1 / 64


def inpaint(
    image: NDArray[Any],
    missing: NDArray[np.bool_] | NDArray[np.uint8],
    *,
    method: Method = "ntc",
    quality: Quality = "normal",
    threads: int | None = None,
    progress: ReportProgress | None = None,
    time_limit: float | None = None,
    error: bool = False,
    noise: ArrayLike | None = None,
) -> Restored:
    """Restore the missing pixels of a picture, in its own type, known entries bit by bit as they were.

    * ``image``: height × width or height × width × channels, of any integer or float type and in any range
      from zero up. Known entries are finite and not negative; what stands at missing ones is ignored.
    * ``missing``: flags of what is to be restored, height × width for pixels or of the image's shape;
      or 0 and 255, or 0 and 1, as masks are stored.
    * ``method``: ``"ntc"`` (groups of patches predicted and completed), ``"predict-only"`` (the same without
      the completion, to see what it adds) or ``"biharmonic"`` (the first estimate alone).
    * ``quality``: ``"fast"``, ``"normal"`` or ``"best"``: how much effort the groups are worth.
    * ``threads``: how many share the work, all processors by default; the result does not depend on it.
    * ``progress``: called with a `Progress` after each step.
    * ``time_limit``: seconds after which nothing more is restored: what stands then is the result, the
      certificate shows it, and a notice says so. Of a first estimate that takes longer, the rest is plain.
    * ``error``: also return `Restored.error`, the standard deviation of the error expected at every entry.
    * ``noise``: the standard deviation of the noise in what is known, in the picture's scale: one, or one for
      each channel, or for each of them those at equal steps of the level, (channels, steps). What is known
      stays as it is, but is not taken at its word: what is restored does not go on with its noise.
    """
    check_choice("method", method, METHODS)
    check_choice("quality", quality, QUALITIES)
    workers, seconds = checked_threads(threads), checked_time_limit(time_limit)
    picture = _checked_picture(image)
    holes = _holes(missing, picture)
    _check_known(planes_of(picture), holes)
    if not holes.any():
        nothing = np.zeros(picture.shape, np.float32) if error else None
        return Restored(picture.copy(), notices=("nothing is missing, nothing to do",), error=nothing)
    prepare_kernels(for_holes(method, error))
    report, deadline = progress or silently, Deadline.after(seconds)
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
    channels, known = planes_of(picture), np.logical_not(holes, order="C")
    scale, seen = Scale.of(channels, holes, threads), np.array([plane.any() for plane in known])
    used = slice(None) if seen.all() else seen
    planes = scale.planes(channels, holes, threads)[used]
    variance = None if noise is None else checked_noise(noise, scale.width, len(channels))[used]
    plan = _plan(method, quality)
    filled, gaps = repair(planes, known[used], plan, threads, report, deadline, error, variance)
    restored = _written(picture, _with_unseen(filled.planes, seen), holes, scale, threads)
    certificate = GroupCertificate.of(gaps, TOLERANCE) if method == "ntc" else None
    deviation = None
    if error:
        kind = result_type(scale.width)
        planes = np.sqrt(_with_unseen(filled.variance, seen)).astype(kind) * kind(scale.width)
        deviation = np.moveaxis(planes, 0, 2).reshape(picture.shape)
    notices = (*_notices(seen), *_too_wide(holes), *out_of_time(deadline))
    return Restored(restored, certificate, notices, deviation)


def _written(
    picture: NDArray[Any], planes: Planes, holes: Flags, scale: "Scale", threads: int
) -> NDArray[Any]:
    """Return the picture with what was restored in its holes."""
    restored = picture.copy()
    channels = planes_of(restored)

    def write(rows: slice) -> None:
        for channel, plane, hole in zip(channels[:, rows], planes[:, rows], holes[:, rows], strict=True):
            if hole.any():
                channel[...] = np.where(hole, scale.values(plane, picture.dtype), channel)

    for _ in in_order(write, _bands(picture.shape[0]), threads):
        pass
    return restored


def _bands(height: int) -> list[slice]:
    """Return the rows of a picture, a few at a time."""
    return [slice(top, top + _BAND) for top in range(0, height, _BAND)]


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
    def of(cls, channels: NDArray[Any], holes: Flags, threads: int = 1) -> "Scale":
        """Return the scale of the known values: full scale is 1, unless they crowd in a small part of it."""
        extremes = _extremes(channels, holes, threads)
        white, low, high = full_scale(extremes), float(extremes.min()), float(extremes.max())
        if 0 < high - low < white * LEAST_CONTRAST:
            return cls(low, high - low, white)
        return cls(0.0, white, white)

    def planes(self, channels: NDArray[Any], holes: Flags, threads: int = 1) -> Planes:
        """Return the engine's values; zero where they are missing."""
        planes = np.empty(channels.shape, np.float32)

        def scaled(rows: slice) -> None:
            part, values = planes[:, rows], channels[:, rows]
            with np.errstate(over="ignore", invalid="ignore"):  # of whatever stands at missing places
                if result_type(self.width) is np.float64 or result_type(self.white) is np.float64:
                    part[...] = (values - self.black) / self.width
                else:
                    part[...] = values if self.black == 0 else values - self.black
                    part /= np.float32(self.width)
            part[...] = np.where(holes[:, rows], np.float32(0), part)

        for _ in in_order(scaled, _bands(len(planes[0])), threads):
            pass
        return planes

    def values(self, planes: Planes, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return values of the picture's type, integers rounded, none out of range."""
        values = planes.astype(np.float64)
        values *= self.width
        values += self.black
        largest = float(np.finfo(dtype).max) if dtype.kind == "f" else _largest_float(dtype)
        np.clip(values, 0.0, min(self.white, largest), out=values)
        return (values if dtype.kind == "f" else np.rint(values, out=values)).astype(dtype)


def _extremes(channels: NDArray[Any], holes: Flags, threads: int) -> NDArray[Any]:
    """Return the least and the largest known value of every channel that has any."""
    found = []
    for channel, hole in zip(channels, holes, strict=True):
        if not hole.all():
            first = channel[np.unravel_index(int(hole.argmin()), hole.shape)]
            ends = in_order(_ends_of(channel, hole, first), _bands(len(channel)), threads)
            least, largest = zip(*ends, strict=True)
            found.append((np.min(least), np.max(largest)))
    return np.array(found)


def _ends_of(
    channel: NDArray[Any], hole: Flags, known: Any
) -> Callable[[slice], tuple[np.generic, np.generic]]:
    """Return what finds the least and the largest of a known value and all in some rows."""

    def ends(rows: slice) -> tuple[np.generic, np.generic]:
        values = np.where(hole[rows], known, channel[rows])
        return values.min(), values.max()

    return ends


def _largest_float(dtype: np.dtype[Any]) -> float:
    """Return the largest float64 that an integer type holds; rounding up would wrap around."""
    largest = np.iinfo(dtype).max
    return float(np.nextafter(float(largest), 0.0)) if float(largest) > largest else float(largest)


def _checked_picture(image: NDArray[Any]) -> NDArray[Any]:
    """Return the picture as an array that can be restored, or raise."""
    picture = as_array(image, "image")
    if picture.ndim not in (2, 3) or picture.size == 0:
        raise InputError(
            f"an image of shape {picture.shape} is no picture; give height × width, or × channels as well"
        )
    return picture


def _holes(missing: NDArray[Any], picture: NDArray[Any]) -> Flags:
    """Return a flag for every entry, channel by channel, or raise when the mask does not fit the picture."""
    flags = checked_missing(missing, "image", picture.shape[:2], *[picture.shape][: picture.ndim - 2])
    if flags.ndim == 3:
        return planes_of(flags)
    return np.broadcast_to(flags, planes_of(picture).shape)


def _check_known(channels: NDArray[Any], holes: Flags) -> None:
    """Raise if known entries are nothing that can be completed, with their number and the first of them."""
    if all_finite(channels) and channels.min() >= 0:  # of most pictures even what stands at missing places
        return
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


def _too_wide(holes: Flags) -> tuple[str, ...]:
    """Return what a user should know of holes that are wider than anything can be carried into."""
    missing = np.logical_and.reduce(holes, axis=0)
    if not _has_whole_block(missing, TOO_DEEP + 1):  # every pixel that deep has one close by
        return ()
    deep = int(np.count_nonzero(depths(missing) > TOO_DEEP))
    return too_wide(deep, int(np.count_nonzero(missing)))


def too_wide(deep: int, restored: int) -> tuple[str, ...]:
    """Return what a user should know if so many pixels of those restored lie deep inside holes."""
    if deep == 0:
        return ()
    share = "less than 1%" if deep < 0.01 * restored else f"{deep / restored:.0%}"
    return (
        f"{share} of what was restored lies more than {TOO_DEEP} pixels inside holes, farther "
        "than what is around them can tell: it is smooth, whatever was there",
    )


def _has_whole_block(missing: Flags, side: int) -> bool:
    """Tell whether a block of so many pixels a side is missing altogether, or one that the border cuts."""
    rows = np.logical_and.reduceat(missing, np.arange(0, missing.shape[0], side), axis=0)
    return bool(np.logical_and.reduceat(rows, np.arange(0, missing.shape[1], side), axis=1).any())


def planes_of(image: NDArray[Any]) -> NDArray[Any]:
    """Return the channels of an image as a stack of planes, a view."""
    return np.moveaxis(np.atleast_3d(image), 2, 0)
