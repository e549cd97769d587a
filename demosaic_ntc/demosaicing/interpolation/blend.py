"""The confidence blend of two first guesses: are colour differences smooth here?

Where they are, directional LMMSE (zhang_wu2005) wins; where they are not, residual interpolation (kiku2014)
does; both are refined by one round of regressions between the channels (refine). No training is needed to
tell which: the mean of the two guesses is a plausible picture whose colours are known everywhere, so it is
sampled again with the colour array shifted, by (1, 1), (0, 1) and (1, 0) or by the last two alone, and
demosaiced by both methods. How far each of them misses the *measured* samples then shows which one to trust.
With r the squared miss, averaged over the shifts, e = Gauss₆(r) + mean(r) / 2 + 1e-7 and
w = e_residual⁸ / (e_residual⁸ + e_smooth⁸), the blend is w · smooth + (1 - w) · residual. Arrays other than
Bayer's take the two methods of any_array.

The mean is the only quantity that a tile cannot know: guesses and trials work on tiles with a halo of
`guess_halo` each, `total_error` adds up to the same whole number in any tiling, `local_error` needs
`SMOOTHING_HALO`, and `confidence_in_smooth` takes the means as arguments. Where the guesses agree no trial is
needed: the means decide.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.interpolation import any_array, bayer, refine
from demosaic_ntc.demosaicing.interpolation.bayer import inner
from demosaic_ntc.demosaicing.interpolation.kernels import filter_separably, gaussian

Floats = NDArray[np.float32]
Method = Callable[[Floats, Cfa], Floats]

SHIFTS = ((1, 1), (0, 1), (1, 0))
# Of X-Trans one trial tells as much as two along rows and columns: on parts of 24 pictures the means of both
# sets change by -.01 and +.03 dB at fast, with noise of 5 of 255 by +.01 and +.03.
ONE_SHIFT = ((1, 1),)
SMOOTHING_HALO = 24
LEAST_ERROR = np.float32(1e-7)
# Total errors are whole multiples of this, so that their sum does not depend on its order.
ERROR_UNIT = 2.0**-32


@dataclass(frozen=True, slots=True)
class Trial:
    """Two pictures of one mosaic, and the squared error of the method of each at every pixel in trials."""

    smooth: Floats
    residual: Floats
    smooth_error: Floats
    residual_error: Floats


@dataclass(frozen=True, slots=True)
class Blend:
    """The blended picture, the confidence (0 to 1) in smooth colour differences, and what was blended."""

    image: Floats
    confidence: Floats
    error: Floats  # the expected squared error of the image, from the trials
    trial: Trial


def blend(mosaic: Floats, cfa: Cfa, threads: int = 1) -> Blend:
    """Blend the two first guesses by how well each does in trials on this very mosaic."""
    return weigh_alone(try_both(mosaic, cfa, threads))


def guess_halo(cfa: Cfa, plain: bool = False) -> int:
    """Return how far the samples reach on which a pixel of a guess depends, refined or plain."""
    reach = max(bayer.LMMSE_HALO, bayer.MLRI_HALO) + (0 if plain else refine.halo(cfa))
    return reach if cfa.is_bayer else any_array.halo(cfa)


def halo(cfa: Cfa) -> int:
    """Return how far the samples reach on which a pixel of the blend depends."""
    return 2 * guess_halo(cfa) + SMOOTHING_HALO


@dataclass(frozen=True, slots=True)
class MethodSelection:
    """The two guesses, and the trials in which they compete."""

    quick: bool  # tried in half the time: the plain Bayer methods, other arrays with one shift only
    shifts: tuple[tuple[int, int], ...] = SHIFTS  # of the array in trials
    sparing: bool = False  # Bayer guesses are refined only close to where they differ

    def __call__(self, mosaic: Floats, cfa: Cfa, threads: int = 1) -> Trial:
        """Demosaic with both methods, then shifted samples of their mean to see how well each does."""
        smooth, residual = self.guesses(mosaic, cfa, threads)
        middle = (smooth + residual) * np.float32(0.5)
        return Trial(smooth, residual, *self.errors(middle, mosaic, cfa, threads))

    def guesses(self, mosaic: Floats, cfa: Cfa, threads: int = 1) -> tuple[Floats, Floats]:
        """Return the two guesses, (height, width, 3)."""
        with ThreadPoolExecutor(threads) as pool:
            methods = list_methods(cfa, plain=self.sparing)
            smooth, residual = pool.map(lambda method: method(mosaic, cfa), methods)
        return smooth, residual

    def errors(self, middle: Floats, mosaic: Floats, cfa: Cfa, threads: int = 1) -> tuple[Floats, Floats]:
        """Return the squared error of each method, (height, width), in trials on the mean of the guesses."""
        shifts = self.shifts if cfa.is_bayer or not self.quick else ONE_SHIFT
        with ThreadPoolExecutor(threads) as pool:
            misses = [
                [pool.submit(_miss, middle, mosaic, cfa, shift, method) for shift in shifts]
                for method in list_methods(cfa, plain=self.quick)
            ]
            of_smooth, of_residual = (_mean([miss.result() for miss in each]) for each in misses)
        return of_smooth, of_residual


try_both, try_quickly = MethodSelection(quick=False), MethodSelection(quick=True)


def total_error(error: Floats) -> int:
    """Return the sum of an error map in units of `ERROR_UNIT`; sums of tiles add up to that of the whole."""
    return int(np.rint(error.astype(np.float64) / ERROR_UNIT).astype(np.int64).sum())


def mean_error(total: int, pixels: int) -> float:
    """Return the mean of an error map from its total."""
    return total * ERROR_UNIT / pixels


def weigh_alone(trial: Trial) -> Blend:
    """Blend the two pictures of a trial that covers the whole picture."""
    means = (
        mean_error(total_error(error), error.size) for error in (trial.smooth_error, trial.residual_error)
    )
    return weigh(trial, *means)


def weigh(trial: Trial, smooth_mean: float, residual_mean: float) -> Blend:
    """Blend the two pictures of a trial, given the mean errors over the whole picture."""
    smooth_local, residual_local = local_error(trial.smooth_error), local_error(trial.residual_error)
    confidence = confidence_in_smooth(smooth_local, residual_local, smooth_mean, residual_mean)
    image = trial.residual + confidence[..., None] * (trial.smooth - trial.residual)
    error = residual_local + confidence * (smooth_local - residual_local)
    return Blend(image, confidence, error, trial)


def confidence_in_smooth(
    smooth_local: Floats, residual_local: Floats, smooth_mean: float, residual_mean: float
) -> Floats:
    """Return the share of the smooth guess, 0 to 1, from errors around each pixel and over the picture."""
    smooth_error = smooth_local + (np.float32(smooth_mean / 2) + LEAST_ERROR)
    residual_error = residual_local + (np.float32(residual_mean / 2) + LEAST_ERROR)
    ratio = np.clip(smooth_error / residual_error, np.float32(1e-4), np.float32(1e4))
    eighth_power = np.square(np.square(np.square(ratio)))
    return np.asarray(np.reciprocal(np.float32(1) + eighth_power), np.float32)


def apart(smooth: Floats, residual: Floats) -> Floats:
    """Return how far two pictures, (height, width, 3), lie apart: the largest difference of the channels.

    It is averaged over 7×7 pixels, mirrored at the border: where two methods that share no rule agree all
    around a pixel, there is little left to improve.
    """
    distance = smooth - residual
    np.abs(distance, out=distance)
    most = np.maximum(distance[..., 0], distance[..., 1])
    np.maximum(most, distance[..., 2], out=most)
    taps = np.full(7, 1 / 7, np.float32)
    return inner(filter_separably(np.pad(most, 4, mode="reflect"), taps, taps), 4)


def refine_guesses(
    guesses: tuple[Floats, Floats], mosaic: Floats, cfa: Cfa, threads: int = 1
) -> tuple[Floats, Floats]:
    """Return the refinements of the two plain guesses of Bayer's array."""
    with ThreadPoolExecutor(threads) as pool:
        smooth, residual = pool.map(
            lambda guess, prior: refine.refine(guess, mosaic, cfa, prior),
            guesses,
            (refine.SMOOTH, refine.ROUGH),
        )
    return smooth, residual


