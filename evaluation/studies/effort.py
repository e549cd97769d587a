"""What effort changes where it is spared: groups only where they show, beside groups everywhere.

On raws, of which the truth is not known, the two pictures are compared with each other, block by block; on
pictures whose mosaics are given noise, both are compared with the truth as well. A distance is no loss: two
estimates of something noisy lie apart by what is left of its noise in either.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc import develop
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.demosaic import demosaic
from demosaic_ntc.demosaicing.group_demosaic import APART

from ..data.sets import SetImage
from ..measure.metrics import PEAK
from ..report.tables import DataTable, table_of

CFA = Cfa.from_name("RGGB")
BLOCK = 16  # pixels along a block

# Columns of the tables with their formats.
_RAWS = {"raw": "", "median": ".2f", "99 %": ".2f", "CPU s/MP": ".2f", "everywhere": ".2f"}
_NOISY = {
    **{"pictures": "", "σ": "g", "median": ".2f"},
    **{"error": ".2f", "everywhere": ".2f", "dB": ".2f", "dB, everywhere": ".2f"},
}
_NOTE_RAWS = (
    f"Distance of the two pictures in 255ths, root mean square over blocks of {BLOCK} pixels: that of the "
    "median block, and that which 99 % stay below; CPU "
    "seconds per megapixel of the whole development, one thread, with groups where they show and everywhere."
)
_NOTE_NOISY = (
    "Means over pictures: the distance of the median block, its error beside that with groups everywhere, in "
    "255ths, and PSNR of both."
)

Row = dict[str, Any]


@contextmanager
def everywhere() -> Iterator[None]:
    """Groups are formed all over pictures, in all qualities, as long as this lasts."""
    usual = dict(APART)
    APART.update(dict.fromkeys(APART, -1.0))
    try:
        yield
    finally:
        APART.update(usual)


def block_distances(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.float64]:
    """Root mean squares over blocks of two pictures (height, width, 3) from 0 to 1, in 255ths."""
    squares = np.square(np.subtract(one, other, dtype=np.float64)).mean(axis=2)
    rows, columns = (length // BLOCK for length in squares.shape)
    blocks = squares[: rows * BLOCK, : columns * BLOCK].reshape(rows, BLOCK, columns, BLOCK)
    return np.asarray(PEAK * np.sqrt(blocks.mean(axis=(1, 3))))


def compare_raw(source: Path, quality: Any) -> Row:
    """The row of a raw."""
    sparing, seconds = _develop(source, quality)
    with everywhere():
        full, full_seconds = _develop(source, quality)
    distances = block_distances(sparing.image, full.image)
    megapixels = sparing.image.shape[0] * sparing.image.shape[1] / 1e6
    return {
        "raw": source.name,
        "median": np.median(distances),
        "99 %": np.quantile(distances, 0.99),
        "CPU s/MP": seconds / megapixels,
        "everywhere": full_seconds / megapixels,
    }


def _develop(source: Path, quality: Any) -> tuple[Any, float]:
    """A raw as measured, from 0 to 1, and the CPU seconds that it took."""
    start = process_time()
    photo = develop(source, quality=quality, look="neutral", bits="float", threads=1)
    return photo, process_time() - start


def compare_noisy(name: str, pictures: Sequence[SetImage], sigma: float, quality: Any) -> Row:
    """The row of some pictures whose mosaics have noise of a standard deviation in 255ths, or none."""
    rows = [_compare(picture.pixels() / PEAK, sigma, seed, quality) for seed, picture in enumerate(pictures)]
    return {"pictures": name, "σ": sigma, **{key: np.mean([row[key] for row in rows]) for key in rows[0]}}


def _compare(truth: NDArray[Any], sigma: float, seed: int, quality: Any) -> Row:
    """What is found of one picture (height, width, 3) from 0 to 1."""
    noise = np.random.default_rng(seed).normal(0, sigma / PEAK, truth.shape[:2])
    mosaic = np.asarray(CFA.sample(truth) + noise, np.float32)
    how: Any = {"quality": quality, "white": 1.0, "noise": sigma / PEAK if sigma else None, "threads": 1}
    sparing = demosaic(mosaic, CFA, **how)
    with everywhere():
        full = demosaic(mosaic, CFA, **how).image
    errors = {"error": sparing.image, "everywhere": full}
    return {
        "median": np.median(block_distances(sparing.image, full)),
        **{name: np.median(block_distances(image, truth)) for name, image in errors.items()},
        **{"dB": _decibels(sparing.image, truth), "dB, everywhere": _decibels(full, truth)},
    }


def _decibels(picture: NDArray[Any], truth: NDArray[Any]) -> float:
    """PSNR over all pixels and channels."""
    return float(-10 * np.log10(np.square(picture - truth).mean()))


def tables(raws: Sequence[Row], noisy: Iterable[Row]) -> list[DataTable]:
    """Both comparisons, as far as there are any."""
    shown = [table_of("Effort spared on raws", _RAWS, raws, _NOTE_RAWS)] if raws else []
    rows = list(noisy)
    return shown + ([table_of("Effort spared on noisy mosaics", _NOISY, rows, _NOTE_NOISY)] if rows else [])
