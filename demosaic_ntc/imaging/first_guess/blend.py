"""The confidence blend of two first guesses: are colour differences smooth here?

Where they are, directional LMMSE (zhang_wu2005) wins; where they are not, residual interpolation (kiku2014)
does. Neither needs training to tell: the mean of the two guesses is a plausible picture whose colours are
known everywhere, so it is sampled again with the colour array shifted by (1, 1), (0, 1) and (1, 0), and
demosaiced by both methods. How far each of them misses the *measured* samples then shows which one to trust.
With r the squared miss, averaged over the shifts, e = Gauss₆(r) + mean(r) / 2 + 1e-7 and
w = e_mlri⁸ / (e_mlri⁸ + e_lmmse⁸), the blend is w · lmmse + (1 - w) · mlri.

The mean is the only quantity that a tile cannot know: `try_both` works on tiles with a halo of `TRIAL_HALO`,
`total_error` adds up to the same whole number in any tiling, and `weigh` takes the means as arguments.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.imaging.cfa import Cfa
from demosaic_ntc.imaging.first_guess import kiku2014 as mlri
from demosaic_ntc.imaging.first_guess import zhang_wu2005 as lmmse
from demosaic_ntc.imaging.first_guess.bayer import inner, mirrored, require_bayer
from demosaic_ntc.imaging.first_guess.kernels import filter_columns, filter_rows, gaussian

Floats = NDArray[np.float32]

SHIFTS = ((1, 1), (0, 1), (1, 0))
SMOOTHING_HALO = 24
TRIAL_HALO = 2 * max(lmmse.HALO, mlri.HALO)
HALO = TRIAL_HALO + SMOOTHING_HALO

LEAST_ERROR = np.float32(1e-7)
POWER = 8
# Total errors are whole multiples of this, so that their sum does not depend on its order.
ERROR_UNIT = 2.0**-32


@dataclass(frozen=True, slots=True)
class Trial:
    """Two pictures of one mosaic, and the squared error of each method at every pixel in trials."""

    lmmse: Floats
    mlri: Floats
    lmmse_error: Floats
    mlri_error: Floats


@dataclass(frozen=True, slots=True)
class Blend:
    """The blended picture and the confidence, 0 to 1 at each pixel, that colour differences are smooth."""

    image: Floats
    confidence: Floats


def blend(mosaic: Floats, cfa: Cfa, threads: int = 1) -> Blend:
    """Blend the two first guesses by how well each does in trials on this very mosaic."""
    trial = try_both(mosaic, cfa, threads)
    means = (mean_error(total_error(error), error.size) for error in (trial.lmmse_error, trial.mlri_error))
    return weigh(trial, *means)


def try_both(mosaic: Floats, cfa: Cfa, threads: int = 1) -> Trial:
    """Demosaic with both methods, then demosaic shifted samples of their mean to see how well each does."""
    require_bayer(cfa, "blend")
    methods = (lmmse.zhang_wu2005, mlri.kiku2014)
    with ThreadPoolExecutor(threads) as pool:
        first, second = pool.map(lambda method: method(mosaic, cfa), methods)
        middle = (first + second) * np.float32(0.5)
        misses = [
            [pool.submit(_miss, middle, mosaic, cfa, shift, method) for shift in SHIFTS] for method in methods
        ]
        errors = [_mean([miss.result() for miss in of_method]) for of_method in misses]
    return Trial(first, second, *errors)


def total_error(error: Floats) -> int:
    """Return the sum of an error map in units of `ERROR_UNIT`; sums of tiles add up to that of the whole."""
    return int(np.rint(error.astype(np.float64) / ERROR_UNIT).astype(np.int64).sum())


def mean_error(total: int, pixels: int) -> float:
    """Return the mean of an error map from its total."""
    return total * ERROR_UNIT / pixels


def weigh(trial: Trial, lmmse_mean: float, mlri_mean: float) -> Blend:
    """Blend the two pictures of a trial, given the mean errors over the whole picture."""
    lmmse_error = _smoothed(trial.lmmse_error) + np.float32(lmmse_mean / 2) + LEAST_ERROR
    mlri_error = _smoothed(trial.mlri_error) + np.float32(mlri_mean / 2) + LEAST_ERROR
    ratio = np.clip(lmmse_error / mlri_error, np.float32(1e-4), np.float32(1e4))
    confidence: Floats = 1 / (1 + ratio**POWER)
    image = trial.mlri + confidence[..., None] * (trial.lmmse - trial.mlri)
    return Blend(image, confidence)


def _miss(
    middle: Floats, mosaic: Floats, cfa: Cfa, shift: tuple[int, int], method: Callable[[Floats, Cfa], Floats]
) -> Floats:
    """Return the squared error at the measured samples after demosaicing a shifted sampling of the middle."""
    shifted = cfa.shifted(*shift)
    again = cfa.sample(method(shifted.sample(middle), shifted))
    miss: Floats = (again - mosaic) ** 2
    return miss


def _mean(maps: list[Floats]) -> Floats:
    """Return the mean of three maps."""
    mean: Floats = (maps[0] + maps[1] + maps[2]) * np.float32(1 / 3)
    return mean


def _smoothed(error: Floats) -> Floats:
    """Smooth an error map by a Gaussian of six pixels, mirrored at the border."""
    taps = gaussian(6, -SMOOTHING_HALO, SMOOTHING_HALO)
    return inner(filter_columns(filter_rows(mirrored(error, SMOOTHING_HALO), taps), taps), SMOOTHING_HALO)
