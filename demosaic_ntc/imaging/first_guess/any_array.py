"""Two first guesses for any colour array: X-Trans, Quad-Bayer, or what a user writes down.

Both carry a Bayer method over to arbitrary sampling by normalised convolution, the weighted mean of the
samples that are there (Knutsson and Westin 1993, doi:10.1109/CVPR.1993.341081); beyond the border there are
none. `smooth_difference` follows directional LMMSE (Zhang and Wu 2005, doi:10.1109/TIP.2005.857260):
differences green minus colour along rows and along columns, shrunk and fused by their local variances; it
wins where colour differences are smooth. `iterated_residual` starts from the same with short filters and
then alternates guided residual interpolations (Kiku et al. 2016, doi:10.1109/TIP.2016.2518082; iterated as by
Ye and Ma 2015, doi:10.1109/TIP.2015.2482899) of red and blue from green, and of green from red and blue.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.imaging.cfa import Cfa
from demosaic_ntc.imaging.first_guess.bilinear import reach
from demosaic_ntc.imaging.first_guess.gaussian_kernels import explain
from demosaic_ntc.imaging.first_guess.kernels import filter_separably, gaussian

Floats = NDArray[np.float32]

SMALL_VARIANCE = np.float32(1e-7)
MIDDLE = np.float32(0.5)

# Standard deviations in pixels, along and across a direction.
GREEN = (1.0, 0.3)
LONG_DIFFERENCE, SHORT_DIFFERENCE = (3.0, 1.4), (1.5, 0.9)
WINDOW = (2.0, 1.0)
COLOUR = 0.9
REGRESSION, RESIDUAL = 1.4, 0.8
ROUNDS = 2
# What the variance of a guide must exceed to be trusted, for red and blue and for green.
COLOUR_RIDGE, GREEN_RIDGE = 1e-3, 3e-4


@dataclass(frozen=True, slots=True)
class Blur:
    """A separable Gaussian: its taps along each column and along each row."""

    down: Floats
    right: Floats

    def __call__(self, plane: Floats) -> Floats:
        """Filter a plane, zeros beyond its border."""
        return filter_separably(plane, self.down, self.right)

    def transposed(self) -> "Blur":
        """Return the same filter with rows and columns exchanged."""
        return Blur(self.right, self.down)


def halo(cfa: Cfa) -> int:
    """Return how far the values reach on which a pixel of either guess depends."""
    start = sum(_radius(sigma[0], cfa) for sigma in (GREEN, LONG_DIFFERENCE, WINDOW))
    each = 2 * _radius(REGRESSION, cfa) + _radius(RESIDUAL, cfa)
    return start + max(_radius(COLOUR, cfa), (1 + 2 * ROUNDS) * each)


def smooth_difference(mosaic: Floats, cfa: Cfa) -> Floats:
    """Interpolate colour differences, taken to be smooth along rows or along columns."""
    masks = _float_masks(mosaic, cfa)
    green = _directional_green(mosaic, cfa, masks, LONG_DIFFERENCE)
    picture = np.empty((*mosaic.shape, 3), np.float32)
    picture[..., 1] = green
    blur = _blur(cfa, COLOUR, COLOUR)
    for channel in (0, 2):
        mask = masks[channel]
        difference = _mean((mosaic - green) * mask, mask, blur)
        picture[..., channel] = np.where(mask > 0, mosaic, green + difference)
    return picture


def iterated_residual(mosaic: Floats, cfa: Cfa) -> Floats:
    """Interpolate the residuals of guided regressions between the channels, in turns."""
    masks = _float_masks(mosaic, cfa)
    centred = mosaic - MIDDLE
    green = _directional_green(centred, cfa, masks, SHORT_DIFFERENCE)
    red, blue = (_residual(centred, masks[channel], green, cfa, COLOUR_RIDGE) for channel in (0, 2))
    for _ in range(ROUNDS):
        from_red, from_blue = (_residual(centred, masks[1], guide, cfa, GREEN_RIDGE) for guide in (red, blue))
        green = np.where(masks[0] > 0, from_red, from_blue)
        red, blue = (_residual(centred, masks[channel], green, cfa, COLOUR_RIDGE) for channel in (0, 2))
    picture = np.stack((red, green, blue), axis=2) + MIDDLE
    return np.where(cfa.masks(mosaic.shape), mosaic[..., None], picture)


def _directional_green(
    mosaic: Floats, cfa: Cfa, masks: list[Floats], difference: tuple[float, float]
) -> Floats:
    """Return green everywhere: the measured colour plus a difference fused from rows and from columns."""
    blurs = tuple(_blur(cfa, across, along) for along, across in (GREEN, difference, WINDOW))
    turned = tuple(blur.transposed() for blur in blurs)
    across, across_variance = _along(mosaic, masks, *blurs)
    down, down_variance = _along(mosaic, masks, *turned)
    fused = (across * down_variance + down * across_variance) / (across_variance + down_variance)
    return np.where(masks[1] > 0, mosaic, mosaic + fused)


def _along(mosaic: Floats, masks: list[Floats], near: Blur, far: Blur, window: Blur) -> tuple[Floats, Floats]:
    """Return green minus the measured colour by one direction's filters, and its error variance.

    With s the smoothed difference, v its local variance and n the local mean of (s - d)², the estimate is
    (v d + n s) / (v + n) and its error variance v n / (v + n), as in zhang_wu2005.
    """
    green = _mean(mosaic * masks[1], masks[1], near)
    total = window(np.ones_like(mosaic))
    estimate, variance = np.zeros_like(mosaic), np.full_like(mosaic, SMALL_VARIANCE)
    for channel in (0, 2):
        mask = masks[channel]
        d = (green - mosaic) * mask
        s = _mean(d, mask, far)
        v = np.maximum(window(s * s) / total - (window(s) / total) ** 2, 0) + SMALL_VARIANCE
        n = _mean((s - d) ** 2 * mask, mask, window) + SMALL_VARIANCE
        estimate += mask * ((d * v + s * n) / (v + n))
        variance += mask * (v * n / (v + n))
    return estimate, variance


def _residual(mosaic: Floats, mask: Floats, guide: Floats, cfa: Cfa, ridge: float) -> Floats:
    """Explain the samples on a mask by local lines in the guide, and interpolate what these leave over."""
    explained = explain(mosaic, guide, mask, _blur(cfa, REGRESSION, REGRESSION).down, ridge)
    narrow = _blur(cfa, RESIDUAL, RESIDUAL)
    return np.where(mask > 0, mosaic, explained + _mean((mosaic - explained) * mask, mask, narrow))


def _mean(masked: Floats, mask: Floats, blur: Blur) -> Floats:
    """Return the weighted mean of the values on a mask; they are zero off it."""
    return blur(masked) / blur(mask)


def _blur(cfa: Cfa, sigma_down: float, sigma_right: float) -> Blur:
    """Return a Gaussian wide enough that every pixel sees all channels."""
    down, right = _radius(sigma_down, cfa), _radius(sigma_right, cfa)
    scale = _scale(cfa)
    return Blur(gaussian(scale * sigma_down, -down, down), gaussian(scale * sigma_right, -right, right))


def _radius(sigma: float, cfa: Cfa) -> int:
    """Return how far a Gaussian reaches: two and a half standard deviations, or the nearest samples."""
    return max(reach(cfa), int(np.ceil(2.5 * _scale(cfa) * sigma)))


def _scale(cfa: Cfa) -> float:
    """Return the factor by which sparser arrays than X-Trans need wider filters."""
    return max(1.0, reach(cfa) / 2)


def _float_masks(mosaic: Floats, cfa: Cfa) -> list[Floats]:
    """Return one plane per channel: 1 where it is measured, 0 elsewhere."""
    return [np.ascontiguousarray(mask, np.float32) for mask in np.moveaxis(cfa.masks(mosaic.shape), 2, 0)]
