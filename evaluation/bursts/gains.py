"""What several frames of one scene are worth: decibels over a single one, beside simpler ways of merging."""

from collections.abc import Callable, Iterable, Sequence
from time import process_time
from typing import Any

import numpy as np

from demosaic_ntc.arrays import Flags, Float64
from demosaic_ntc.demosaicing.burst.demosaic_burst import demosaic_burst

from ..data.sets import SetImage
from ..report.tables import DataTable, table_of
from .made import RGGB, Burst, add_mover, make_burst
from .ways import OURS, SINGLE, WAYS, merge_groups

BORDER = 12
_HARD, _SHIFTS = 8, 4  # frames of hard cases, and of a sensor that is shifted
_TOLD = (0.85, 1.25)  # times the noise there is
_MERGED = {"frames": "d", "noise": ".0f", "way": "", "dB": ".2f", "gain": "+.2f", "CPU s/MP": ".1f"}
_CASES = {"case": "", "pictures": "d", "single dB": ".2f", "merged dB": ".2f", "change": "+.2f"}
Row = dict[str, Any]


def measure_frames(
    pictures: Sequence[SetImage], count: int, sigma: float, threads: int, seed: int
) -> list[Row]:
    """The rows of a number of frames and a noise: all ways."""
    found: dict[str, list[float]] = {way: [] for way in WAYS}
    seconds, pixels = dict.fromkeys(WAYS, 0.0), 0
    for number, picture in enumerate(pictures):
        burst = make_burst(picture, count, sigma, seed + number)
        pixels += burst.mosaics[0].size
        for way, merge in WAYS.items():
            start = process_time()
            found[way].append(decibels(merge(burst, threads), burst.views[0]))
            seconds[way] += process_time() - start
    single = float(np.mean(found[SINGLE]))
    return [
        {
            **{"frames": count, "noise": sigma, "way": way, "dB": (mean := float(np.mean(each)))},
            **{"gain": mean - single, "CPU s/MP": seconds[way] / (pixels / 1e6)},
        }
        for way, each in found.items()
    ]


def decibels(picture: Float64, truth: Float64, where: Flags | None = None) -> float:
    """The CPSNR within the border, or where it is asked for."""
    missed = np.square(np.asarray(picture, np.float64) - truth)
    inner = missed[BORDER:-BORDER, BORDER:-BORDER] if where is None else missed[where]
    return float(-10 * np.log10(inner.mean()))


def measure_case(name: str, pictures: Sequence[SetImage], sigma: float, threads: int, seed: int) -> Row:
    """The row of a hard case: eight frames, and what they make of it beside one."""
    pairs = [_CASE_FUNCTIONS[name](picture, sigma, threads, seed) for picture in pictures]
    single, merged = np.mean(pairs, axis=0)
    counts = {"case": name, "pictures": len(pairs)}
    return {**counts, "single dB": single, "merged dB": merged, "change": merged - single}


def _mover(picture: SetImage, sigma: float, threads: int, seed: int) -> tuple[float, float]:
    """A bright disc passes: its track."""
    burst = make_burst(picture, _HARD, sigma, seed)
    return _compare(burst, threads, add_mover(burst, 0.2))


def _foreign(picture: SetImage, sigma: float, threads: int, seed: int) -> tuple[float, float]:
    """One of the frames shows something else: beside the same burst without it."""
    burst = make_burst(picture, _HARD, sigma, seed)
    without = Burst(burst.mosaics[:-1], burst.views[:-1], burst.affines[:-1], burst.deviation)
    burst.mosaics[-1] = np.ascontiguousarray(burst.mosaics[-1][::-1, ::-1])
    truth = burst.views[0]
    return decibels(merge_groups(without, threads), truth), decibels(merge_groups(burst, threads), truth)


def _shifts(picture: SetImage, sigma: float, threads: int, seed: int) -> tuple[float, float]:
    """Four frames of a sensor that is shifted by whole pixels, without noise."""
    burst = make_burst(picture, _SHIFTS, 0.0, seed, "shifts")
    merged = demosaic_burst(burst.mosaics, RGGB, white=1.0, reference=0, threads=threads).image
    alone = demosaic_burst(burst.mosaics[:1], RGGB, white=1.0, threads=threads).image
    return decibels(alone, burst.views[0]), decibels(merged, burst.views[0])


def _told(times: float) -> Any:
    """Noise that is told wrongly: beside the right one."""

    def measure(picture: SetImage, sigma: float, threads: int, seed: int) -> tuple[float, float]:
        burst = make_burst(picture, _HARD, sigma, seed)
        told = Burst(burst.mosaics, burst.views, burst.affines, times * burst.deviation)
        right, wrong = (decibels(merge_groups(each, threads), burst.views[0]) for each in (burst, told))
        return right, wrong

    return measure


def _compare(burst: Burst, threads: int, where: Flags | None = None) -> tuple[float, float]:
    """The decibels of one frame and of all."""
    single, merged = (decibels(WAYS[way](burst, threads), burst.views[0], where) for way in (SINGLE, OURS))
    return single, merged


_CASE_FUNCTIONS: dict[str, Callable[[SetImage, float, int, int], tuple[float, float]]] = {
    "a mover's track": _mover,
    "rows that wobble": lambda picture, sigma, threads, seed: _compare(
        make_burst(picture, _HARD, sigma, seed, "wobble"), threads
    ),
    "a foreign frame, against none": _foreign,
    "pixel shift, four frames": lambda picture, sigma, threads, seed: _compare(
        make_burst(picture, _SHIFTS, sigma, seed, "shifts"), threads
    ),
    "pixel shift, four frames, no noise": _shifts,
    **{f"noise told ×{times:g}, against ×1": _told(times) for times in _TOLD},
}
CASES = tuple(_CASE_FUNCTIONS)


def merged_table(rows: Iterable[Row]) -> DataTable:
    """All ways, by the number of frames and their noise."""
    note = "gain over the single frame; ways other than groups are told the true motion"
    return table_of("merged frames", _MERGED, rows, note)


def cases_table(rows: Iterable[Row]) -> DataTable:
    """Hard cases."""
    return table_of(f"hard cases, {_HARD} frames", _CASES, rows)
