"""Ways from a noisy raw of the chart of textures to a picture: ours, other programs, denoisers that follow.

All give linear light of the chart's size; their colours are fitted afterwards. The package `bm3d` is free for
non-commercial use alone and therefore no dependency: it is compared where somebody has installed it.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import cv2
import numpy as np

from demosaic_ntc import develop
from demosaic_ntc.arrays import Float64
from demosaic_ntc.errors import Unsupported
from demosaic_ntc.io.colour import SRGB_CURVE

from ..data.textures import CFA, NEUTRAL, Chart, expose_chart
from ..methods.denoisers import denoise_by_non_local_means
from ..methods.highlights import HISTORY, PROFILE, read_pfm
from ..methods.programs import run_program

_REDUCTION = """[Directional Pyramid Denoising]
Enabled=true
Enhance=false
Median={median}
MedMethod=55
MethodMed=Lpab
Passes=1
Luma={luma}
Ldetail={detail}
Chroma=0
Method=Lab
LMethod=SLI
CMethod=AUT
C2Method=AUTO
SMethod=shal
RGBMethod=soft
Redchro=0
Bluechro=0
Gamma=1.7
"""
_LIFTED = 1.4  # times the deviation of white noise, for what follows a demosaicer (see `denoisers`)


@dataclass(frozen=True, slots=True, eq=False)
class NoisyChart:
    """A chart and the noise of its samples, variance slope·x + slope/1000 + 1e-7."""

    chart: Chart
    slope: float
    seed: int

    def write(self, folder: str, told: float | None = 1.0) -> Path:
        """Write its raw, which states ``told`` times the deviation of its noise, or nothing."""
        path = Path(folder, "chart.dng")
        path.write_bytes(expose_chart(self.chart, self.slope, told, self.seed))
        return path


Way = Callable[[NoisyChart], Float64]


def by_ours(told: float | None = 1.0, **how: Any) -> Way:
    """Return our program's way with some settings; the raw states so many times its noise."""

    def convert(noisy: NoisyChart) -> Float64:
        with TemporaryDirectory() as folder:
            made = develop(noisy.write(folder, told), look="neutral", bits=16, threads=1, **how)
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

    def convert(noisy: NoisyChart) -> Float64:
        with TemporaryDirectory() as folder:
            source, profile, target = noisy.write(folder), Path(folder, "a.pp3"), Path(folder, "a.png")
            profile.write_text(PROFILE.format(stops=0) + reduction)
            words = ["rawtherapee-cli", "-o", str(target), "-p", str(profile), "-n", "-b16", "-Y", "-c"]
            run_program([*words, str(source)], target)
            picture = np.asarray(cv2.imread(str(target), cv2.IMREAD_UNCHANGED))[..., ::-1] / 65535
        return _pad(SRGB_CURVE.decode(picture), noisy.chart)

    return convert


def by_darktable(strength: float) -> Way:
    """Return darktable's non-local means for a profile of noise, told the noise there is, without a look."""

    def convert(noisy: NoisyChart) -> Float64:
        module = {"operation": "denoiseprofile", "version": 11}
        with TemporaryDirectory() as folder:
            source, history, target = noisy.write(folder), Path(folder, "a.xmp"), Path(folder, "a.pfm")
            history.write_text(HISTORY.format(**module, parameters=_pack_profile(noisy.slope, strength)))
            own = ["--core", "--configdir", f"{folder}/own", "--cachedir", f"{folder}/own"]
            own += ["--library", ":memory:", "--disable-opencl", "--conf", "plugins/darkroom/workflow=none"]
            words = ["darktable-cli", str(source), str(history), str(target), "--icc-type", "LIN_REC709"]
            run_program([*words, *own], target)
            return _pad(read_pfm(target.read_bytes()), noisy.chart)

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
    """A picture of the chart's size; programs leave out a few pixels at the border."""
    missing = [whole - part for whole, part in zip(chart.pixels.shape[:2], light.shape[:2], strict=True)]
    if min(missing) < 0 or max(missing) > 2 * max(CFA.period) * 4:
        raise Unsupported(f"a picture of {light.shape} is not that of the chart; leave it out")
    border = [(each // 2, each - each // 2) for each in missing]
    return np.pad(light, [*border, (0, 0)], mode="edge")


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
