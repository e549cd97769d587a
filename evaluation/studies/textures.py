"""How much texture and how much noise is left of a chart: ours beside other programs and denoisers."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass

import numpy as np

from demosaic_ntc.errors import InputError, Unsupported
from demosaic_ntc.io.colour import SRGB_CURVE

from ..data.textures import draw_chart
from ..report.tables import DataTable, table_of
from .acutance import TextureFigures, fit_colours, measure_chart
from .texture_ways import WAYS, NoisyChart

_NOISIEST = 0.02

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


def check_slopes(names: Iterable[str]) -> list[float]:
    """Slopes of the variance of noise, or an error."""
    with suppress(ValueError):
        if all(0 < float(name) <= _NOISIEST for name in names):
            return [float(name) for name in names]
    raise InputError(f"{','.join(names)!r} are no slopes up to {_NOISIEST:g}; give such as 0.0005,0.001")


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
