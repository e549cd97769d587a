"""How much of row and column noise is removed, and how often there seems to be some where there is none.

Pictures are taken as linear light after the sRGB curve is undone, sampled by a colour array, with noise of a
sensor, in steps of 14 bits; raws are taken as they are. Offsets are white noise: every row, or column, has
its own. What is left is told twice: of the differences between a line and the next of its kind, which are
seen as stripes, and of all, with changes so slow that content might have them as well.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.detection.banding import find_line_noise, remove_line_noise
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.raw.reading import read_photo

from ..data.sets import ImageSet
from ..measure.metrics import PEAK
from ..report.tables import DataTable, table_of

NOISES = ((0.0, 0.0), (2e-4, 2e-6), (2e-3, 2e-5))  # variances a·x + b
ARRAYS = ("RGGB", "XTRANS")
BLACK, SPAN = 512, 16000
_NEAR_WHITE = 0.98
_LINES = ("rows", "columns")

_CLEAN = {"array": "", "noise": "", "mosaics": "d", "false alarms": "d", "largest correlation": ".2f"}
_LEFT = {
    **{"on": "", "lines": "", "mosaics": "d", "found": "d", "stripes left %": ".1f", "all left %": ".1f"},
    "CPU s/MP": ".3f",
}
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CleanMosaic:
    """A mosaic without banding that we know of."""

    samples: NDArray[np.uint16]
    cfa: Cfa
    black: float
    white: float

    @property
    def saturated(self) -> float:
        """The level from which on samples are not believed."""
        return self.black + _NEAR_WHITE * (self.white - self.black)


def sample_set(each: ImageSet, array: str, noise: tuple[float, float], seed: int) -> Iterator[CleanMosaic]:
    """The pictures of a set as a sensor would see them."""
    cfa, (slope, floor) = Cfa.from_name(array), noise
    for number, picture in enumerate(each.pictures):
        light = np.asarray(cfa.sample(SRGB_CURVE.decode(picture.pixels() / PEAK)))
        generator = np.random.default_rng((seed, number))
        noisy = light + np.sqrt(slope * light + floor) * generator.standard_normal(light.shape)
        samples = np.clip(np.rint(BLACK + SPAN * noisy), 0, BLACK + SPAN).astype(np.uint16)
        yield CleanMosaic(samples, cfa, BLACK, BLACK + SPAN)


def open_raw(path: Path) -> CleanMosaic | None:
    """The mosaic of a raw file; None of linear ones."""
    photo = read_photo(path)
    if photo.cfa is None:
        return None
    return CleanMosaic(photo.mosaic, photo.cfa, float(photo.black.max()), photo.white)


def search_clean(each: ImageSet, array: str, noise: tuple[float, float], seed: int) -> Row:
    """The row of clean mosaics, looked at both ways: what is found is false."""
    found = [
        find_line_noise(mosaic.samples, mosaic.cfa, mosaic.saturated, axis)
        for mosaic in sample_set(each, array, noise, seed)
        for axis in (0, 1)
    ]
    return {
        "array": f"{each.name}, {array}",
        "noise": f"{noise[0]:g}, {noise[1]:g}",
        "mosaics": len(found),
        "false alarms": sum(one.is_found for one in found),
        "largest correlation": max(one.correlation for one in found),
    }


def measure_removal(
    name: str, mosaics: Callable[[], Iterable[CleanMosaic]], axis: int, strength: float, seed: int
) -> Row:
    """The row of mosaics with offsets of a strength, of 255: medians of what is left of them, in percent."""
    results: list[tuple[bool, float, float]] = []
    seconds, pixels = 0.0, 0
    for number, mosaic in enumerate(mosaics()):
        start = process_time()
        results.append(_remove(mosaic, axis, strength, np.random.default_rng((seed, number))))
        seconds, pixels = seconds + process_time() - start, pixels + mosaic.samples.size
    stripes, total = (100 * np.median(np.array([one[1:] for one in results]), axis=0)).tolist()
    found = sum(is_found for is_found, *_ in results)
    counts = {"mosaics": len(results), "found": found}
    left = {"stripes left %": stripes, "all left %": total, "CPU s/MP": seconds / (pixels / 1e6)}
    return {"on": f"{name}, {strength:g} of 255", "lines": _LINES[axis], **counts, **left}


def _remove(
    mosaic: CleanMosaic, axis: int, strength: float, generator: np.random.Generator
) -> tuple[bool, float, float]:
    """Whether offsets are found, and the shares that are left of stripes and of all."""
    clean, cfa = mosaic.samples, mosaic.cfa
    size = strength / PEAK * (mosaic.white - mosaic.black)
    offsets: NDArray[np.float64] = size * generator.standard_normal((clean.shape[axis],))
    lines = offsets[:, None] if axis == 0 else offsets[None, :]
    samples = np.where(clean < mosaic.saturated, np.clip(np.rint(clean + lines), 0, 65535), clean)
    banded = samples.astype(np.uint16)
    found = find_line_noise(banded, cfa, mosaic.saturated, axis)
    if found.is_found:
        remove_line_noise(banded, cfa, found, mosaic.saturated, axis)
    left = (banded.astype(np.float64) - clean).mean(axis=1 - axis)
    added = (samples - clean).mean(axis=1 - axis)
    step = 1 if cfa.is_mono else 2 if cfa.is_bayer else 3
    stripes = np.std(left[step:] - left[:-step]) / np.std(added[step:] - added[:-step])
    return found.is_found, float(stripes), float(left.std() / added.std())


def tables(clean: Iterable[Row], removed: Iterable[Row]) -> list[DataTable]:
    """What was taken for banding in clean mosaics, and what is left of offsets."""
    note = "medians of root mean squares, by those that were added; 100 where nothing is found"
    return [
        table_of("false alarms in clean mosaics, rows and columns", _CLEAN, clean),
        table_of("offsets of lines, removed", _LEFT, removed, note),
    ]
