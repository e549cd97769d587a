"""One round of residual interpolation that improves any first guess, on any colour array.

The channels of a guess explain one another: green is regressed on red and on blue over the green samples,
then red and blue on the new green over theirs, in Gaussian windows; what the regressions leave over at the
samples is interpolated and added (residual interpolation: Kiku et al. 2016, doi:10.1109/TIP.2016.2518082;
iterated: Ye and Ma 2015, doi:10.1109/TIP.2015.2482899). Where a window has little contrast its slope is drawn
to that of a prior: 1 for guesses that trust smooth colour differences, 0 for those that do not. A guess and
its refinement err in different places, so a mean of the two is better than either.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.cfa import Cfa
from demosaic_ntc.demosaicing.interpolation.bilinear import reach
from demosaic_ntc.demosaicing.interpolation.gaussian_kernels import explain
from demosaic_ntc.demosaicing.interpolation.kernels import filter_separably, gaussian

Floats = NDArray[np.float32]

# Standard deviations in pixels of the regression windows and of the interpolation of residuals.
WINDOW, RESIDUAL = 1.4, 0.8
MIDDLE = np.float32(0.5)


@dataclass(frozen=True, slots=True)
class Prior:
    """The slope expected of a regression, and the variance of a guide that outweighs the expectation.

    That variance is one for green, explained by red or blue, and one for red and blue, explained by green.
    `step` is how far to go from the guess to its refinement.
    """

    slope: float
    step: float
    green: float
    colour: float


SMOOTH = Prior(slope=1.0, step=0.3, green=5e-4, colour=5e-4)
ROUGH = Prior(slope=0.0, step=0.65, green=3e-4, colour=3e-4)
ROUGH_AND_SPARSE = Prior(slope=0.0, step=1.0, green=3e-4, colour=1e-3)


def refine(guess: Floats, mosaic: Floats, cfa: Cfa, prior: Prior) -> Floats:
    """Return a mean of a guess and of its refinement by one round of residual interpolation."""
    change = next_round(guess, mosaic, cfa, prior)
    change -= guess
    change *= np.float32(prior.step)
    change += guess
    return change


def next_round(guess: Floats, mosaic: Floats, cfa: Cfa, prior: Prior) -> Floats:
    """Regress green on red and on blue, then red and blue on the new green."""
    red, green, _ = float_masks(mosaic, cfa)
    from_red = residual_interpolation(mosaic, green, guess[..., 0], cfa, prior.green, prior.slope)
    from_blue = residual_interpolation(mosaic, green, guess[..., 2], cfa, prior.green, prior.slope)
    np.copyto(from_blue, from_red, where=red > 0)
    return colours_from_green(from_blue, mosaic, cfa, prior)


def colours_from_green(green: Floats, mosaic: Floats, cfa: Cfa, prior: Prior) -> Floats:
    """Return the picture with this green and with red and blue regressed on it."""
    masks = float_masks(mosaic, cfa)
    picture = np.empty((*mosaic.shape, 3), np.float32)
    picture[..., 1] = green
    for channel in (0, 2):
        mask = masks[channel]
        picture[..., channel] = residual_interpolation(mosaic, mask, green, cfa, prior.colour, prior.slope)
    return picture


def residual_interpolation(
    mosaic: Floats, mask: Floats, guide: Floats, cfa: Cfa, ridge: float, slope: float
) -> Floats:
    """Explain the samples on a mask by local lines in the guide, and interpolate what these leave over."""
    samples, window, narrow = mosaic - MIDDLE, taps_for(WINDOW, cfa), taps_for(RESIDUAL, cfa)
    explained = explain(samples, guide - MIDDLE, mask, window, ridge, slope)
    samples -= explained
    samples *= mask
    left_over = filter_separably(samples, narrow, narrow)
    left_over /= filter_separably(mask, narrow, narrow)
    explained += left_over
    explained += MIDDLE
    np.copyto(explained, mosaic, where=mask > 0)
    return explained


def halo(cfa: Cfa) -> int:
    """Return how far the values reach on which a pixel of a refinement depends."""
    return 2 * (2 * radius_for(WINDOW, cfa) + radius_for(RESIDUAL, cfa))


@cache
def taps_for(sigma: float, cfa: Cfa) -> Floats:
    """Return a Gaussian, wider on arrays sparser than X-Trans."""
    return gaussian(sigma * _scale(cfa), -radius_for(sigma, cfa), radius_for(sigma, cfa))


@cache
def radius_for(sigma: float, cfa: Cfa) -> int:
    """Return how far a Gaussian reaches: two and a half standard deviations, or the nearest samples."""
    return max(reach(cfa), int(np.ceil(2.5 * _scale(cfa) * sigma)))


def _scale(cfa: Cfa) -> float:
    """Return the factor by which sparser arrays than X-Trans need wider filters."""
    return max(1.0, reach(cfa) / 2)


def float_masks(mosaic: Floats, cfa: Cfa) -> list[Floats]:
    """Return one plane per channel: 1 where it is measured, 0 elsewhere."""
    channels = cfa.channel_map(mosaic.shape)
    return [np.equal(channels, channel).astype(np.float32) for channel in range(3)]
