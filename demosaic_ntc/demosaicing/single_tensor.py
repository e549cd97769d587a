"""The plain tensorisations of a mosaic, for study: what completion alone makes of one picture.

``whole``: the tensor height × width × channel of which the colour array shows a third, as the paper suggests.
``tiled``: the same picture cut into tiles, as a tensor (tile row, tile column, row, column, channel), which
ties places together that lie at the same spot of their tile. Neither is a demosaicer: rows and columns that
never show a channel leave its entries there undetermined, however well the rest is fitted.
"""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Float32
from demosaic_ntc.demosaicing.cfa import Cfa
from demosaic_ntc.engine.result import GroupCertificate
from demosaic_ntc.ntc.complete import complete
from demosaic_ntc.run import Progress, ReportProgress

Indices = NDArray[np.int64]

TILE = 8
RADIUS = 2.0  # λ over the largest sample: the norm lies between one and the nonnegative rank times that
GAPS = {"fast": 1e-1, "normal": 1e-2, "best": 1e-3}  # relative, by quality


def complete_plainly(
    mosaic: Float32, cfa: Cfa, tensor: str, quality: str, seed: int, progress: ReportProgress
) -> tuple[Float32, GroupCertificate]:
    """Complete a mosaic as one tensor, and return its picture and the certificate of the one solve."""
    rows, columns = (grid.ravel() for grid in np.indices(mosaic.shape))
    channels = cfa.channel_map(mosaic.shape).ravel().astype(np.int64)
    shape, index = _index_pixels(tensor, mosaic.shape, rows, columns)
    solution = complete(
        (*shape, 3),
        np.column_stack([*index, channels]),
        mosaic.ravel().astype(np.float64),
        radius=RADIUS * max(float(mosaic.max()), 1e-6),
        gap=GAPS[quality],
        seed=seed,
        progress=lambda event: progress(Progress("completion", event.iteration, event.iteration + 1)),
    )
    planes = [
        solution.at(np.column_stack([*index, np.full(rows.size, channel)])).reshape(mosaic.shape)
        for channel in range(3)
    ]
    tolerance = GAPS[quality] * float(np.mean(np.square(mosaic)))
    gap = np.array([solution.certificate.gap], np.float32)
    return np.stack(planes, axis=2).astype(np.float32), GroupCertificate.of(gap, tolerance)


def _index_pixels(
    tensor: str, shape: tuple[int, ...], rows: Indices, columns: Indices
) -> tuple[tuple[int, ...], list[Indices]]:
    """Return the shape of the tensor without its channels, and where each pixel lies in it."""
    height, width = shape
    if tensor == "whole":
        return (height, width), [rows, columns]
    tiles = (-(-height // TILE), -(-width // TILE), TILE, TILE)
    return tiles, [rows // TILE, columns // TILE, rows % TILE, columns % TILE]
