"""What the entrances of this layer check alike, and the scale they read from data."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from demosaic_ntc.arrays import Float32
from demosaic_ntc.choices import QUALITIES as QUALITIES
from demosaic_ntc.choices import Quality as Quality
from demosaic_ntc.errors import BadMask, InputError

_FAR_OUT = 8.0  # standard deviations that no sample is off by

# Full scales within which float32 holds all that a picture shows; float64 does beyond.
FAINTEST, BRIGHTEST = 2.0**-60, 2.0**100

_FAINT = 2.0**-16  # of full scale: what is darker all over is rounded away beside a white of 1


def as_array(given: Any, what: str) -> NDArray[Any]:
    """Return an array of plain numbers, or raise where values would be ignored or misunderstood."""
    array = _any_array(given, what)
    if array.dtype.kind not in "uif":
        raise InputError(
            f"the {what} has values of type {array.dtype}, which are not numbers; give integers or floats"
        )
    return array


def _any_array(given: Any, what: str) -> NDArray[Any]:
    """Return an array, or raise where what is given is none, or more than one."""
    if isinstance(given, np.ma.MaskedArray):
        raise InputError(f"the {what} is a masked array; give its data, and its mask as `missing`")
    try:
        return np.asarray(given)
    except (TypeError, ValueError) as error:
        raise InputError(f"the {what} is not an array of numbers ({error}); give one") from error


def is_finite(values: NDArray[Any]) -> bool:
    """Tell whether no value is NaN or infinite, without an array of flags: NaN goes on into both ends."""
    return bool(np.isfinite(values.min()) and np.isfinite(values.max()))


def check_missing(
    missing: NDArray[Any], what: str, shape: tuple[int, ...], *others: tuple[int, ...]
) -> NDArray[np.bool_]:
    """Return the flags of what is missing, or raise when they have none of the shapes or leave nothing.

    Masks of nothing but 0 and 1, or 0 and 255, as picture files hold them, are flags as well.
    """
    flags = _convert_flags(_any_array(missing, "mask"))
    if flags.shape not in (shape, *others) or flags.dtype != np.bool_:
        raise BadMask(
            f"missing is {flags.dtype} of shape {flags.shape}; give booleans, or 0 and 255, of the {what}'s "
            f"shape {shape}" + "".join(f" or {other}" for other in others)
        )
    if flags.all():
        raise BadMask("every sample is missing: nothing is known, cannot complete; mask less")
    return flags


def check_source(source: NDArray[Any], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return the flags of what may be copied, or raise when they do not fit the picture."""
    flags = _convert_flags(_any_array(source, "source"))
    if flags.shape != shape or flags.dtype != np.bool_:
        raise BadMask(
            f"source is {flags.dtype} of shape {flags.shape}; give booleans, or 0 and 255, of shape {shape}"
        )
    return flags


def _convert_flags(missing: NDArray[Any]) -> NDArray[Any]:
    """Return unsigned integers of two levels as flags, anything else as it is."""
    if missing.dtype.kind != "u" or not missing.size:
        return missing
    top = missing.max()
    is_mask = top in (0, 1, 255) and bool(((missing == 0) | (missing == top)).all())
    return missing != 0 if is_mask else missing


def check_noise(noise: ArrayLike, scale: float, channels: int) -> Float32:
    """Return the variance of known entries with full scale 1, (channels, levels), or raise.

    ``noise`` are standard deviations where full scale is ``scale``: one, one for each channel, or for each
    channel those at equal steps of the level.
    """
    given = as_array(noise, "noise").astype(np.float64)
    if given.ndim > 2 or (given.ndim and given.shape[0] != channels) or not given.size:
        raise InputError(
            f"noise of shape {given.shape} fits no picture of {channels} channels; give one standard "
            f"deviation, {channels} of them, or {channels} × levels"
        )
    if not (np.isfinite(given).all() and (given >= 0).all()):
        raise InputError("noise is negative, NaN or infinite; give standard deviations from 0 up")
    levels = given.reshape(channels, -1) if given.ndim else np.full((channels, 1), given)
    with np.errstate(over="ignore"):
        variance = np.square(levels / scale).astype(np.float32)
    if not np.isfinite(variance).all():
        raise InputError("noise is far beyond full scale; give standard deviations in the picture's scale")
    return variance


def full_scale(samples: NDArray[Any], noise: ArrayLike | None = None) -> float:
    """Return the value that stands for white.

    Floats up to 1, or as far above as noise may lift them, are taken as they are. Everything else is full
    scale at the smallest number of bits, eight or more, that holds the largest sample: 255 for 8 bit data,
    16383 for 14 bit data in 16 bit integers. Where float32 would lose values, the largest is full scale.
    """
    largest = float(samples.max())
    if not np.isfinite(largest):
        raise InputError("values beyond 1e308 cannot be restored; scale them down")
    lifted = 0.0 if noise is None else _FAR_OUT * float(np.max(noise, initial=0.0))
    if samples.dtype.kind == "f" and largest <= 1 + min(lifted, 1.0):
        return 1.0 if largest >= _FAINT or largest <= 0 else largest
    if largest > BRIGHTEST:
        return largest
    if largest < 0:
        raise InputError(f"values are negative, {largest:g} at most; give values from 0 up")
    bits = max(8, int(np.ceil(np.log2(largest + 1))))
    return float(2**bits - 1)


def result_type(scale: float) -> type[np.floating[Any]]:
    """Return the type of results in a scale: float32 wherever it holds them."""
    return np.float32 if FAINTEST <= scale <= BRIGHTEST else np.float64