def list_methods(cfa: Cfa, *, plain: bool) -> tuple[Method, Method]:
    """Return the methods that compete: one trusts smooth colour differences, one regressions of channels.

    Those of Bayer's array are refined unless they are to be plain.
    """
    if not cfa.is_bayer:
        return any_array.smooth_difference, any_array.interpolate_residuals
    if plain:
        return bayer.zhang_wu2005, bayer.kiku2014
    return (
        lambda mosaic, own: refine.refine(bayer.zhang_wu2005(mosaic, own), mosaic, own, refine.SMOOTH),
        lambda mosaic, own: refine.refine(bayer.kiku2014(mosaic, own), mosaic, own, refine.ROUGH),
    )


def _miss(middle: Floats, mosaic: Floats, cfa: Cfa, shift: tuple[int, int], method: Method) -> Floats:
    """Return the squared error at the measured samples after demosaicing a shifted sampling of the middle."""
    shifted = cfa.shift(*shift)
    again = cfa.sample(method(shifted.sample(middle), shifted))
    return np.asarray((again - mosaic) ** 2, np.float32)


def _mean(maps: list[Floats]) -> Floats:
    """Return the mean of some maps."""
    total = maps[0].copy()
    for other in maps[1:]:
        total += other
    return np.asarray(total * np.float32(1 / len(maps)), np.float32)


def local_error(error: Floats) -> Floats:
    """Smooth an error map by a Gaussian of six pixels, mirrored at the border."""
    taps = gaussian(6, -SMOOTHING_HALO, SMOOTHING_HALO)
    extended = np.pad(error, SMOOTHING_HALO, mode="reflect")
    return inner(filter_separably(extended, taps, taps), SMOOTHING_HALO)
