"""How much texture and how much noise is left of a chart: ours beside other programs and denoisers.

Every way gives linear light of the chart's size; colours are fitted afterwards. The package `bm3d` is free
for non-commercial use alone and therefore no dependency: it is compared where somebody has installed it.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from demosaic_ntc import develop
from demosaic_ntc.arrays import Float64
from demosaic_ntc.errors import Unsupported
from demosaic_ntc.io.colour import SRGB_CURVE

from ..data.textures import CFA, NEUTRAL, Chart, draw_chart, expose_noisily
from ..methods.denoisers import denoise_by_non_local_means
from ..methods.highlights import HISTORY, pad_border, run_darktable, run_rawtherapee
from ..report.tables import DataTable, table_of
from .acutance import TextureFigures, fit_colours, measure_chart

LEAST_NOISY, NOISIEST = 1e-9, 0.02  # slopes of the variance of noise
_REDUCTION = Path(__file__).with_name("denoising.pp3").read_text(encoding="utf-8")  # for RawTherapee
_LIFTED = 1.4  # times the deviation of white noise, for what follows a demosaicer (see `denoisers`)

# Columns of the table with their formats, and the figures they show.
_COLUMNS = {"way": "", "acutance": ".3f", "flats": ".3f", "colour": ".3f", "in texture": ".2f", "dB": ".2f"}
_SHOWN = ("acutance", "luma_noise", "chroma_noise", "texture_noise", "psnr")
_NOTE = (
    "Acutance of luma, mean of five textures, 1 as in the truth; noise of luma and of colour in flats and of "
    "luma within textures, of 255, as the eye weighs it; decibels of the chart. Acutance alone rewards what "
    "removes no noise: read all of them."
)


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of all ways that could be run on a chart."""

    slope: float
    ways: Mapping[str, TextureFigures]


def measure(slope: float, seed: int, names: Sequence[str]) -> Measured:
    """Develop a noisy chart in all ways that are wanted and installed."""
    noisy = NoisyChart(draw_chart(seed), slope, seed)
    truth, found = SRGB_CURVE.decode(noisy.chart.pixels), dict[str, TextureFigures]()
    for name in names:
        try:
            fitted = fit_colours(WAYS[name](noisy), truth)
        except Unsupported:
            continue
        found[name] = measure_chart(SRGB_CURVE.encode(np.maximum(fitted, 0)), noisy.chart)
    return Measured(slope, found)


def tables(found: Sequence[Measured]) -> list[DataTable]:
    """The means of all ways over charts, for each noise; and the acutance of each texture."""
    slopes = dict.fromkeys(each.slope for each in found)
    parts = {slope: [each.ways for each in found if each.slope == slope] for slope in slopes}
    return [table for slope, ways in parts.items() for table in _tables(slope, ways)]


def _tables(slope: float, charts: Sequence[Mapping[str, TextureFigures]]) -> list[DataTable]:
    """The two tables of one noise."""
    title = f"texture, variance {slope:g}·x + …, {len(charts)} charts"
    means, textures = [], []
    for name in dict.fromkeys(name for chart in charts for name in chart):
        figures = [asdict(chart[name]) for chart in charts if name in chart]
        shown = (float(np.mean([each[key] for each in figures])) for key in _SHOWN)
        means.append(dict(zip(_COLUMNS, (name, *shown), strict=True)))
        acutances = [each["by_texture"] for each in figures]
        textures.append(
            {"way": name, **{key: float(np.mean([each[key] for each in acutances])) for key in acutances[0]}}
        )
    if not means:
        return []
    columns = {"way": "", **dict.fromkeys(list(textures[0])[1:], ".2f")}
    return [table_of(title, _COLUMNS, means, _NOTE), table_of(f"{title}: acutance", columns, textures, "")]


@dataclass(frozen=True, slots=True, eq=False)
class NoisyChart:
    """A chart and the noise of its samples, variance slope·x + slope/1000 + 1e-7."""

    chart: Chart
    slope: float
    seed: int

    def raw(self, told: float | None = 1.0) -> bytes:
        """Its raw, which states ``told`` times the deviation of its noise, or nothing."""
        return expose_noisily(SRGB_CURVE.decode(self.chart.pixels), self.slope, told, self.seed)


