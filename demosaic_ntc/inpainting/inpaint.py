"""From a damaged picture to a whole one: the border where input is checked and the scale is found."""

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demosaic_ntc.arrays import Flags, Float32, Planes
from demosaic_ntc.choices import FILLS, GRAINS, Fill, GrainChoice
from demosaic_ntc.engine.checks import (
    QUALITIES,
    Quality,
    as_array,
    check_missing,
    check_noise,
    check_source,
    result_type,
)
from demosaic_ntc.engine.pass_tables import COMPLETIONS, PLANS, Plan
from demosaic_ntc.engine.result import CopiedPixels, NormCertificate, Restored, out_of_time
from demosaic_ntc.engine.tiles import row_bands, within
from demosaic_ntc.errors import InputError, check_choice
from demosaic_ntc.inpainting.classification import depths
from demosaic_ntc.inpainting.fallback import plainly_restored
from demosaic_ntc.inpainting.grain_fill import Grain, find_grain
from demosaic_ntc.inpainting.region_inpainting import count_unproven, repair
from demosaic_ntc.inpainting.scaling import Scale, extremes_of, planes_of
from demosaic_ntc.inpainting.texture.parts import Box, WidePart
from demosaic_ntc.inpainting.wide_holes import WideFill, describe_copied, fill_wide, find_view, paste
from demosaic_ntc.run import ReportProgress, Run

Method = Literal["gaussian", "ntc", "biharmonic"]
METHODS: tuple[str, ...] = get_args(Method)

# This far inside holes (squares in the first eight pictures of Kodak) four fifths of the squared difference
# between the scene and the mean around a hole are left: what is filled in is smooth, whatever was there.
TOO_DEEP = 12  # pixels

_TALL = 256  # rows of which depths are measured together


def inpaint(
    image: NDArray[Any],
    missing: NDArray[np.bool_] | NDArray[np.uint8],
    *,
    method: Method = "gaussian",
    quality: Quality = "normal",
    threads: int | None = None,
    progress: ReportProgress | None = None,
    time_limit: float | None = None,
    error: bool = False,
    noise: ArrayLike | None = None,
    fill: Fill = "smooth",
    source: NDArray[np.bool_] | NDArray[np.uint8] | None = None,
    grain: GrainChoice = "off",
) -> Restored:
    """Restore the missing pixels of a picture, in its own type, known entries bit by bit as they were.

    * ``image``: height × width or height × width × channels, of any integer or float type and in any range
      from zero up. Known entries are finite and not negative; what stands at missing ones is ignored.
    * ``missing``: flags of what is to be restored, height × width for pixels or of the image's shape;
      or 0 and 255, or 0 and 1, as masks are stored.
    * ``method``: ``"gaussian"`` (groups of similar patches predicted by Gaussians), ``"ntc"`` (what is
      known of groups completed with the least norm) or ``"biharmonic"`` (the first estimate alone).
    * ``quality``: ``"fast"``, ``"normal"`` or ``"best"``: how much effort the groups are worth.
    * ``threads``: how many share the work, all processors by default; the result does not depend on it.
    * ``progress``: called with a `Progress` after each step.
    * ``time_limit``: seconds after which nothing more is restored: what stands then is the result, the
      certificate shows it, and a notice says so. Of a first estimate that takes longer, the rest is plain.
    * ``error``: also return `Restored.error`, the standard deviation of the error expected at every entry.
    * ``noise``: the standard deviation of the noise in what is known, in the picture's scale: one, or one for
      each channel, or for each of them those at equal steps of the level, (channels, steps). What is known
      stays as it is, but is not taken at its word: what is restored does not go on with its noise.
    * ``grain``: ``"auto"`` adds the noise of the surroundings to what is restored, as far as it lacks it, in
      pictures of at most four channels where noise is clearly measured; ``"off"`` leaves the estimate, which
      is closer to the scene and smoother.
    * ``fill``: holes wider than 24 pixels are filled ``"smooth"``, or with texture copied from the picture
      itself (``"auto"``); ``"texture"`` copies into narrower ones, too. `Restored.copied` tells where from;
      errors expected there are rough, not calibrated.
    * ``source``: flags of the pixels that may be copied, height × width, or a mask like that of what is
      missing; without it, whatever is known.
    """
    run = Run.start(threads, progress, time_limit, error)
    how: dict[str, Any] = {"method": method, "quality": quality, "noise": noise, "grain": grain}
    return inpaint_picture(image, missing, run, **how, fill=fill, source=source)


