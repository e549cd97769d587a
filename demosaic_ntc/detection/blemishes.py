"""Dust, hairs and scratches on a picture, found by nothing but the picture.

Whatever is small, dark or light, and stands out of its surroundings may be a blemish; most of it is part of
the scene. A grain of dust is round, and alone: nothing around it is as dark or as light, and its surroundings
are the same on all sides. Hairs and scratches are long and thin, on ground that is calmer than they are. How
much of this holds is added up, with weights chosen on Kodak's pictures 1 to 12 with drawn blemishes
(``demosaic-ntc benchmark blemishes``).
"""

from collections.abc import Iterable, Iterator
from math import log
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.choices import BLEMISHES
from demosaic_ntc.detection.candidates import Box, Shape, grow_box, halve_plane, shapes, within
from demosaic_ntc.engine.checks import as_array, full_scale
from demosaic_ntc.errors import InputError, check_choice

_LEVELS = 4  # planes, each of half the size of the one before
_SMALLEST = 32  # pixels along a plane
_LEAST_CONTRAST = 0.03  # of white
_REACH = 6.0  # what sensitivity changes the sums by, from 0 to 1
_RIM = 0.1  # of the contrast: what is brighter belongs to the blemish

_GAP = 2  # pixels around a shape that belong to its rim
_FAR = (20, 16, 16, 16)  # pixels that its surroundings reach, by level
_BORDER = 3  # pixels: what is nearer to the border has surroundings on some sides only

# Dust: what it may look like, and what speaks for it. Shares of its contrast speak against it: how far the
# brightest pixels near and far are above their median, and how much those near by vary.
_LARGEST = 56  # pixels
_ROUND, _FULL = 0.5, 0.45  # shorter by longer side, area by that of the box
_DUST = {"near": -4.1, "far": -2.2, "varied": -13.2, "width": 3.0, "round": 3.6, "full": 17.9}
_DUST_LIMIT = 13.4

# Hairs and scratches likewise: how much far, close and their own pixels vary.
_SHORTEST, _SLIM = 25, 5.0  # pixels, and length by width
_THIN_LEVELS = 2
_GROUND = 31  # pixels across of which the ground of a line is the mean
_AT_BORDER = 0.3  # of a line: more of it is the frame of a picture
_LINES = {"varied": -13.4, "varied close": -11.5, "varied itself": -15.4, "length": 2.1, "slim": 1.1}
_LINES_LIMIT = 6.2


def find_blemishes(
    image: ArrayLike, kinds: Iterable[str] = ("dust", "scratches"), sensitivity: float = 0.5
) -> NDArray[np.bool_]:
    """Find dust, hairs and scratches, dark or light, for `inpaint` to repair.

    Parameters
    ----------
    image
        Colours as they are seen (not linear light): (height, width) or (height, width, channels), of any
        integer or float type; white is what `inpaint` takes for white.
    kinds
        ``"dust"`` is round, up to about 40 pixels across; ``"scratches"`` are long and thin, hairs included.
    sensitivity
        From 0, only what is beyond doubt, to 1, with many that are part of the scene. What is found at one is
        found at every higher one.

    Returns
    -------
    Flags (height, width) of all pixels that blemishes change, soft rims included.
    """
    plane, chosen = _luma(image), check_kinds(kinds)
    mask, bonus = np.zeros(plane.shape, np.bool_), _REACH * (check_sensitivity(sensitivity) - 0.5)
    for level in range(_LEVELS):
        for sign in (1, -1):
            signed = np.asarray(sign * plane, np.float32)
            for box, pixels in _found(signed, level, chosen, bonus):
                _mark(mask, box, pixels, 2**level)
        if min(plane.shape) < 2 * _SMALLEST:
            break
        plane = halve_plane(plane)
    return mask


def check_sensitivity(sensitivity: float) -> float:
    """Return how readily blemishes are believed, or raise."""
    if not isinstance(sensitivity, Real) or not 0 <= sensitivity <= 1:
        raise InputError(f"a sensitivity of {sensitivity!r} is none; give a number from 0 to 1")
    return float(sensitivity)


def check_kinds(kinds: Iterable[str]) -> frozenset[str]:
    """Return the kinds to look for, or raise."""
    chosen = frozenset([kinds] if isinstance(kinds, str) else kinds)
    for kind in chosen:
        check_choice("kind of blemish", kind, BLEMISHES)
    return chosen


def _luma(image: ArrayLike) -> Float32:
    """The mean of all channels, white 1, or an error."""
    given: NDArray[Any] = as_array(image, "image")
    if given.ndim not in (2, 3) or 0 in given.shape:
        raise InputError(f"an image of shape {given.shape} is none; give height × width or × channels")
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        raise InputError("the image has values that are NaN or infinite; mend them")
    plane = given if given.ndim == 2 else given.mean(axis=2, dtype=np.float32)
    return np.asarray(plane / np.float32(full_scale(given)), np.float32)


def _found(plane: Float32, level: int, kinds: frozenset[str], bonus: float) -> Iterator[tuple[Box, Flags]]:
    """Where blemishes lie that are brighter than around, on one level: boxes, and their pixels there."""
    for shape in shapes(plane):
        if "dust" in kinds and _may_be_dust(plane, shape, level):
            signs, weights, limit = dust_signs(plane, shape, level), _DUST, _DUST_LIMIT
        elif "scratches" in kinds and _may_be_line(plane, shape, level):
            signs, weights, limit = line_signs(plane, shape, level), _LINES, _LINES_LIMIT
        else:
            continue
        if signs and sum(weights[name] * value for name, value in signs.items()) + bonus > limit:
            yield _grow_shape(plane, shape)


