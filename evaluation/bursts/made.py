"""Made bursts: a camera that moves a little between frames, with the truth of the first of them.

A picture in linear light is blurred by a lens, moved at its full size, and sampled at half of it by pixels
that are square: two rows and two columns of it go into one. Noise has the variance a · (x + c); everything is
told under the curve √(x + c), which makes it even.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, map_coordinates

from demosaic_ntc.arrays import Float32, Float64
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.io.colour import SRGB_CURVE

from ..data.sets import SetImage

RGGB = Cfa.from_name("RGGB")
_PEAK = 255.0
SCALE = 2  # pixels of the picture across one of a frame
_SIDE = 384  # pixels of the picture, twice as many as frames have
_LENS = 0.8  # pixels of the picture: the deviation of its blur
_SHIFT, _ANGLE = 6.0, 0.003  # pixels of frames, and radians, at most
_DARK = 0.01  # c
_SPAN = np.sqrt(1 + _DARK) - np.sqrt(_DARK)


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
