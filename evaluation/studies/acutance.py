"""How much texture a picture keeps, and how much noise: acutance and noise as the eye weighs frequencies.

A picture is compared with its truth ring by ring of its spectrum (F. Cao, F. Guichard and H. Hornung, 2009,
doi:10.1117/12.805853; with the cross spectrum L. Kirk et al., 2014, doi:10.1117/12.2039689): what follows the
truth is texture, the rest is noise, so that noise does not pass for texture. Rings are weighted by the
sensitivity of the eye to contrast, f^.8 · e^(−.2 f) at f cycles per degree, and 40 pixels per degree.
"""

from dataclasses import dataclass
from math import log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float64

from ..data.textures import Chart

_RINGS = 60
_PER_DEGREE = 40.0  # pixels
_PEAK_FREQUENCY = 4.0  # cycles per degree, at which the sensitivity is largest
_BLOCK = 16  # pixels along the blocks by whose means colours are fitted
_WHITE = 255
_LUMA = np.array([0.2126, 0.7152, 0.0722])


@dataclass(frozen=True, slots=True)
class TextureFigures:
    """What became of the chart; noise is in 255ths, as the eye weighs it."""

    acutance: float  # mean over the textures; 1: as in the truth
    luma_noise: float  # in flats
    chroma_noise: float  # in flats
    texture_noise: float  # of luma, within textures
    psnr: float
    by_texture: dict[str, float]  # acutance


def sensitivity(frequency: Float64) -> Float64:
    """The eye's sensitivity at cycles per pixel, at most 1."""
    cycles = frequency * _PER_DEGREE
    peak = _PEAK_FREQUENCY**0.8 * np.exp(-0.2 * _PEAK_FREQUENCY)
    return np.asarray(cycles**0.8 * np.exp(-0.2 * cycles) / peak)


def measure_chart(picture: Float64, chart: Chart) -> TextureFigures:
    """Compare a picture of a chart, both under the sRGB curve, after its colours were fitted."""
    luma, truth = picture @ _LUMA, chart.pixels @ _LUMA
    found = {name: compare_texture(luma[at], truth[at]) for name, at in chart.textures.items()}
    error = float(np.square(np.clip(picture, 0, 1) - chart.pixels).mean())
    return TextureFigures(
        acutance=float(np.mean([acutance for acutance, _ in found.values()])),
        luma_noise=_WHITE * _pool([weigh_noise(luma[at]) for at in chart.flats]),
        chroma_noise=_WHITE * _pool([_weigh_chroma(picture[at]) for at in chart.flats]),
        texture_noise=_WHITE * _pool([noise for _, noise in found.values()]),
        psnr=-10 * log10(error),
        by_texture={name: acutance for name, (acutance, _) in found.items()},
    )


def compare_texture(picture: Float64, truth: Float64) -> tuple[float, float]:
    """The acutance of a square part, and the noise in it."""
    (own, other), ring = (_spectrum(part) for part in (picture, truth)), _rings(truth.shape[0])
    cross, power, total = (
        _sum_rings(part, ring) for part in ((own * other.conj()).real, abs(other) ** 2, abs(own) ** 2)
    )
    passed = cross / np.maximum(power, 1e-30)
    weight = sensitivity((np.arange(_RINGS) + 0.5) / (2 * _RINGS))
    noise = np.maximum(total - cross * passed, 0) * weight**2
    return float((passed * weight).sum() / weight.sum()), float(np.sqrt(noise.sum()))


def weigh_noise(part: Float64) -> float:
    """The deviation of a square part that should be even, as the eye weighs frequencies."""
    power = _sum_rings(abs(_spectrum(part)) ** 2, _rings(part.shape[0]))
    return float(np.sqrt((power * sensitivity((np.arange(_RINGS) + 0.5) / (2 * _RINGS)) ** 2).sum()))


def _weigh_chroma(part: Float64) -> float:
    """The deviation of a part's colour differences, both together."""
    luma = part @ _LUMA
    return float(
        np.hypot(weigh_noise((part[..., 0] - luma) / 1.5748), weigh_noise((part[..., 2] - luma) / 1.8556))
    )


def _pool(deviations: list[float]) -> float:
    """The root of the mean of squares."""
    return float(np.sqrt(np.mean(np.square(deviations))))


def _spectrum(part: Float64) -> NDArray[np.complex128]:
    """The spectrum of a square part under Hann's window; its squares sum up to the variance."""
    side = part.shape[0]
    window = np.hanning(side + 1)[:side]
    window = window[:, None] * window
    level = (part * window).sum() / window.sum()
    return np.asarray(np.fft.fft2((part - level) * window) / np.sqrt(np.square(window).sum() * side**2))


def _rings(side: int) -> NDArray[np.intp]:
    """Which ring each frequency lies in; those of corners lie beyond the last."""
    steps = np.fft.fftfreq(side)
    return np.asarray(np.hypot(steps[:, None], steps) * 2 * _RINGS).astype(np.intp)


def _sum_rings(values: NDArray[Any], ring: NDArray[np.intp]) -> Float64:
    """Sums over the rings."""
    return np.asarray(np.bincount(ring.ravel(), values.ravel(), minlength=_RINGS)[:_RINGS], np.float64)


def fit_colours(light: Float64, truth: Float64) -> Float64:
    """Linear light whose colours are brought to those of the truth by a matrix and an offset.

    They are fitted to the means of blocks, in which neither texture nor noise counts.
    """
    own, wanted = (_block_means(part) for part in (light, truth))
    columns = np.concatenate([own, np.ones((len(own), 1))], axis=1)
    fitted = np.linalg.lstsq(columns, wanted, rcond=None)[0]
    return np.asarray(light @ fitted[:3] + fitted[3])


def _block_means(light: Float64) -> Float64:
    """The means of blocks, (blocks, 3)."""
    height, width = (length // _BLOCK for length in light.shape[:2])
    return np.asarray(light.reshape(height, _BLOCK, width, _BLOCK, 3).mean(axis=(1, 3))).reshape(-1, 3)
