"""How many hot, dead and stuck pixels are found, and how many others are taken for such.

A scene is sampled by the colour array, noise of a sensor is added, and some samples are spoilt. How far they
are off is told in two measures: deviations of the noise at that light, and of noise and scene together, as
samples of the same colour vary around them. What is small in the second is hidden in the scene.
"""

from dataclasses import dataclass
from time import process_time

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32
from demosaic_ntc.imaging.cfa import Cfa
from demosaic_ntc.imaging.flaws.defects import find_defects
from demosaic_ntc.imaging.noise import NoiseModel, estimate_noise

from ..data.scenes import SCENES
from ..data.sets import PictureSet
from ..measure.likeness import PEAK

DEVIATIONS = 8.0
KINDS = ("hot", "dead", "stuck")
CFA = Cfa.named("RGGB")

_NOISE = NoiseModel.given(1e-4, 4e-6)
_STEP = 1 / 4095
_REACH = 3  # pixels around a sample that tell how the scene varies there


@dataclass(frozen=True, slots=True)
class Spoilt:
    """A mosaic and its defects."""

    mosaic: Float32
    places: tuple[NDArray[np.intp], NDArray[np.intp]]
    kind: NDArray[np.intp]
    by_noise: NDArray[np.float64]  # deviations from the truth, in those of the noise
    by_all: NDArray[np.float64]  # and in those of noise and scene


@dataclass(frozen=True, slots=True)
class SceneResult:
    """What was found in a scene."""

    name: str
    recall: tuple[float, ...]  # of each kind, of those that stand out of noise and scene
    overall: float
    by_noise: float  # of those that stand out of the noise alone
    false_per_megapixel: float


@dataclass(frozen=True, slots=True)
class SetResult:
    """What was taken for defects in clean pictures."""

    name: str
    pictures: int
    false_per_megapixel: float
    cpu_seconds_per_megapixel: float


def spoilt(scene: NDArray[np.float64], count: int, generator: np.random.Generator) -> Spoilt:
    """A scene as a sensor with so many defects of each kind sees it, in steps of 12 bits."""
    light = np.asarray(CFA.sample(scene))
    deviation = _NOISE.deviation(light, 0)
    samples = light + deviation * generator.standard_normal(light.shape)
    drawn = np.unravel_index(generator.choice(light.size, 3 * count, replace=False), light.shape)
    places = (drawn[0], drawn[1])
    kind, seen = np.repeat(np.arange(3), count), samples[places]
    hot = seen + np.exp(generator.uniform(np.log(0.02), 0, 3 * count))
    dead, stuck = seen * generator.uniform(0, 0.05, 3 * count), generator.uniform(0, 1, 3 * count)
    samples[places] = np.choose(kind, (hot, dead, stuck))
    samples = np.round(np.clip(samples, -0.05, 1) / _STEP) * _STEP
    away = np.abs(samples[places] - light[places])
    around = np.array([_variation(light, row, column) for row, column in zip(*places, strict=True)])
    by_noise, by_all = away / deviation[places], away / np.hypot(deviation[places], around)
    return Spoilt(samples.astype(np.float32), places, kind, by_noise, by_all)


def _variation(light: NDArray[np.float64], row: int, column: int) -> float:
    """The standard deviation of the light of one colour around a sample."""
    rows = np.arange(max(row - _REACH, 0), min(row + _REACH + 1, light.shape[0]))
    columns = np.arange(max(column - _REACH, 0), min(column + _REACH + 1, light.shape[1]))
    down, across = CFA.period
    same = CFA.pattern[np.ix_(rows % down, columns % across)] == CFA.pattern[row % down, column % across]
    return float(light[np.ix_(rows, columns)][same].std())


def search_scene(name: str, side: int, count: int, seed: int) -> SceneResult:
    """Look for the defects of a scene, its noise estimated from the samples."""
    generator = np.random.default_rng(seed)
    there = spoilt(SCENES[name](side, generator), count, generator)
    flags = _found(there.mosaic, _STEP)
    found = flags[there.places]
    stand_out = there.by_all > DEVIATIONS
    others = np.count_nonzero(flags) - np.count_nonzero(found)
    return SceneResult(
        name,
        tuple(float(found[stand_out & (there.kind == kind)].mean()) for kind in range(3)),
        float(found[stand_out].mean()),
        float(found[there.by_noise > DEVIATIONS].mean()),
        others / (flags.size / 1e6),
    )


def search_set(each: PictureSet) -> SetResult:
    """Look for defects in mosaics of clean 8-bit pictures, taken for linear: what is found is false."""
    found, pixels, seconds = 0, 0, 0.0
    for picture in each.pictures:
        mosaic = (CFA.sample(picture.pixels()) / PEAK).astype(np.float32)
        noise = estimate_noise(mosaic, CFA)
        start = process_time()
        flags = find_defects(mosaic, CFA, noise, balance=_greys(mosaic), step=1 / PEAK)
        seconds += process_time() - start
        found, pixels = found + int(np.count_nonzero(flags)), pixels + flags.size
    megapixels = pixels / 1e6
    return SetResult(each.name, len(each.pictures), found / megapixels, seconds / megapixels)


def _found(mosaic: Float32, step: float) -> NDArray[np.bool_]:
    """What is found in a mosaic of which nothing is known."""
    return find_defects(mosaic, CFA, estimate_noise(mosaic, CFA), balance=_greys(mosaic), step=step)


def _greys(mosaic: Float32) -> tuple[float, float, float]:
    """The balance that makes the mean grey."""
    channels = CFA.channel_map(mosaic.shape)
    red, green, blue = (float(mosaic[channels == channel].mean()) for channel in range(3))
    return green / red, 1.0, green / blue
