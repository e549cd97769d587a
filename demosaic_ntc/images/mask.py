"""Which pixels of a picture are to be repaired: by a mask in a file, a painted colour, or transparency.

A mask is white where the picture is to be repaired; on a layer that is transparent elsewhere, what is painted
counts, in whatever colour. It belongs to the picture as it is seen: where EXIF says that a picture is to be
turned, the mask is turned back to how its pixels are stored.
"""

from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.errors import BadMask
from demosaic_ntc.images.mask_rule import Colour, MaskRule
from demosaic_ntc.images.picture import FULL, DecodedImage
from demosaic_ntc.images.pillow import convert_mode, frames_of, opened
from demosaic_ntc.images.reading import read_picture
from demosaic_ntc.io.header import FileHeader, FileKind, InputLimits, check_pixels, open_header, prefix_path
from demosaic_ntc.io.isolation.answers import PICTURES
from demosaic_ntc.io.isolation.decoder import decode_apart
from demosaic_ntc.io.pixels import orient

Flags = NDArray[np.bool_]

# Formats of masks alone: a repaired picture could not be written back to them as it was.
_OF_MASKS = {FileKind.BMP: "BMP", FileKind.WEBP: "WEBP", FileKind.GIF: "GIF"}

_BACK = {6: 8, 8: 6}  # the orientation that undoes another; all others undo themselves
_WHITES = (1, FULL)  # what stands for white besides the largest value of the type


def read_mask(path: Path, picture: DecodedImage, rule: MaskRule, limits: InputLimits) -> Flags:
    """The pixels of the picture, as it is stored, that the mask of a file marks."""
    with open_header(path, limits) as header:
        mask = _read_picture(header)
    with prefix_path(path):
        marked = orient(_find_marked(mask, rule), mask.orientation)
        stored = orient(marked, _BACK.get(picture.orientation, picture.orientation))
        if stored.shape != picture.size:
            raise BadMask(_misfit(marked, picture))
    return np.ascontiguousarray(stored)


def grow_flags(flags: Flags, pixels: int) -> Flags:
    """Return flags with all pixels that lie within some pixels of one that is set."""
    from scipy.ndimage import maximum_filter1d  # noqa: PLC0415 (slow to load; decoders do without)

    grown, height = flags.copy(), len(flags)
    if not flags.any():
        return grown
    for down in range(pixels + 1):
        across = isqrt(pixels**2 - down**2)
        wide = maximum_filter1d(flags, 2 * across + 1, axis=1, mode="constant")
        grown[down:] |= wide[: height - down]
        grown[: height - down] |= wide[down:]
    return grown


def _read_picture(header: FileHeader) -> DecodedImage:
    """Read a mask as it is stored."""
    if header.kind not in _OF_MASKS:
        return read_picture(header, header.limits)
    with prefix_path(header.path):
        return decode_apart(_read_layer, header, loads=PICTURES)


def _read_layer(header: FileHeader) -> DecodedImage:
    """Read a mask in a format of masks alone."""
    kind = _OF_MASKS[header.kind]
    check_pixels(*opened(header.file, kind).size, header.limits)
    frames = frames_of(header.file, kind)
    if frames > 1:
        raise BadMask(f"the mask is a {header.kind.value} of {frames} frames; save one of them")
    pixels = convert_mode(opened(header.file, kind), "RGBA")
    alpha = pixels[..., 3]
    is_opaque = bool((alpha == 255).all())
    colours = np.ascontiguousarray(pixels[..., :3])
    return DecodedImage(colours, None if is_opaque else alpha, kind=header.kind)


def find_painted(picture: DecodedImage, colour: Colour) -> Flags:
    """The pixels that have exactly this colour; grey ones have it where it is grey."""
    wanted = np.array(colour, dtype=np.float64) / FULL
    colours = picture.pixels if picture.pixels.ndim == 3 else picture.pixels[..., None]
    if colours.dtype.kind == "f":
        step = 0.5 / FULL  # floats hold eight-bit levels with some rounding
        return np.asarray((np.abs(colours - wanted) < step).all(axis=2))
    levels = np.rint(wanted * np.iinfo(colours.dtype).max)
    return np.asarray((colours == levels).all(axis=2))


def transparent(picture: DecodedImage, rule: MaskRule) -> Flags:
    """The pixels that are not opaque; with a threshold, those of which at least this share is missing."""
    if picture.alpha is None:
        raise BadMask(
            "nothing in it is transparent, it has no alpha channel; give a mask, or save it with alpha"
        )
    missing = 1 - picture.alpha / _largest(picture.alpha)
    lacking = missing > 0 if rule.threshold is None else missing >= rule.threshold
    return np.asarray(~lacking if rule.invert else lacking)


