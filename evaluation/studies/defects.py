"""How many hot, dead and stuck pixels are found, and how many others are taken for such.

A scene is sampled by the colour array, noise of a sensor is added, and some samples are spoilt. How far they
are off is told in two measures: deviations of the noise at that light, and of noise and scene together, as
samples of the same colour vary around them. What is small in the second is hidden in the scene.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.noise import NoiseModel, estimate_noise
from demosaic_ntc.detection.defects import find_defects

from ..data.scenes import SCENES
from ..data.sets import ImageSet
from ..measure.metrics import PEAK
from ..report.tables import DataTable, table_of

DEVIATIONS = 8.0
KINDS = ("hot", "dead", "stuck")
CFA = Cfa.from_name("RGGB")

_NOISE = NoiseModel.from_user(1e-4, 4e-6)
_STEP = 1 / 4095
_REACH = 3  # pixels around a sample that tell how the scene varies there

# Columns of the tables with their formats.
_SCENE = {"scene": "", **dict.fromkeys((*KINDS, "all", "all, σ of noise", "false per MP"), ".1f")}
_CLEAN = {"set": "", "pictures": "d", "false per MP": ".2f", "CPU s/MP": ".3f"}
_NOTE = (
    f"percent found of those that deviate by more than {DEVIATIONS:g} σ, σ of noise and scene around; in "
    "the column before the last of the noise alone"
)

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DefectiveMosaic:
    """A mosaic and its defects."""

    mosaic: Float32
    places: tuple[NDArray[np.intp], NDArray[np.intp]]
    kind: NDArray[np.intp]
    by_noise: NDArray[np.float64]  # deviations from the truth, in those of the noise
    by_all: NDArray[np.float64]  # and in those of noise and scene


def spoilt(scene: NDArray[np.float64], count: int, generator: np.random.Generator) -> DefectiveMosaic:
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
    return DefectiveMosaic(samples.astype(np.float32), places, kind, by_noise, by_all)


def _variation(light: NDArray[np.float64], row: int, column: int) -> float:
    """The standard deviation of the light of one colour around a sample."""
    rows = np.arange(max(row - _REACH, 0), min(row + _REACH + 1, light.shape[0]))
    columns = np.arange(max(column - _REACH, 0), min(column + _REACH + 1, light.shape[1]))
    down, across = CFA.period
    same = CFA.pattern[np.ix_(rows % down, columns % across)] == CFA.pattern[row % down, column % across]
    return float(light[np.ix_(rows, columns)][same].std())


def search_scene(name: str, side: int, count: int, seed: int) -> Row:
    """The row of a scene: percents of its defects that are found, the noise estimated from the samples."""
    generator = np.random.default_rng(seed)
    there = spoilt(SCENES[name](side, generator), count, generator)
    flags, _ = _found(there.mosaic, _STEP)
    found, stand_out = flags[there.places], there.by_all > DEVIATIONS
    kinds = {kind: 100 * found[stand_out & (there.kind == n)].mean() for n, kind in enumerate(KINDS)}
    return {
        "scene": name,
        **kinds,
        "all": 100 * found[stand_out].mean(),
        "all, σ of noise": 100 * found[there.by_noise > DEVIATIONS].mean(),
        "false per MP": (np.count_nonzero(flags) - np.count_nonzero(found)) / (flags.size / 1e6),
    }


def search_set(each: ImageSet) -> Row:
    """The row of clean 8-bit pictures, their mosaics taken for linear: what is found is false."""
    found, megapixels, seconds = 0, 0.0, 0.0
    for picture in each.pictures:
        flags, took = _found((CFA.sample(picture.pixels()) / PEAK).astype(np.float32), 1 / PEAK)
        found, seconds = found + int(np.count_nonzero(flags)), seconds + took
        megapixels += flags.size / 1e6
    costs = {"false per MP": found / megapixels, "CPU s/MP": seconds / megapixels}
    return {"set": each.name, "pictures": len(each.pictures), **costs}


def tables(scenes: Iterable[Row], clean: list[Row]) -> list[DataTable]:
    """What was found in scenes, and what was taken for defects in clean pictures."""
    found = [table_of("hot, dead and stuck pixels found", _SCENE, scenes, _NOTE)]
    return found + ([table_of("false alarms in clean mosaics", _CLEAN, clean)] if clean else [])


def _found(mosaic: Float32, step: float) -> tuple[NDArray[np.bool_], float]:
    """What is found in a mosaic (height, width) of which nothing is known, and the CPU seconds it takes."""
    channels = CFA.channel_map(mosaic.shape)
    red, green, blue = (float(mosaic[channels == channel].mean()) for channel in range(3))
    noise, start = estimate_noise(mosaic, CFA), process_time()
    balance = (green / red, 1.0, green / blue)  # makes the mean grey
    return find_defects(mosaic, CFA, noise, balance=balance, step=step), process_time() - start
