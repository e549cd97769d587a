"""A white balance fitted to the camera's own picture, for raws that store none.

Parts of both pictures are compared by their means, in the middle tones. What the camera showed is taken back
by its matrix to balanced camera colours; of these and of the measured colours x the ratios of red and of blue
to green count, in stops. A camera's curves and its saturation stretch the ratios y = A (x + μ), around what
is grey: A and μ are fitted, robustly, and μ are the multipliers. Where there is little colour A stays near 1.
"""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.io.colour import SPACES, SRGB_CURVE
from demosaic_ntc.io.pixels import orient
from demosaic_ntc.raw.photo import GREEN, Multipliers, RawPhoto
from demosaic_ntc.raw.preview import decode_guide, part_means, way_round
from demosaic_ntc.raw.saturation import sample_cells

Colours = NDArray[np.float64]

# Middle tones: shares of white within which the colours of a part lie, in the camera's picture and measured.
_SHOWN, _MEASURED = (0.01, 0.8), (0.003, 0.7)

# The least number of such parts, and how far they may lie from the fit in the median, in stops.
_FEWEST, _FARTHEST = 24, 0.2

# Fitting: the variance of colours, in squared stops, at which A is half way to 1; rounds of new weights; the
# least scale of errors, in stops. How far a camera may stretch colours, and what no multiplier goes beyond.
_LITTLE, _ROUNDS, _SCALE = 0.02, 8, 0.02
_STRETCH, _LARGEST = (0.4, 2.5), 6.0

_LUMINANCE = SPACES["srgb"].to_xyz[1]


def fit_balance(photo: RawPhoto, span: float) -> Multipliers | None:
    """The multipliers that give a photo the colours of the camera's own picture; None where that fails.

    `span` is how far white lies above black.
    """
    guide = decode_guide(photo.preview, isolate=photo.isolated)
    if guide is None:
        return None
    shown = SRGB_CURVE.decode(np.arange(256) / 255)[guide]
    measured = np.maximum(sample_cells(photo) - photo.blacks, 0) / span
    way = way_round(shown @ _LUMINANCE, measured[..., GREEN], photo.orientation)
    if way is None:
        return None
    parts, ours = (np.asarray(part_means(each), np.float64) for each in (shown, orient(measured, way)))
    if parts.shape != ours.shape:  # one of them has too few pixels to be divided
        return None
    return _fit(parts, ours, photo.matrix.to_srgb)


def _fit(shown: Colours, measured: Colours, to_srgb: Colours) -> Multipliers | None:
    """The multipliers of parts, (…, 3), of one scene."""
    balanced = shown @ np.linalg.inv(to_srgb).T
    middle = _within(shown, _SHOWN) & _within(balanced, _SHOWN) & _within(measured, _MEASURED)
    if np.count_nonzero(middle) < _FEWEST:
        return None
    stretch, stops, error = _stretch_and_shift(_ratios(balanced[middle]), _ratios(measured[middle]))
    low, high = _STRETCH
    if error > _FARTHEST or not all(low < value < high for value in np.linalg.svd(stretch)[1]):
        return None
    red, blue = (float(value) for value in np.exp2(np.linalg.solve(stretch, stops)))
    believed = max(red, blue, 1 / red, 1 / blue) < _LARGEST
    return (red, 1.0, blue, 1.0) if believed else None


def _within(colours: Colours, limits: tuple[float, float]) -> NDArray[np.bool_]:
    """Which colours have all channels within limits."""
    return np.asarray((colours.min(axis=-1) > limits[0]) & (colours.max(axis=-1) < limits[1]))


def _ratios(colours: Colours) -> Colours:
    """Red and blue over green, in stops, (count, 2)."""
    stops = np.log2(colours)
    return np.asarray(stops[:, ::2] - stops[:, GREEN, None])


def _stretch_and_shift(shown: Colours, measured: Colours) -> tuple[Colours, Colours, float]:
    """A and b of y = A x + b, and the median error; what lies far off has little weight."""
    little = _LITTLE * np.eye(2)
    weights = np.ones(len(shown))
    for _ in range(_ROUNDS):
        x, y = (np.average(each, axis=0, weights=weights) for each in (measured, shown))
        weighted = (weights / weights.sum())[:, None] * (measured - x)
        stretch = ((shown - y).T @ weighted + little) @ np.linalg.inv((measured - x).T @ weighted + little)
        shift = y - stretch @ x
        errors = np.hypot(*(shown - measured @ stretch.T - shift).T)
        error = float(np.median(errors))
        weights = 1 / (1 + np.square(errors / max(error, _SCALE)))
    return stretch, shift, error