def _find_marked(mask: DecodedImage, rule: MaskRule) -> Flags:
    """White pixels, or black ones if the rule inverts; of a layer, painted ones."""
    if rule.alpha:
        return transparent(mask, rule)
    levels = mask.pixels
    _check_finite(levels)
    if mask.alpha is not None and (mask.alpha != mask.alpha.max()).any():
        white = _find_painted_on_layer(levels, mask.alpha, rule)
    elif rule.threshold is not None:
        grey = levels if levels.ndim == 2 else levels.mean(axis=2)
        white = grey >= rule.threshold * _full(levels)
    else:
        white = _two_levels(levels)
    return ~white if rule.invert else white


def _find_painted_on_layer(levels: NDArray[Any], alpha: NDArray[Any], rule: MaskRule) -> Flags:
    """What is painted on a transparent layer: all of one colour, or white where there is black as well.

    However thin paint is, it counts; with a threshold, from that share of opacity on.
    """
    painted = alpha > 0 if rule.threshold is None else alpha >= rule.threshold * _largest(alpha)
    solid = levels[alpha == alpha.max()] if painted.any() else levels[:0]
    shades = np.unique(solid.reshape(len(solid), -1), axis=0)
    if len(shades) <= 1:
        return np.asarray(painted)
    if len(shades) == 2 and {float(shade.min()) for shade in shades} == {0.0, _full(levels)}:
        white = (levels == levels.max()) if levels.ndim == 2 else (levels == levels.max()).all(axis=2)
        return np.asarray(painted & white)
    raise BadMask(
        f"the mask is a layer of {len(shades)} colours, partly transparent; paint it in one, or let "
        "`mask_from=alpha` repair what is transparent in it (with `invert`: what is not)"
    )


def _largest(alpha: NDArray[Any]) -> float:
    """The value of alpha that is opaque."""
    return 1.0 if alpha.dtype.kind == "f" else float(np.iinfo(alpha.dtype).max)


def _check_finite(levels: NDArray[Any]) -> None:
    """Refuse values that are no levels."""
    if levels.dtype.kind == "f" and not np.isfinite(levels).all():
        count, where = _places(~np.isfinite(levels))
        raise BadMask(f"the mask has values that are NaN or infinite: {count}, the first at {where}; mend it")


def _two_levels(levels: NDArray[Any]) -> Flags:
    """Whether each pixel is white, in a mask of nothing but black and white."""
    full = _full(levels)
    stray = (levels != 0) & (levels != full)
    if stray.any():
        count, where = _places(stray)
        value = levels[np.unravel_index(int(stray.argmax()), stray.shape)]
        raise BadMask(
            f"the mask is neither black nor white at {count} places, the first at {where} (value {value}); "
            "say from which share of white on a pixel counts, e.g. `threshold=0.5`"
        )
    white = levels == full
    if white.ndim == 3:
        if (white != white[..., :1]).any():
            _, where = _places(white != white[..., :1])
            raise BadMask(f"the mask has colours, the first at {where}; make it grey or give `threshold=0.5`")
        white = white[..., 0]
    return np.asarray(white)


def _full(levels: NDArray[Any]) -> float:
    """The value of white: the largest of the type, or 1 or 255 where nothing lies above."""
    top = float(levels.max())
    largest = 1.0 if levels.dtype.kind == "f" else float(np.iinfo(levels.dtype).max)
    return top if top in _WHITES else largest


def _places(wrong: Flags) -> tuple[int, str]:
    """How many pixels are wrong, and the first of them."""
    pixels = wrong if wrong.ndim == 2 else wrong.any(axis=2)
    row, column = np.unravel_index(int(pixels.argmax()), pixels.shape)
    return int(pixels.sum()), f"row {row}, column {column}"


def _misfit(marked: Flags, picture: DecodedImage) -> str:
    """What does not fit, with both shapes as they are seen."""
    height, width = picture.size[::-1] if picture.orientation >= 5 else picture.size
    turned = "" if picture.orientation == 1 else " as it is seen, turned by its EXIF orientation"
    return (
        f"the mask is {marked.shape[1]}×{marked.shape[0]}, the picture {width}×{height}{turned}; "
        "give a mask of the picture's size"
    )