def _may_be_dust(plane: Float32, shape: Shape, level: int) -> bool:
    """Whether a shape is round and small enough, and has all its surroundings."""
    height, width = shape.pixels.shape
    return (
        shape.longer * 2**level <= _LARGEST
        and shape.shorter >= _ROUND * shape.longer
        and shape.area >= _FULL * height * width
        and all(
            side.start > _BORDER and side.stop < end - _BORDER
            for side, end in zip(shape.box, plane.shape, strict=True)
        )
    )


def _may_be_line(plane: Float32, shape: Shape, level: int) -> bool:
    """Whether a shape is long and thin enough, and no frame; the cheap signs come first."""
    if level >= _THIN_LEVELS or shape.area < _SHORTEST / 2**level:
        return False
    width = shape.width
    is_line = shape.area / width * 2**level >= _SHORTEST and shape.area >= _SLIM * width * width
    return is_line and _share_at_border(plane, shape) < _AT_BORDER


def _share_at_border(plane: Float32, shape: Shape) -> float:
    """The share of a shape's pixels that lie at the border of the plane."""
    inside = tuple(
        slice(max(_BORDER + 1 - side.start, 0), max(end - _BORDER - 1 - side.start, 0))
        for side, end in zip(shape.box, plane.shape, strict=True)
    )
    return 1 - float(np.count_nonzero(shape.pixels[inside])) / shape.area


def dust_signs(plane: Float32, shape: Shape, level: int) -> dict[str, float]:
    """What tells dust from the scene; nothing where there is hardly any contrast."""
    values, away = _surroundings(plane, shape, _FAR[level])
    near = values[(away > _GAP) & (away <= _GAP + np.clip(0.6 * shape.longer, 6, 12))]
    far, middle = values[away > _GAP], float(np.median(near))
    contrast = _contrast(plane, shape, middle)
    if contrast < _LEAST_CONTRAST:
        return {}
    return {
        "near": _share(float(near.max()) - middle, contrast),
        "far": _share(float(far.max() - np.median(far)), contrast),
        "varied": _share(float(near.std()), contrast),
        "width": log(shape.width * 2**level),
        "round": shape.shorter / shape.longer,
        "full": min(shape.area / shape.pixels.size, 0.7),
    }


def line_signs(plane: Float32, shape: Shape, level: int) -> dict[str, float]:
    """What tells hairs and scratches from the scene; nothing where there is hardly any contrast.

    They are long: what slowly changes along them is taken off before.
    """
    values, away = _surroundings(plane, shape, _FAR[level])
    excess = values - _ground(values, away > _GAP)
    own, contrast, width = excess[away == 0], float(np.median(excess[away == 0])), shape.width
    if contrast < _LEAST_CONTRAST:
        return {}
    close = excess[(away > _GAP) & (away <= _GAP + 4)]
    far = excess[(away > _GAP) & (away <= _FAR[level])]
    return {
        "varied": _share(float(far.std()), contrast),
        "varied close": _share(float(close.std()), contrast),
        "varied itself": _share(float(own.std()), contrast),
        "length": log(shape.area / width * 2**level),
        "slim": log(shape.area / width**2),
    }


def _ground(values: Float32, is_ground: Flags) -> Float32:
    """The mean of the ground around every pixel."""
    weight = ndimage.uniform_filter(is_ground.astype(np.float32), _GROUND, mode="nearest")
    total = ndimage.uniform_filter(np.where(is_ground, values, np.float32(0)), _GROUND, mode="nearest")
    return np.asarray(total / np.maximum(weight, np.float32(1e-3)))


def _surroundings(plane: Float32, shape: Shape, reach: int) -> tuple[Float32, Float32]:
    """The part of a plane around a shape, and how far away from it each pixel is."""
    wide = grow_box(shape.box, reach, plane.shape)
    return plane[wide], np.asarray(ndimage.distance_transform_edt(~_place_shape(shape, wide)), np.float32)


def _place_shape(shape: Shape, box: Box) -> Flags:
    """The pixels of a shape in a box around it."""
    pixels = np.zeros([side.stop - side.start for side in box], np.bool_)
    pixels[within(shape.box, box)] = shape.pixels
    return pixels


def _contrast(plane: Float32, shape: Shape, around: float) -> float:
    """How much brighter the inner part of a shape is than what surrounds it."""
    excess = plane[shape.box][shape.pixels] - around
    inner = excess[excess > 0.5 * excess.max()]
    return float(np.median(inner)) if inner.size else 0.0


def _share(part: float, contrast: float) -> float:
    """A part of a contrast, from 0 to 2."""
    return min(max(part, 0.0) / contrast, 2.0)


def _grow_shape(plane: Float32, shape: Shape) -> tuple[Box, Flags]:
    """A shape with all around it that is still brighter than its surroundings, and a pixel more."""
    reach = _GAP + round(0.35 * shape.width)
    wide = grow_box(shape.box, reach + 6, plane.shape)
    values, pixels = plane[wide], _place_shape(shape, wide)
    away = ndimage.distance_transform_edt(~pixels)
    around = float(np.median(values[away > reach]))
    rim = (away <= reach) & (values - around > _RIM * _contrast(plane, shape, around))
    whole = ndimage.binary_propagation(pixels, mask=rim | pixels)
    return wide, np.asarray(ndimage.binary_dilation(whole))


def _mark(mask: Flags, box: Box, pixels: Flags, scale: int) -> None:
    """Mark pixels of a plane that is smaller by `scale`, in place."""
    large = pixels.repeat(scale, axis=0).repeat(scale, axis=1)
    part = mask[tuple(slice(scale * side.start, scale * side.stop) for side in box)]
    part |= large[: part.shape[0], : part.shape[1]]
