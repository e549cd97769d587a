"""Dust and hairs on scanned film, found in the scanner's infrared channel.

Dyes of colour film let infrared pass, dust and hairs do not: what is darker there than its surroundings lies
on the film. The channel also shows uneven light and a faint trace of the picture. So each pixel is divided by
the background around it, and what is left has to fall below 1 by more than the channel varies near by.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from demosaic_ntc.arrays import SIGMA_OF_MAD, Float32
from demosaic_ntc.engine.checks import as_array, full_scale
from demosaic_ntc.errors import InputError

_BLOCK = 16  # pixels along a block whose median is the background
_AROUND = 7  # blocks across of which the background is the median: wider dust passes for background
_SMOOTHING = 1.0  # blocks: deviation of the Gaussian that makes the background smooth
_LEAST_DARK = 0.1  # of the background: what has to be lacking, whatever else
_TIMES_SPREAD = 5.0  # deviations of the channel near by that have to be lacking
_RIM = 0.5  # of that: what lacks as much and touches dust belongs to it
_OPAQUE = 0.25  # of the picture's usual background: a film holder, not film
_GROWN = 2  # pixels: infrared is focused a little beside colours
_MOST = 0.2  # of the film: more is no dust
_ROUNDS = 3  # in which light is fitted to what has not been found far off
_CORNERS = np.ones((3, 3), np.bool_)


def find_dust_in_infrared(infrared: ArrayLike) -> NDArray[np.bool_]:
    """Find dust, hairs and scratches in the infrared channel of scanned film, for `inpaint` to repair.

    Parameters
    ----------
    infrared
        The channel as the scanner wrote it, (height, width), of any integer or float type; light is high.

    Returns
    -------
    Flags (height, width) of what is dark in infrared, two pixels wider all around.

    Silver blocks infrared, and so do the dyes of some Kodachrome: where more than a fifth of the film is
    dark, the channel shows the picture and not its dust, and an `InputError` says so.
    """
    plane = _check(infrared)
    background, spread = _measure_background(plane)
    lacking = 1 - plane / np.maximum(background, np.float32(1e-6))
    film = background > _OPAQUE * np.median(background)
    limit = np.maximum(np.float32(_LEAST_DARK), np.float32(_TIMES_SPREAD) * spread)
    rim = film & (lacking > _RIM * limit)
    dust = np.asarray(ndimage.binary_propagation(film & (lacking > limit), _CORNERS, mask=rim))
    if np.count_nonzero(dust) > _MOST * np.count_nonzero(film):
        raise InputError(
            "infrared shows the picture itself, as on black-and-white film and Kodachrome; paint a mask"
        )
    grown = ndimage.binary_dilation(dust, _CORNERS, iterations=_GROWN)
    return np.asarray(grown)


def _check(infrared: ArrayLike) -> Float32:
    """Return the channel with white 1, or raise."""
    given: NDArray[Any] = as_array(infrared, "infrared channel")
    if given.ndim != 2 or 0 in given.shape:
        raise InputError(f"an infrared channel of shape {given.shape} is none; give height × width")
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        raise InputError("the infrared channel has values that are NaN or infinite; mend them")
    return np.asarray(given / np.float32(full_scale(given)), np.float32)


def _measure_background(plane: Float32) -> tuple[Float32, Float32]:
    """Return the background of each pixel, and how much the channel varies around it as a share of that."""
    blocks = _cut_blocks(plane)
    level = np.median(blocks, axis=2)
    deviation = SIGMA_OF_MAD * np.median(np.abs(blocks - level[..., None]), axis=2)
    light = _fit_light(level)
    share = deviation / np.maximum(level, np.float32(1e-6))
    calm = (light * ndimage.median_filter(level / light, _AROUND), ndimage.median_filter(share, _AROUND))
    background, spread = (_spread_out(each, plane.shape) for each in calm)
    return background, spread


def _fit_light(level: Float32) -> Float32:
    """Return a quadratic polynomial through the levels of blocks: light that falls off towards the corners.

    Where it comes close to zero it does not tell, and is constant instead.
    """
    sides = (np.linspace(-1, 1, size) for size in level.shape)
    y, x = (grid.ravel() for grid in np.meshgrid(*sides, indexing="ij"))
    powers = np.stack([y**i * x**j for i in range(3) for j in range(3 - i)], axis=1)
    kept, wanted = np.ones(level.size, np.bool_), level.ravel().astype(np.float64)
    fitted = np.full(level.size, np.median(wanted))
    for _ in range(_ROUNDS):
        fitted = powers @ np.linalg.lstsq(powers[kept], wanted[kept], rcond=None)[0]
        kept = np.abs(wanted - fitted) < _LEAST_DARK * np.abs(fitted)
        if np.count_nonzero(kept) < len(powers) / 2:
            break
    if fitted.min() < _OPAQUE * np.median(wanted):
        return np.ones_like(level)
    return np.asarray(fitted.reshape(level.shape), np.float32)


def _cut_blocks(plane: Float32) -> Float32:
    """Return the pixels of each block, (rows, columns, pixels); the last ones are filled up by reflection."""
    pads = [(0, -size % _BLOCK) for size in plane.shape]
    padded = np.pad(plane, pads, mode="symmetric")
    rows, columns = (size // _BLOCK for size in padded.shape)
    cut = padded.reshape(rows, _BLOCK, columns, _BLOCK).swapaxes(1, 2)
    return np.ascontiguousarray(cut).reshape(rows, columns, _BLOCK**2)


def _spread_out(blocks: Float32, shape: tuple[int, ...]) -> Float32:
    """Return one value for each pixel, smooth between those of blocks."""
    calm = ndimage.gaussian_filter(blocks, _SMOOTHING, mode="nearest")
    places = [np.clip((np.arange(size) + 0.5) / _BLOCK - 0.5, 0, None) for size in shape]
    low = [
        np.minimum(place.astype(np.intp), size - 1) for place, size in zip(places, calm.shape, strict=True)
    ]
    high = [np.minimum(each + 1, size - 1) for each, size in zip(low, calm.shape, strict=True)]
    down, across = (np.asarray(place - each, np.float32) for place, each in zip(places, low, strict=True))
    rows = calm[low[0]] + down[:, None] * (calm[high[0]] - calm[low[0]])
    return np.asarray(rows[:, low[1]] + across * (rows[:, high[1]] - rows[:, low[1]]), np.float32)
