"""Seams that remain are blended: the copy's gradients are kept, its values move (screened Poisson).

Pérez, Gangnet, Blake 2003, doi:10.1145/882262.882269. The screen holds values to what was copied, so that a
difference at a seam is spread over a few pixels and not over the hole.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.inpainting.smooth_fill import descend
from demosaic_ntc.inpainting.texture.kernels import Places

_SCREEN = np.float32(0.05)
_EDGE = np.float32(0.03)  # difference at a seam from which it is more an edge than something to blend
_STEPS, _ACCURACY = 100, 1e-3
_STEPS_ASIDE = ((0, 1), (1, 0), (0, -1), (-1, 0))


def blend(values: Float32, hole: Flags, shown: Flags, labels: Places) -> Float32:
    """Return the hole's pixels, (pixels, channels), copied by their labels and blended.

    ``values`` are (height, width, channels), ``labels`` lead to what is copied, zero outside the hole; at
    the border nothing is missing. Least is the sum of _SCREEN |v − copied|² and, over neighbours p and q,
    w |v_p − v_q − g|² with the slope g of the copy; what is shown around the hole is fixed.
    """
    here = np.argwhere(hole)
    numbers = np.full(hole.shape, -1, np.int32)
    numbers[hole] = np.arange(len(here))
    copied = _take(values, here + labels[hole])
    diagonal, right = np.full(len(here), _SCREEN, np.float32), _SCREEN * copied
    matrix = sparse.csr_array((len(here), len(here)), dtype=np.float32)
    for step in _STEPS_ASIDE:
        near = here + step
        slope, weight = _guide(values, shown, labels, here, near)
        fixed = np.where(shown[tuple(near.T)], weight, np.float32(0))
        diagonal += weight
        right += weight[:, None] * slope + fixed[:, None] * _take(values, near)
        inside = np.flatnonzero(hole[tuple(near.T)])
        place = inside, numbers[tuple(near[inside].T)]
        matrix -= sparse.csr_array((weight[inside], place), shape=matrix.shape)
    matrix += sparse.dia_array((diagonal[None], [0]), shape=matrix.shape).tocsr()
    blended = np.ascontiguousarray(copied.T)
    for channel, goal in zip(blended, np.ascontiguousarray(right.T), strict=True):
        descend(matrix, channel, goal, _STEPS, _ACCURACY)
    return np.ascontiguousarray(blended.T)


def _guide(
    values: Float32, shown: Flags, labels: Places, here: NDArray[np.int64], near: NDArray[np.int64]
) -> tuple[Float32, Float32]:
    """Return how much higher pixels are than their neighbours in what was copied, and how sure that is.

    Across a seam that is the mean of what both labels say; the less they agree, the less sure.
    """
    own, other = labels[tuple(here.T)], labels[tuple(near.T)]
    total, count = np.zeros((len(here), values.shape[2]), np.float32), np.zeros(len(here), np.float32)
    for label in (own, other):
        told = _are_shown(shown, here + label) & _are_shown(shown, near + label)
        total += told[:, None] * (_take(values, here + label) - _take(values, near + label))
        count += told
    gap = _measure_gaps(values, shown, labels, here, near)
    weight = np.where(count > 0, 1 / (1 + gap / _EDGE**2), np.float32(0))
    return np.asarray(total / np.maximum(count, 1)[:, None], np.float32), weight


def measure_seams(values: Float32, hole: Flags, shown: Flags, labels: Places) -> float:
    """Return the mean squared mismatch along the seams of a copy, per pixel of the hole."""
    here = np.argwhere(hole)
    gaps = [_measure_gaps(values, shown, labels, here, here + step) for step in _STEPS_ASIDE]
    return float(np.mean(gaps, dtype=np.float64))


def _measure_gaps(
    values: Float32, shown: Flags, labels: Places, here: NDArray[np.int64], near: NDArray[np.int64]
) -> Float32:
    """Return how far the labels of pixels and of their neighbours disagree, where both say something."""
    own, other = labels[tuple(here.T)], labels[tuple(near.T)]
    gap = np.zeros(len(here), np.float32)
    for pixel in (here, near):
        told = _are_shown(shown, pixel + own) & _are_shown(shown, pixel + other)
        gap += told * ((_take(values, pixel + own) - _take(values, pixel + other)) ** 2).sum(axis=1)
    return gap


def _take(values: Float32, places: NDArray[np.int64]) -> Float32:
    """Return the pixels at some places, (places, channels); of those outside, the nearest."""
    rows, columns = np.clip(places, 0, np.array(values.shape[:2]) - 1).T
    return np.asarray(values[rows, columns])


def _are_shown(shown: Flags, places: NDArray[np.int64]) -> Flags:
    """Return which places lie in the picture and are shown."""
    rows, columns = np.clip(places, 0, np.array(shown.shape) - 1).T
    inside = ((places >= 0) & (places < shown.shape)).all(axis=1)
    return np.asarray(inside & shown[rows, columns])
