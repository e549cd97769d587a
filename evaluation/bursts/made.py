"""Made bursts: a camera that moves a little between frames, with the truth of the first of them.

A picture in linear light is blurred by a lens, moved at its full size, and sampled at half of it by pixels
that are square: two rows and two columns of it go into one. Noise has the variance a · (x + c); everything is
told under the curve √(x + c), which makes it even. As raw files they are exposed and seen by a noisy camera.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, map_coordinates, shift

from demosaic_ntc.arrays import Flags, Float32, Float64
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.io.exif import EXPOSURE_TIME, ISO, MAKE, MODEL, Exif
from demosaic_ntc.io.tiff_tags import ASCII, RATIONAL, SHORT, Field

from ..data.raws import MEGA
from ..data.sets import SetImage
from ..data.textures import expose_noisily
from ..siblings import Camera, camera_from_srgb

RGGB = Cfa.from_name("RGGB")
_PEAK = 255.0
SCALE = 2  # pixels of the picture across one of a frame
_SIDE = 384  # pixels of the picture, twice as many as frames have
_LENS = 0.8  # pixels of the picture: the deviation of its blur
_SHIFT, _ANGLE = 6.0, 0.003  # pixels of frames, and radians, at most
_DARK = 0.01  # c
_SPAN = np.sqrt(1 + _DARK) - np.sqrt(_DARK)

# Of raws.
_TIME = Fraction(1, 250)  # seconds
_SLOPE = 8.5e-4  # the variance of noise, of the light: a phone's
_CLEAN_SLOPE = 2e-4  # a camera's at low sensitivity
_CLIPPED, _GAINS = 0.1, (1.5, 3.5)  # the share of pixels that clip, and how far light is raised for that


@dataclass(frozen=True, slots=True, eq=False)
class Burst:
    """Frames under the curve, with what they would show without noise."""

    mosaics: list[Float32]
    views: list[Float64]  # (height, width, 3), without noise; the first is the truth
    affines: list[Float64]  # (2, 3): where the pixels of frames lie in the first one
    deviation: float  # of the noise, of full scale 1


def make_burst(picture: SetImage, count: int, sigma: float, seed: int, motion: str = "hand") -> Burst:
    """A burst of so many frames with noise of so much of 255.

    ``motion`` is that of a ``"hand"``, ``"shifts"`` of a sensor by whole pixels, or a ``"wobble"`` of rows.
    """
    random = np.random.default_rng((seed, count))
    scene = see_through_lens(picture.pixels() / _PEAK)
    views, affines = [], []
    for number in range(count):
        affine = draw_motion(random, number, motion)
        wobble = 0.0 if number == 0 or motion != "wobble" else 1.2
        views.append(_encode(np.clip(view_scene(scene, affine, wobble, random.uniform(0, 6)), 0, 1)))
        affines.append(affine)
    deviation = sigma / _PEAK
    mosaics = [_take(view, deviation, random) for view in views]
    return Burst(mosaics, views, affines, deviation)


_IDENTITY = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


def draw_motion(random: np.random.Generator, number: int, motion: str) -> Float64:
    """Where the pixels of a frame lie in the first one."""
    if number == 0:
        return _IDENTITY
    if motion == "shifts":
        return np.asarray(_IDENTITY + np.outer([number // 2 % 2, number % 2], [1.0, 0.0, 0.0]))
    angle, shift = random.uniform(-_ANGLE, _ANGLE), random.uniform(-_SHIFT, _SHIFT, 2)
    matrix = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    centre = np.full(2, (_SIDE // 2 - 1) / 2)
    return np.column_stack([shift + centre - matrix @ centre, matrix])


def see_through_lens(pixels: Float64) -> Float64:
    """A picture in linear light, seen through a lens."""
    light = SRGB_CURVE.decode(pixels)
    return np.stack([gaussian_filter(light[..., channel], _LENS) for channel in range(3)], axis=-1)


def choose_box(height: int, width: int) -> tuple[int, int, int, int]:
    """Left, top, width and height of what frames see of a picture: its middle."""
    side = min(_SIDE, height // SCALE * SCALE, width // SCALE * SCALE)
    return (width - side) // 2, (height - side) // 2, side, side


def view_scene(scene: Float64, affine: Float64, wobble: float = 0.0, phase: float = 0.0) -> Float64:
    """What a frame sees of the middle of a scene, (side / 2, side / 2, 3)."""
    left, top, side, _ = choose_box(*scene.shape[:2])
    y, x = np.mgrid[0 : side // 2, 0 : side // 2].astype(np.float64)
    rows, columns = (start + down * y + across * x for start, down, across in affine)
    columns = columns + wobble * np.sin(y / 25 + phase)
    total = np.zeros((*y.shape, 3))
    for down in (0, 1):
        for across in (0, 1):
            places = [top + 2 * rows + down, left + 2 * columns + across]
            for channel in range(3):
                total[..., channel] += (
                    map_coordinates(scene[..., channel], places, order=3, mode="mirror") / 4
                )
    return np.maximum(total, 0)


def _encode(light: Float64) -> Float64:
    """Light under the curve that makes noise even."""
    return np.asarray((np.sqrt(np.maximum(light + _DARK, 0)) - np.sqrt(_DARK)) / _SPAN)


def decode_view(view: Float64) -> Float64:
    """What is told under the curve as a picture of 255 levels."""
    light = np.square(np.asarray(view, np.float64) * _SPAN + np.sqrt(_DARK)) - _DARK
    return np.asarray(_PEAK * SRGB_CURVE.encode(np.clip(light, 0, 1)))


def _take(view: Float64, deviation: float, random: np.random.Generator) -> Float32:
    """A noisy mosaic of a view: noise is added to its light."""
    light = np.square(np.asarray(RGGB.sample(view)) * _SPAN + np.sqrt(_DARK)) - _DARK
    spread = 2 * _SPAN * deviation * np.sqrt(light + _DARK)
    return _encode(light + spread * random.standard_normal(light.shape)).astype(np.float32)


def add_mover(burst: Burst, contrast: float) -> NDArray[np.bool_]:
    """Let a bright disc move through a burst, in place; return its whole track."""
    side = len(burst.mosaics[0])
    y, x = np.mgrid[0:side, 0:side]
    track = np.zeros((side, side), np.bool_)
    for number, (mosaic, view) in enumerate(zip(burst.mosaics, burst.views, strict=True)):
        row, column = side * (0.35 + 0.03 * number), side * (0.3 + 0.07 * number)
        far = np.hypot(y - row, x - column)
        disc = far < side / 11
        mosaic[disc] += np.float32(contrast)
        view[disc] += contrast
        track |= far < side / 8
    return track


def write_frame(path: Path, light: Float64, stops: float, slope: float, seed: int) -> Path:
    """Write the raw of a camera that gathers so many stops more of light than it clips at."""
    photo = {
        EXPOSURE_TIME: Field(RATIONAL, (_TIME * Fraction(2.0**stops).limit_denominator(1024),)),
        ISO: Field(SHORT, (200,)),
    }
    image = {MAKE: Field(ASCII, b"demosaic-ntc\0"), MODEL: Field(ASCII, b"Synthetic camera\0")}
    path.write_bytes(expose_noisily(light * 2.0**stops, slope, None, seed, Exif(image, photo, {})))
    return path


def write_large_burst(folder: Path, picture: SetImage, megapixels: float, count: int) -> list[Path]:
    """Write frames of so many megapixels: a picture side by side, moved by parts of pixels."""
    tile = SRGB_CURVE.decode(picture.pixels() / 255)
    height = 2 * round((megapixels * MEGA * 3 / 4) ** 0.5 / 2)
    width = 2 * round(height * 2 / 3)
    repeats = (-(-height // tile.shape[0]), -(-width // tile.shape[1]), 1)
    random, paths = np.random.default_rng(0), list[Path]()
    for number in range(count):
        move = np.zeros(2) if number == 0 else random.uniform(-_SHIFT, _SHIFT, 2)
        moved = np.clip(shift(tile, (*move, 0), order=3, mode="grid-wrap"), 0, 1)
        light = np.tile(moved, repeats)[:height, :width]
        paths.append(write_frame(folder / f"frame{number:02}.dng", light, 0.0, _SLOPE, number))
    return paths


@dataclass(frozen=True, slots=True, eq=False)
class Bracket:
    """Raws of several exposures, the first of which is the reference."""

    paths: list[Path]
    light: Float64  # (height, width, 3) of the reference, white 1
    clipped: Flags  # (height, width): where a channel of the reference clips, and none of the shortest does


def write_bracket(folder: Path, picture: SetImage, stops: Sequence[int], seed: int) -> Bracket:
    """Write frames of a hand that differ in exposure; the first clips a tenth of its pixels."""
    random = np.random.default_rng((seed, len(stops)))
    scene = see_through_lens(picture.pixels() / 255)
    scene = scene * np.clip(1 / np.quantile(_camera_light(scene).max(axis=2), 1 - _CLIPPED), *_GAINS)
    views = [view_scene(scene, draw_motion(random, number, "hand")) for number in range(len(stops))]
    paths = [
        write_frame(folder / f"frame{number}.dng", view, stop, _CLEAN_SLOPE, seed + number)
        for number, (view, stop) in enumerate(zip(views, stops, strict=True))
    ]
    most = _camera_light(views[0]).max(axis=2)
    return Bracket(paths, views[0], (most >= 1) & (most < 2.0 ** -min(stops)))


def _camera_light(light: Float64) -> Float64:
    """What the channels of the camera see of light, 1 where they saturate."""
    return np.asarray(light @ camera_from_srgb().T * np.array(Camera().neutral))
