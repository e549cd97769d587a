"""Ways from a noisy mosaic to a clean picture, by name.

Another method is one more line here: its name, how it is called, whose it is, and its function of a noisy
mosaic, white 1, its array and its noise.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from skimage.restoration import denoise_nl_means, denoise_wavelet

from demosaic_ntc import Restored, demosaic
from demosaic_ntc.arrays import Float32
from demosaic_ntc.imaging.cfa import Cfa
from demosaic_ntc.imaging.demosaic import Method as Name
from demosaic_ntc.imaging.noise import NoiseModel, estimate_noise

from ..measure.protocol import engine
from .method import CONTROL, OURS, Effort, Method, Role, grades, named, package_version

#: With the noise estimated from the mosaic, and with samples taken for exact.
ESTIMATED, OFF = f"{OURS}-estimated", f"{OURS}-off"

DEFAULT = (
    *(OURS, f"{OURS}-fast", f"{OURS}-best", CONTROL, ESTIMATED, OFF),
    *("lmmse", "mlri", f"{OFF}+nl-means", f"{OFF}+wavelet"),
)

# Demosaicing spreads the noise of samples over their neighbours: denoisers for white noise that come after it
# do best with more than is there (Q. Jin et al., 2020, doi:10.5201/ipol.2020.311 found 1.4 to 1.7 times).
_LIFTED = 1.5
# Levels from black to white at which the engine is told the deviation.
_LEVELS = 257


def catalogue(effort: Effort) -> dict[str, Method]:
    """All methods by name."""
    ours = [_told(name, method, role, graded) for name, method, role, graded in grades(effort)]
    peers = [
        _interpolation("lmmse", effort),
        _interpolation("mlri", effort),
        _chain("nl-means", "patches of 5, distance 6, h of .8 deviations", effort, _non_local_means),
        _chain("wavelet", "BayesShrink, soft, YCbCr", effort, _wavelet),
    ]
    return named((*ours, _estimating(effort), _off(effort), *peers))


def deviations(model: NoiseModel) -> NDArray[np.float64]:
    """The deviations of each channel at equal steps of the level, (3, steps), as the engine is told them."""
    levels = np.linspace(0, 1, _LEVELS) if any(model.slope) else np.zeros(1)
    return np.stack([model.deviation(levels, channel) for channel in range(3)])


def _told(name: str, method: Name, role: Role, effort: Effort) -> Method:
    """A method of this package that is told the noise."""

    def run(mosaic: Float32, cfa: Cfa, noise: NoiseModel) -> Restored:
        return _ours(mosaic, cfa, noise, method, effort)

    return Method(name, f"told the noise, {effort.words}", role, run)


def _estimating(effort: Effort) -> Method:
    """Ours, with the noise found in the mosaic."""

    def run(mosaic: Float32, cfa: Cfa, _: NoiseModel) -> Restored:
        return _ours(mosaic, cfa, estimate_noise(mosaic, cfa), "ntc", effort)

    return Method(ESTIMATED, f"estimates the noise, {effort.words}", "ours", run)


def _ours(mosaic: Float32, cfa: Cfa, noise: NoiseModel, method: Name, effort: Effort) -> Restored:
    """The engine with the variance of every sample in it."""
    how: dict[str, Any] = {"method": method, "quality": effort.quality, "threads": effort.threads}
    return demosaic(mosaic, cfa, white=1.0, noise=deviations(noise), **how)


def _off(effort: Effort) -> Method:
    """Ours, with samples taken for exact."""
    settings = f"samples taken for exact, {effort.words}"
    return Method(OFF, settings, "part", lambda mosaic, cfa, _: _exact(mosaic, cfa, "ntc", effort))


def _interpolation(name: Name, effort: Effort) -> Method:
    """A published interpolation, which knows no noise."""
    settings = f"{effort.thread_words}, {engine()}"
    return Method(name, settings, "peer", lambda mosaic, cfa, _: _exact(mosaic, cfa, name, effort))


def _exact(mosaic: Float32, cfa: Cfa, method: Name, effort: Effort) -> Restored:
    """A method for samples without noise: none of them is negative."""
    kept = np.clip(mosaic, 0, 1)
    return demosaic(kept, cfa, method=method, quality=effort.quality, threads=effort.threads, white=1.0)


def _chain(
    name: str, settings: str, effort: Effort, denoise: Callable[[Float32, float], NDArray[np.floating]]
) -> Method:
    """Ours with samples taken for exact, then a denoiser of scikit-image."""
    package = package_version("scikit-image")

    def run(mosaic: Float32, cfa: Cfa, noise: NoiseModel) -> Restored:
        picture = _exact(mosaic, cfa, "ntc", effort).image
        lifted = _LIFTED * noise.typical_deviation(0.5)
        return Restored(np.asarray(denoise(picture, lifted), np.float32))

    told = f"{OFF}, then {package} ({settings}) at {_LIFTED} deviations, {effort.words}"
    return Method(f"{OFF}+{name}", told, "peer", run)


def _non_local_means(picture: Float32, deviation: float) -> NDArray[np.floating]:
    """Denoise by non-local means, as scikit-image's documentation has it."""
    found = denoise_nl_means(
        picture, patch_size=5, patch_distance=6, h=0.8 * deviation, sigma=deviation, channel_axis=-1
    )
    return np.asarray(found)


def _wavelet(picture: Float32, deviation: float) -> NDArray[np.floating]:
    """Denoise by shrinkage of wavelets; scikit-image needs PyWavelets for it."""
    found = denoise_wavelet(
        np.clip(picture, 0, 1), sigma=deviation, convert2ycbcr=True, rescale_sigma=True, channel_axis=-1
    )
    return np.asarray(found)
