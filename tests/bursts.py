"""Bursts of raws with their truth: a generated scene that moves between the frames of a synthetic camera."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, shift

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.io.exif import DATE_TAKEN, EXPOSURE_TIME, MODEL, Exif
from demosaic_ntc.io.tiff_tags import ASCII, RATIONAL, Field
from samples.dng import Camera, camera_from_srgb, write_dng
from samples.make_samples import EXIF
from samples.scene import scene

Light = NDArray[np.float64]

RGGB = Cfa.from_name("RGGB")
MOVES = ((0.0, 0.0), (1.4, -2.3), (-3.1, 0.7), (2.6, 3.2))


@dataclass(frozen=True)
class Shot:
    """How a frame is taken: what moved, how noisy it is, when, and by what."""

    move: tuple[float, float] = (0.0, 0.0)  # rows and columns
    noise: tuple[float, float] = (2e-3, 1e-4)  # variance of raw light: slope, floor
    time: Fraction = Fraction(1, 250)
    second: int = 0
    model: str = "Synthetic camera"
    seed: int = 0


def still_light(size: tuple[int, int] = (96, 128), seed: int = 7) -> Light:
    """The linear light of a scene at twice the size of a frame."""
    return SRGB_CURVE.decode(scene(2 * size[0], 2 * size[1], seed))


def clouded_light(size: tuple[int, int] = (96, 128)) -> Light:
    """Light of clouds, which has nothing in common with a scene."""
    noise = np.random.default_rng(5).normal(size=(2 * size[0], 2 * size[1], 3))
    clouds = sum(wide * gaussian_filter(noise, (wide, wide, 0)) for wide in (1, 3, 8))
    return np.asarray(np.clip(0.3 + 0.12 * clouds / np.std(clouds), 0.01, 1.0))


def moved_light(fine: Light, move: tuple[float, float]) -> Light:
    """What a frame sees: light moved by rows and columns, in pixels of two by two."""
    there = shift(fine, (2 * move[0], 2 * move[1], 0), order=3, mode="nearest")
    height, width = there.shape[0] // 2, there.shape[1] // 2
    return np.asarray(np.clip(there.reshape(height, 2, width, 2, 3).mean(axis=(1, 3)), 0, None))


def take(path: Path, fine: Light, shot: Shot, cfa: Cfa = RGGB) -> Path:
    """Write what a camera sees of light; twice the time gathers twice as much."""
    camera, gain = Camera(), float(shot.time / Fraction(1, 250))
    span = camera.white - camera.black
    colours = (moved_light(fine, shot.move) * gain @ camera_from_srgb().T) * np.asarray(camera.neutral)
    light = cfa.sample(colours)
    deviation = np.sqrt(shot.noise[0] * np.maximum(light, 0) + shot.noise[1])
    noisy = light + np.random.default_rng(shot.seed).normal(size=light.shape) * deviation
    codes = np.clip(np.round(noisy * span + camera.black), 0, camera.white).astype(np.uint16)
    write_dng(path, codes, cfa, camera, exif=_exif(shot))
    return path


def take_all(folder: Path, fine: Light, shots: Sequence[Shot]) -> list[Path]:
    """Write the frames of a burst."""
    folder.mkdir(parents=True, exist_ok=True)
    return [take(folder / f"frame{k}.dng", fine, replace(shot, seed=k)) for k, shot in enumerate(shots)]


def _exif(shot: Shot) -> Exif:
    """When and how a frame was taken."""
    minutes, seconds = divmod(shot.second, 60)
    taken = f"2024:05:17 10:{30 + minutes:02}:{seconds:02}".encode() + b"\0"
    photo = {**EXIF.photo, EXPOSURE_TIME: Field(RATIONAL, (shot.time,)), DATE_TAKEN: Field(ASCII, taken)}
    image = {**EXIF.image, MODEL: Field(ASCII, shot.model.encode() + b"\0")}
    return Exif(image, photo, EXIF.gps)
