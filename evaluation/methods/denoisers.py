"""Ways from a noisy mosaic to a clean picture, by name.

Another method is one more line here: its name, how it is called, whose it is, and its function of a noisy
mosaic, white 1, its array and its noise.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from skimage.restoration import denoise_nl_means, denoise_wavelet

from demosaic_ntc import Restored, demosaic
from demosaic_ntc.arrays import Float32
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.noise import NoiseModel, estimate_noise

from ..measure.protocol import engine
from .method import COMPLETED, OURS, Effort, Method, grades, index_by_name, package_version

#: With the noise estimated from the mosaic, and with samples taken for exact.
ESTIMATED, OFF = f"{OURS}-estimated", f"{OURS}-off"

DEFAULT = (
    *(OURS, f"{OURS}-fast", f"{OURS}-best", COMPLETED, ESTIMATED, OFF),
    *("lmmse", "mlri", f"{OFF}+nl-means", f"{OFF}+wavelet"),
)

# Demosaicing spreads the noise of samples over their neighbours: denoisers for white noise that come after it
# do best with more than is there (Q. Jin et al., 2020, doi:10.5201/ipol.2020.311 found 1.4 to 1.7 times).
_LIFTED = 1.5
# Levels from black to white at which the engine is told the deviation.
_LEVELS = 257


def catalogue(effort: Effort) -> dict[str, Method]:
    """All methods by name: ours, told the noise or not, interpolations that know none, and chains."""
    plain, exact = f"{effort.thread_words}, {engine()}", f"samples taken for exact, {effort.words}"
    then = f"{OFF}, then {package_version('scikit-image')} ({{}}) at {_LIFTED} deviations, {effort.words}"
    means, shrinkage = "patches of 5, distance 6, h of .8 deviations", "BayesShrink, soft, YCbCr"

    def estimate(mosaic: Float32, cfa: Cfa, _: NoiseModel) -> Restored:
        return _ours(mosaic, cfa, estimate_noise(mosaic, cfa), OURS, effort)

    def off(name: Any) -> Any:
        return lambda mosaic, cfa, _: _exact(mosaic, cfa, name, effort)

    def chain(denoise: Any) -> Any:
        return lambda mosaic, cfa, noise: _chain(mosaic, cfa, noise, denoise, effort)

    def describe(method: Any, graded: Effort) -> Any:
        return lambda mosaic, cfa, noise: _ours(mosaic, cfa, noise, method, graded)

    return index_by_name(
        (
            *(
                Method(n, f"told the noise, {g.words}", role, describe(m, g))
                for n, m, role, g in grades(effort)
            ),
            Method(ESTIMATED, f"estimates the noise, {effort.words}", "ours", estimate),
            Method(OFF, exact, "part", off(OURS)),
            *(Method(name, plain, "peer", off(name)) for name in ("lmmse", "mlri")),
            Method(f"{OFF}+nl-means", then.format(means), "peer", chain(denoise_by_non_local_means)),
            Method(f"{OFF}+wavelet", then.format(shrinkage), "peer", chain(_wavelet)),
        )
    )


def deviations(model: NoiseModel) -> NDArray[np.float64]:
    """The deviations of each channel at equal steps of the level, (3, steps), as the engine is told them."""
    levels = np.linspace(0, 1, _LEVELS) if any(model.slope) else np.zeros(1)
    return np.stack([model.deviation(levels, channel) for channel in range(3)])


def _ours(mosaic: Float32, cfa: Cfa, noise: NoiseModel, method: Any, effort: Effort) -> Restored:
    """The engine with the variance of every sample in it."""
    how: Any = {"method": method, "quality": effort.quality, "threads": effort.threads}
    return demosaic(mosaic, cfa, white=1.0, noise=deviations(noise), **how)


def _exact(mosaic: Float32, cfa: Cfa, method: Any, effort: Effort) -> Restored:
    """A method for samples without noise: none of them is negative."""
    kept = np.clip(mosaic, 0, 1)
    return demosaic(kept, cfa, method=method, quality=effort.quality, threads=effort.threads, white=1.0)


def _chain(mosaic: Float32, cfa: Cfa, noise: NoiseModel, denoise: Any, effort: Effort) -> Restored:
    """Ours with samples taken for exact, then a denoiser of scikit-image."""
    picture = _exact(mosaic, cfa, OURS, effort).image
    return Restored(np.asarray(denoise(picture, _LIFTED * noise.typical_deviation(0.5)), np.float32))


def denoise_by_non_local_means(picture: NDArray[Any], deviation: float) -> NDArray[np.floating]:
    """Denoise by non-local means, as scikit-image's documentation has it."""
    how: Any = {"patch_size": 5, "patch_distance": 6, "channel_axis": -1}
    return np.asarray(denoise_nl_means(picture, h=0.8 * deviation, sigma=deviation, **how))


def _wavelet(picture: Float32, deviation: float) -> NDArray[np.floating]:
    """Denoise by shrinkage of wavelets; scikit-image needs PyWavelets for it."""
    how: Any = {"convert2ycbcr": True, "rescale_sigma": True, "channel_axis": -1}
    return np.asarray(denoise_wavelet(np.clip(picture, 0, 1), sigma=deviation, **how))
