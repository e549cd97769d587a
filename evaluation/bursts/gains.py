"""What several frames of one scene are worth: decibels over a single one, beside simpler ways of merging.

Exposures that differ are worth highlights that the reference clips, and its shadows.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
from skimage.color import deltaE_ciede2000, rgb2lab

from demosaic_ntc.arrays import Flags, Float64
from demosaic_ntc.demosaicing.burst.demosaic_burst import demosaic_burst
from demosaic_ntc.io.colour import SRGB_CURVE
from demosaic_ntc.workflows.api import develop, merge

from ..data.sets import SetImage
from ..report.tables import DataTable, table_of
from .made import RGGB, Bracket, Burst, add_mover, make_burst, write_bracket
from .ways import OURS, SINGLE, WAYS, merge_groups

BORDER = 12
BRACKETS = {"0 −2": (0, -2), "0 +2 −2": (0, 2, -2)}
_HARD, _SHIFTS = 8, 4  # frames of hard cases, and of a sensor that is shifted
_DARKER = 2  # stops, so that what lies above white is seen in brackets
_TOLD = (0.85, 1.25)  # times the noise there is
_MERGED = {"frames": "d", "noise": ".0f", "way": "", "dB": ".2f", "gain": "+.2f", "CPU s/MP": ".1f"}
_CASES = {"case": "", "pictures": "d", "single dB": ".2f", "merged dB": ".2f", "change": "+.2f"}
_BRACKETED = {
    "exposures": "", "pictures": "d", "clipped": ".1%", "single ΔE": ".2f", "merged ΔE": ".2f", "95 %": ".2f",
    "worst": ".2f", "dark single": ".2f", "dark merged": ".2f", "change": "+.2f",
}  # fmt: skip
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
        for way in WAYS:
            start = process_time()
            found[way].append(decibels(WAYS[way](burst, threads), burst.views[0]))
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


def measure_bracket(name: str, pictures: Sequence[SetImage], threads: int, seed: int) -> Row:
    """The row of a bracket: means over the pictures, and the worst of them."""
    stops = BRACKETS[name]
    found = [_measure_exposures(each, stops, threads, seed + k) for k, each in enumerate(pictures)]
    mean = {key: float(np.mean([each[key] for each in found])) for key in found[0]}
    worst = max(each["merged ΔE"] for each in found)
    change = mean["dark merged"] - mean["dark single"]
    return {"exposures": name, "pictures": len(pictures), **mean, "worst": worst, "change": change}


def _measure_exposures(picture: SetImage, stops: Sequence[int], threads: int, seed: int) -> Row:
    """How far the reference alone and all frames are off, in highlights and in the darkest quarter."""
    with TemporaryDirectory() as folder:
        made = write_bracket(Path(folder), picture, stops, seed)
        how: dict[str, Any] = {
            "look": "neutral",
            "linear": True,
            "highlights": "reconstruct",
            "threads": threads,
        }
        how |= {"exposure": -_DARKER, "bits": "float"}
        single = develop(made.paths[0], **how).image
        merged = merge(made.paths, reference="first", **how).image
    inner = slice(BORDER, -BORDER)
    bright = np.zeros_like(made.clipped)
    bright[inner, inner] = made.clipped[inner, inner]
    alone, together = (compare_colours(each, made.light)[bright] for each in (single, merged))
    dark = [measure_shadows(each, made) for each in (single, merged)]
    return {
        "clipped": made.clipped.mean(), "single ΔE": alone.mean(), "merged ΔE": together.mean(),
        "95 %": np.quantile(together, 0.95), "dark single": dark[0], "dark merged": dark[1],
    }  # fmt: skip


def compare_colours(image: Float64, light: Float64) -> Float64:
    """ΔE00 between a linear picture that was darkened and the light it is of."""
    seen = (np.clip(image, 0, 1), np.clip(light / 2**_DARKER, 0, 1))
    one, other = (rgb2lab(SRGB_CURVE.encode(each)) for each in seen)
    return np.asarray(deltaE_ciede2000(one, other))  # type: ignore[no-untyped-call]


def measure_shadows(image: Float64, made: Bracket) -> float:
    """Decibels in the darkest quarter, under the curve of pictures."""
    grey = made.light.mean(axis=2)
    dark: Flags = grey <= np.quantile(grey, 0.25)
    shown = SRGB_CURVE.encode(np.clip(image * 2.0**_DARKER, 0, 1))
    return float(-10 * np.log10(np.square(shown - SRGB_CURVE.encode(np.clip(made.light, 0, 1)))[dark].mean()))


def brackets_table(rows: Iterable[Row]) -> DataTable:
    """All brackets."""
    note = (
        f"ΔE00 at −{_DARKER} EV where the reference clips and a shorter frame does not: means over pictures, "
        "of their 95th percentiles too, and the worst mean; dB in the darkest quarter"
    )
    return table_of("brackets", _BRACKETED, rows, note)