Way = Callable[[NoisyChart], Float64]


def by_ours(told: float | None = 1.0, **how: Any) -> Way:
    """Return our program's way with some settings; the raw states so many times its noise."""

    def convert(noisy: NoisyChart) -> Float64:
        with TemporaryDirectory() as folder:
            path = Path(folder, "chart.dng")
            path.write_bytes(noisy.raw(told))
            made = develop(path, look="neutral", bits=16, threads=1, **how)
        return SRGB_CURVE.decode(np.asarray(made.image) / 65535)

    return convert


def followed_by(denoise: Callable[[Float64, float], Any]) -> Way:
    """Return our way without denoising, then a denoiser told the middle deviation of the encoded picture."""
    plain = by_ours(denoise="off")

    def convert(noisy: NoisyChart) -> Float64:
        encoded = SRGB_CURVE.encode(plain(noisy))
        light = SRGB_CURVE.decode(noisy.chart.pixels)
        variance = noisy.slope * light / np.array(NEUTRAL)  # of balanced light
        deviation = SRGB_CURVE.steepness(light.astype(np.float32)) * np.sqrt(variance)
        return SRGB_CURVE.decode(np.asarray(denoise(encoded, _LIFTED * float(np.median(deviation)))))

    return convert


def _denoise_by_bm3d(encoded: Float64, deviation: float) -> Any:
    """Denoise by CBM3D, where it is installed."""
    try:
        package = import_module("bm3d")
    except ImportError as error:
        raise Unsupported("the package bm3d is not installed; install it to compare") from error
    return package.bm3d_rgb(encoded, deviation)


def by_rawtherapee(luma: int | None, detail: int = 50, *, median: bool = False) -> Way:
    """Return RawTherapee's way: AMaZE, and noise reduction of a strength with automatic colour."""
    how = {"median": str(median).lower(), "luma": luma, "detail": detail}
    reduction = "" if luma is None else _REDUCTION.format(**how)

    return lambda noisy: _pad(run_rawtherapee(noisy.raw(), 0, reduction), noisy.chart)


def by_darktable(strength: float) -> Way:
    """Return darktable's non-local means for a profile of noise, told the noise there is, without a look."""

    def convert(noisy: NoisyChart) -> Float64:
        parameters = _pack_profile(noisy.slope, strength)
        history = HISTORY.format(operation="denoiseprofile", version=11, parameters=parameters)
        return _pad(run_darktable(noisy.raw(), history), noisy.chart)

    return convert


def _pack_profile(slope: float, strength: float) -> str:
    """Parameters of the module's version 11: radii, strengths, slopes and floors of the noise, the mode.

    Mode 0 is non-local means; it does not use the curves of wavelets that follow.
    """
    floor = slope / 1000 + 1e-7
    numbers = (1.0, 7.0, strength, 1.0, 0.0, 0.0, 0.1, 1.0, *[slope] * 3, *[floor] * 3)
    curves = [0.5] * (2 * 6 * 7)
    return struct.pack(f"<{len(numbers)}fi{len(curves)}f4i", *numbers, 0, *curves, 1, 1, 1, 1).hex()


def _pad(light: Float64, chart: Chart) -> Float64:
    """A picture of the chart's size."""
    return pad_border(light, chart.pixels.shape, "the chart", most=8 * max(CFA.period))


WAYS: dict[str, Way] = {
    "ours": by_ours(),
    "ours, texture": by_ours(denoise="texture"),
    "ours, fast": by_ours(quality="fast"),
    "ours, best": by_ours(quality="best"),
    "ours, profile × 1.3": by_ours(1.3),
    "ours, profile × 1.6": by_ours(1.6),
    "ours, no profile": by_ours(None),
    "ours, off": by_ours(denoise="off"),
    "off, then non-local means": followed_by(denoise_by_non_local_means),
    "off, then CBM3D": followed_by(_denoise_by_bm3d),
    "RawTherapee": by_rawtherapee(None),
    "RawTherapee, luma 25": by_rawtherapee(25),
    "RawTherapee, ISO High": by_rawtherapee(50, 60, median=True),
    "darktable, profiled .15": by_darktable(0.15),
    "darktable, profiled 1": by_darktable(1.0),
}
