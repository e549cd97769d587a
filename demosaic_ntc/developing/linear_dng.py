"""From the engine's picture to a linear DNG: camera colours that are not balanced, with all that is known.

Highlights are white in every reader that balances as shot, instead of magenta: clipped where the first
channel clips, or completed. With completed or blended ones all is stored darker, and the exposure to be added
is told.
"""

from dataclasses import replace
from fractions import Fraction
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.developing.dng_writing import BLACK, WHITE, LinearPicture
from demosaic_ntc.developing.preprocess import Prepared, lens_parts
from demosaic_ntc.developing.render import camera_light
from demosaic_ntc.developing.settings import Development, Settings
from demosaic_ntc.io.exif import LENS_INFO, LENS_SPECIFICATION, ORIENTATION, Fields
from demosaic_ntc.io.pixels import ImageLike
from demosaic_ntc.io.tiff_tags import (
    ASCII,
    DOUBLE,
    OPCODE_LISTS,
    RATIONAL,
    SHORT,
    SRATIONAL,
    UNDEFINED,
    Field,
)
from demosaic_ntc.io.xmp import is_readable_xmp
from demosaic_ntc.lens.carried_opcodes import CarriedOpcodes, carry_opcodes
from demosaic_ntc.raw.dng.colours import BASELINE_EXPOSURE, colour_fields, neutral
from demosaic_ntc.raw.noise import NOISE_PROFILE, NOISE_REDUCTION_APPLIED
from demosaic_ntc.raw.photo import GREEN

_SOURCE_NAME = 50827
_MOST_HEADROOM = 4.0  # times white
_STEPS = 1000  # to a stop


def for_preview(settings: Settings) -> Settings:
    """The settings of a DNG's preview: as the sensor lay, within the camera's own frame."""
    return replace(settings, development=replace(settings.development, rotate=False, crop=None))


def carried_opcodes(ready: Prepared, how: Development) -> CarriedOpcodes:
    """The opcodes that go with a DNG for its readers."""
    return carry_opcodes(ready.photo, lens_parts(how))


def linear_picture(image: ImageLike, ready: Prepared, settings: Settings, name: str) -> LinearPicture:
    """The engine's picture (height, width, 3), encoded and lifted, as a DNG stores it; `name`: the raw's."""
    how, metadata = settings.development, settings.output.metadata
    photo, balance = ready.photo, ready.exposure.balance
    colours = colour_fields(photo, balance)
    shared = {
        **colours,
        BASELINE_EXPOSURE: _baseline(colours.get(BASELINE_EXPOSURE), ready, how),
        ORIENTATION: Field(SHORT, (photo.orientation,)),
        _SOURCE_NAME: Field(ASCII, name.encode("utf-8", "replace") + b"\0"),
        **(_lens_fields(ready) if metadata else {}),
    }
    carried = carried_opcodes(ready, how).data
    opcodes = {OPCODE_LISTS[2]: Field(UNDEFINED, carried)} if carried else {}
    blend_above = ready.exposure.clip if how.highlights == "blend" else None
    codes = camera_codes(image, ready.mosaic.lift, neutral(balance) / find_headroom(ready), blend_above)
    return LinearPicture(
        codes=np.ascontiguousarray(codes[..., 0]) if photo.is_monochrome else codes,
        frame=photo.frame(None),
        shared=shared,
        own={**_noise_fields(ready), **opcodes},
        xmp=photo.xmp if metadata and photo.xmp and is_readable_xmp(photo.xmp) else None,
    )


def _lens_fields(ready: Prepared) -> Fields:
    """What a DNG says of its lens in a tag of its own, beside EXIF."""
    stated = ready.photo.exif.photo.get(LENS_SPECIFICATION)
    return {LENS_INFO: stated} if stated else {}


def camera_codes(
    image: ImageLike, lift: float, white: NDArray[np.float64], blend_above: float | None
) -> NDArray[np.uint16]:
    """Code values of light whose balance is undone; `white` is what is then neutral, 1 in some channel.

    Where it is less in all of them, there is room for completed highlights.
    """
    codes = np.empty(image.shape, dtype=np.uint16)
    scale, most = (white * (WHITE - BLACK)).astype(np.float32), np.float32(1 / white.max())
    for rows, light in camera_light(image, lift, blend_above):
        code = np.minimum(light, most) * scale + np.float32(BLACK)
        codes[rows] = np.clip(np.rint(code), BLACK, WHITE)
    return codes


def find_headroom(ready: Prepared) -> float:
    """How many times white the light of completed highlights reaches, in whole steps of what a file states.

    It is from 1 to the most that is stored.
    """
    largest = ready.highlights.largest * ready.lens.largest_gain if ready.highlights else 1.0
    steps = ceil(_STEPS * log2(min(max(largest, 1.0), _MOST_HEADROOM)))
    return float(2.0 ** (steps / _STEPS))


def _baseline(stated: Field | None, ready: Prepared, how: Development) -> Field:
    """The stops to brighten by: the file's own, those asked for, and those of kept highlights."""
    stops = float(stated.values[0]) if stated else 0.0
    stops += 0.0 if how.exposure == "auto" else how.exposure
    stops += log2(find_headroom(ready) / ready.exposure.clip) - ready.exposure.baseline
    return Field(SRATIONAL, (Fraction(round(stops * _STEPS), _STEPS),))


def _noise_fields(ready: Prepared) -> dict[int, Field]:
    """Whether noise was removed; where none was and it is known, how much there is.

    Light x of the model has white at the file's level, here where samples saturate: it is k·x, and the
    variance slope·x + floor then reads k·slope·(k·x) + k²·floor.
    """
    photo, exposure, taken_off = ready.photo, ready.exposure, ready.strengths
    noise = ready.noise.model if ready.noise else photo.noise
    reduced = Field(RATIONAL, (Fraction(min(taken_off.brightness, 1.0)).limit_denominator(1000),))
    if noise is None or noise.typical_deviation() < 1 / WHITE or taken_off.engine > 0:
        return {NOISE_REDUCTION_APPLIED: reduced}
    k = min(exposure.gains[:3]) * photo.span / find_headroom(ready)
    pairs = list(zip(noise.slope, noise.floor, strict=True))
    pairs = pairs[GREEN : GREEN + 1] if photo.is_monochrome else pairs
    profile = tuple(value for slope, floor in pairs for value in (k * slope, k * k * floor))
    return {NOISE_REDUCTION_APPLIED: reduced, NOISE_PROFILE: Field(DOUBLE, profile)}