def inpaint_picture(
    image: NDArray[Any],
    missing: NDArray[np.bool_] | NDArray[np.uint8],
    run: Run,
    *,
    method: str = "gaussian",
    quality: str = "normal",
    noise: ArrayLike | None = None,
    fill: str = "smooth",
    source: NDArray[Any] | None = None,
    grain: str = "off",
) -> Restored:
    """Do what `inpaint` does, in a run that has begun."""
    check_choice("method", method, METHODS)
    check_choice("quality", quality, QUALITIES)
    check_choice("fill", fill, FILLS)
    check_choice("grain", grain, GRAINS)
    picture = _check_picture(image)
    wide = WideFill(fill, None if source is None else check_source(source, picture.shape[:2]))
    holes = _holes(missing, picture)
    scale = Scale.of(_check_extremes(planes_of(picture), holes, run))
    variance = None if noise is None else check_noise(noise, scale.width, len(holes))
    if not holes.any():
        nothing = np.zeros(picture.shape, np.float32) if run.want_error else None
        return Restored(picture.copy(), notices=("nothing is missing, nothing to do",), error=nothing)
    seen, plan = np.array([not plane.all() for plane in holes]), _plan(method, quality)
    used = slice(None) if seen.all() else seen
    noisy = find_grain(planes_of(picture)[used], holes[used], scale) if grain == "auto" else None
    spread_of_noise = None if variance is None else variance[used]
    restored, spread, bounds, copied, told = _restore(
        picture, holes, scale, seen, plan, run, spread_of_noise, noisy, wide
    )
    certificate = NormCertificate.of(bounds) if method == "ntc" else None
    deviation = _deviation(spread, scale).reshape(picture.shape) if run.want_error else None
    notices = (
        *_notices(seen),
        *_tell_grain(noisy, scale),
        *told,
        *_too_wide(holes, copied, run),
        *out_of_time(run.deadline),
    )
    return Restored(restored, certificate, notices, deviation, copied=copied)


def _restore(
    picture: NDArray[Any],
    holes: Flags,
    scale: Scale,
    seen: Flags,
    plan: Plan,
    run: Run,
    noise: Float32 | None,
    grain: Grain | None,
    wide: WideFill,
) -> tuple[NDArray[Any], Planes, Float32, CopiedPixels | None, tuple[str, ...]]:
    """Return the restored picture, expected squared errors, what is proven, what was copied, what to say."""
    parts = wide.find_parts(np.logical_and.reduce(holes, axis=0))
    view = find_view(np.logical_or.reduce(holes, axis=0), parts, wide.source)
    inside = grain and grain.at(*view)
    made = _repair(picture[view], holes[:, *view], scale, seen, plan, run, noise, inside)
    if made is None:
        restored, spread = plainly_restored(picture, holes, scale, run)
        return restored, spread, count_unproven(np.logical_or.reduce(holes, axis=0), plan), None, ()
    planes, spread, bounds = made
    copied, told = _fill_wide(wide, parts, planes, spread, holes, seen, view, run)
    restored = _write_back(picture, planes, holes, scale, view, run)
    whole = paste(spread, view, picture.shape[:2]) if run.want_error else spread
    return restored, whole, bounds, copied, told


def _fill_wide(
    wide: WideFill,
    parts: list[WidePart],
    planes: Planes,
    variance: Planes,
    holes: Flags,
    seen: Flags,
    view: Box,
    run: Run,
) -> tuple[CopiedPixels | None, tuple[str, ...]]:
    """Copy texture into wide parts, if there are any; return what was copied, and what to say of it.

    ``planes`` and their ``variance`` are those of a view of the picture.
    """
    if not parts:
        return None, ()
    inner = [WidePart(within(part.box, view), part.flags) for part in parts]
    unknown = np.logical_or.reduce(holes[:, *view][seen], axis=0)
    source = None if wide.source is None else wide.source[view]
    copied = fill_wide(inner, planes, variance, unknown, source, run)
    if copied is not None:
        copied = copied.shift((view[0].start, view[1].start))
    restored = int(np.count_nonzero(np.logical_and.reduce(holes, axis=0)))
    return copied, describe_copied(parts, copied, restored, not run.deadline.is_over())


def _repair(
    picture: NDArray[Any],
    holes: Flags,
    scale: Scale,
    seen: Flags,
    plan: Plan,
    run: Run,
    noise: Float32 | None,
    grain: Grain | None,
) -> tuple[Planes, Planes, Float32] | None:
    """Return all channels with full scale 1, their expected squared errors, and what is proven.

    Return nothing if there is no time to begin; channels of which nothing is known are made of the others.
    """
    used = slice(None) if seen.all() else seen
    if seen.all() and run.deadline.is_over():
        return None
    planes = scale.planes(planes_of(picture)[used], holes[used], run)
    if seen.all() and run.deadline.is_over():
        return None
    known = np.logical_not(holes[used], order="C")
    filled, bounds = repair(planes, known, plan, run, noise, grain=grain)
    spread = _fill_unseen(filled.variance, seen) if run.want_error else filled.variance
    return _fill_unseen(filled.planes, seen), spread, bounds


