"""Made bursts as raw files: pictures in linear light, moved, exposed and seen by a noisy camera."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from scipy.ndimage import shift

from demosaic_ntc.arrays import Flags, Float64
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.io.exif import EXPOSURE_TIME, ISO, MAKE, MODEL, Exif
from demosaic_ntc.io.tiff_tags import ASCII, RATIONAL, SHORT, Field

from ..data.raws import MEGA
from ..data.sets import SetImage
from ..data.textures import expose_noisily
from ..siblings import Camera, camera_from_srgb
from .made import draw_motion, see_through_lens, view_scene

_TIME = Fraction(1, 250)  # seconds
_SLOPE = 8.5e-4  # the variance of noise, of the light: a phone's
_CLEAN_SLOPE = 2e-4  # a camera's at low sensitivity
_SHIFT = 6.0  # pixels, at most
_CLIPPED, _GAINS = 0.1, (1.5, 3.5)  # the share of pixels that clip, and how far light is raised for that


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
