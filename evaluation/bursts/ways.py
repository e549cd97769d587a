"""Simpler ways of merging a burst, ours, beside which the groups stand; all are told the true motion."""

from collections.abc import Callable

import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates

from demosaic_ntc.arrays import Bits, Float32, Float64
from demosaic_ntc.demosaicing.burst.demosaic_burst import demosaic_burst
from demosaic_ntc.demosaicing.demosaic import demosaic

from .made import RGGB, Burst

MergeWay = Callable[[Burst, int], Float64]
_KERNEL = 0.6  # pixels: the deviation of the kernel of kernel regression
_OFF = 3.0  # deviations of noise from which on a tile of a frame counts no more


def merge_groups(burst: Burst, threads: int) -> Float64:
    """All frames by groups of similar patches."""
    noise = burst.deviation
    return demosaic_burst(burst.mosaics, RGGB, white=1.0, noise=noise, reference=0, threads=threads).image


def keep_single(burst: Burst, threads: int) -> Float64:
    """The first frame alone."""
    return demosaic(burst.mosaics[0], RGGB, white=1.0, noise=burst.deviation, threads=threads).image


def average_pictures(burst: Burst, threads: int) -> Float64:
    """The mean of all frames, each demosaiced by itself and moved to its place."""
    total = np.zeros_like(burst.views[0])
    for mosaic, affine in zip(burst.mosaics, burst.affines, strict=True):
        picture = demosaic(mosaic, RGGB, white=1.0, noise=burst.deviation, threads=threads).image
        rows, columns = _invert(affine, mosaic.shape)
        for channel in range(3):
            moved = map_coordinates(picture[..., channel], [rows, columns], order=3, mode="nearest")
            total[..., channel] += moved / len(burst.mosaics)
    return total


def merge_then_demosaic(burst: Burst, threads: int) -> Float64:
    """One mosaic, the mean of all after shifts by whole cells of the array where tiles agree; demosaiced."""
    base = burst.mosaics[0].astype(np.float64)
    total, count = base.copy(), np.ones_like(base)
    for mosaic, affine in zip(burst.mosaics[1:], burst.affines[1:], strict=True):
        rows, columns = _invert(affine, mosaic.shape)
        y, x = np.indices(mosaic.shape)
        down, across = (2 * np.rint((place - own) / 2) for place, own in ((rows, y), (columns, x)))
        moved = mosaic[
            np.clip(y + down, 0, len(mosaic) - 1).astype(int),
            np.clip(x + across, 0, mosaic.shape[1] - 1).astype(int),
        ]
        apart = gaussian_filter(np.square(moved - base), 4.0)
        weight = (apart < _OFF * 2 * burst.deviation**2).astype(float)
        total, count = total + weight * moved, count + weight
    noise = burst.deviation / np.sqrt(count.mean())
    merged = (total / count).astype(np.float32)
    return demosaic(merged, RGGB, white=1.0, noise=noise, threads=threads).image


def regress_kernels(burst: Burst, threads: int) -> Float64:
    """Every colour by itself: the mean of all samples around a pixel under a Gaussian kernel."""
    height, width = burst.mosaics[0].shape
    sums, weights = np.zeros((height, width, 3)), np.full((height, width, 3), 1e-9)
    channels = RGGB.channel_map((height, width))
    for mosaic, affine in zip(burst.mosaics, burst.affines, strict=True):
        y, x = np.indices(mosaic.shape)
        rows, columns = (start + down * y + across * x for start, down, across in affine)
        for i in range(-1, 2):
            for j in range(-1, 2):
                _splat(
                    mosaic, channels, np.rint(rows) + i, np.rint(columns) + j, rows, columns, sums, weights
                )
    return np.asarray(sums / weights)


def _splat(
    mosaic: Float32,
    channels: Bits,
    at: Float64,
    to: Float64,
    rows: Float64,
    columns: Float64,
    sums: Float64,
    weights: Float64,
) -> None:
    """Add samples to pixels near them."""
    inside = (at >= 0) & (to >= 0) & (at < sums.shape[0]) & (to < sums.shape[1])
    weight = np.exp(-(np.square(at - rows) + np.square(to - columns)) / (2 * _KERNEL**2))
    place = at[inside].astype(int), to[inside].astype(int), channels[inside]
    np.add.at(sums, place, (weight * mosaic)[inside])
    np.add.at(weights, place, weight[inside])


def _invert(affine: Float64, shape: tuple[int, ...]) -> tuple[Float64, Float64]:
    """Where the pixels of the first frame lie in another."""
    y, x = np.indices(shape)
    matrix = np.linalg.inv(affine[:, 1:])
    start = -matrix @ affine[:, 0]
    rows, columns = (start[axis] + matrix[axis, 0] * y + matrix[axis, 1] * x for axis in range(2))
    return rows, columns


SINGLE, OURS = "single frame", "groups"
WAYS: dict[str, MergeWay] = {
    SINGLE: keep_single,
    "mean of pictures": average_pictures,
    "merge, then demosaic": merge_then_demosaic,
    "kernel regression": regress_kernels,
    OURS: merge_groups,
}