def _deviation(variance: Planes, scale: Scale) -> NDArray[Any]:
    """Return expected errors in the picture's scale, (height, width, channels)."""
    kind = result_type(scale.width)
    return np.moveaxis(np.sqrt(variance).astype(kind) * kind(scale.width), 0, 2)


def _write_back(
    picture: NDArray[Any], planes: Planes, holes: Flags, scale: Scale, view: Box, run: Run
) -> NDArray[Any]:
    """Return the picture with what was restored in its holes; ``planes`` are those of a view."""
    restored = picture.copy()
    inner, missing = planes_of(restored)[:, *view], holes[:, *view]

    def write(rows: slice) -> None:
        scale.write(inner[:, rows], planes[:, rows], missing[:, rows])

    run.do(write, row_bands(planes.shape[1]))
    return restored


def _plan(method: str, quality: str) -> Plan:
    """Return the steps of a method."""
    if method == "biharmonic":
        return {}
    return (COMPLETIONS if method == "ntc" else PLANS)[quality]


def _check_picture(image: NDArray[Any]) -> NDArray[Any]:
    """Return the picture as an array that can be restored, or raise."""
    picture = as_array(image, "image")
    if picture.ndim not in (2, 3) or picture.size == 0:
        raise InputError(
            f"an image of shape {picture.shape} is not a picture; give height × width, or × channels as well"
        )
    return picture


def _holes(missing: NDArray[Any], picture: NDArray[Any]) -> Flags:
    """Return a flag for every entry, channel by channel, or raise when the mask does not fit the picture."""
    flags = check_missing(missing, "image", picture.shape[:2], *[picture.shape][: picture.ndim - 2])
    if flags.ndim == 3:
        return planes_of(flags)
    return np.broadcast_to(flags, planes_of(picture).shape)


def _check_extremes(channels: NDArray[Any], holes: Flags, run: Run) -> NDArray[Any]:
    """Return the least and largest known value of every channel; raise if any is nothing to complete."""
    extremes = extremes_of(channels, holes, run)
    if np.isfinite(extremes).all() and extremes.min() >= 0:
        return extremes
    if channels.dtype.kind == "f":
        _refuse(~np.isfinite(channels) & ~holes, "NaN or infinite", "mark them as missing or replace them")
    with np.errstate(invalid="ignore"):
        _refuse((channels < 0) & ~holes, "negative", "add a constant or clip at zero")
    return extremes


def _refuse(wrong: Flags, what: str, remedy: str) -> None:
    """Raise if any entry is wrong."""
    count = int(wrong.sum())
    if count:
        entries = np.moveaxis(wrong, 0, 2)
        row, column, channel = np.unravel_index(int(entries.argmax()), entries.shape)
        where = f"row {row}, column {column}" + (f", channel {channel}" if entries.shape[2] > 1 else "")
        raise InputError(f"known entries that are {what}: {count}, the first at {where}; {remedy}")


def _fill_unseen(filled: Planes, seen: Flags) -> Planes:
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


def _tell_grain(grain: Grain | None, scale: Scale) -> tuple[str, ...]:
    """Return what a user should know of grain that was added."""
    if grain is None:
        return ()
    share = grain.profile.typical * scale.width / scale.white
    return (
        f"what was restored got the grain of its surroundings, about {share:.1%} of white; "
        "`grain=off` leaves it smooth",
    )


def _too_wide(holes: Flags, copied: CopiedPixels | None, run: Run) -> tuple[str, ...]:
    """Return what a user should know of smooth holes that are wider than anything can be carried into."""
    missing = np.logical_and.reduce(holes, axis=0)
    if copied is not None:
        missing[tuple(copied.targets.T)] = False
    if not _has_whole_block(missing, TOO_DEEP + 1):  # every pixel that deep has one close by
        return ()
    tops = range(0, len(missing), _TALL)
    deep = sum(run.map(lambda top: _count_deep(missing, top), tops))
    return too_wide(deep, int(np.count_nonzero(missing)))


def _count_deep(missing: Flags, top: int) -> int:
    """Return how many of some rows' pixels lie too deep: what is nearer than that is within a few rows."""
    first = max(top - TOO_DEEP, 0)
    around = missing[first : top + _TALL + TOO_DEEP]
    inner = slice(top - first, top - first + _TALL)
    if around.all():  # the nearest that is known is farther off
        return int(around[inner].size)
    return int(np.count_nonzero(depths(around)[inner] > TOO_DEEP))


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
