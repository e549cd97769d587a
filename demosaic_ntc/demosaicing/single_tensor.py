"""The plain tensorisations of a mosaic, for study: what completion alone makes of one picture.

``ntc-whole``: the tensor height × width × channel of which the colour array shows a third, as the paper
suggests. ``ntc-tiled``: the same picture cut into tiles, as a tensor (tile row, tile column, row, column,
channel), which ties places together that lie at the same spot of their tile. Neither is a demosaicer: rows
and columns that never show a channel leave its entries there undetermined, however well the rest is fitted.
"""

from math import isinf

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.arrays import Flags, Float32
from demosaic_ntc.cfa import Cfa
from demosaic_ntc.engine.result import NormCertificate
from demosaic_ntc.ntc.complete import complete
from demosaic_ntc.run import Progress, Run

Indices = NDArray[np.int64]

TILE = 8
MISFITS = {"fast": 1e-2, "normal": 3e-3, "best": 1e-3}  # over the mean square of the samples, by quality


def complete_single(
    mosaic: Float32,
    shown: Flags,
    cfa: Cfa,
    method: str,
    quality: str,
    seed: int,
    run: Run,
) -> tuple[Float32, NormCertificate]:
    """Complete a mosaic as one tensor of least norm, and return its picture and what is proven of the norm.

    ``shown`` are flags of the samples that are used.
    """
    rows, columns = (grid.ravel() for grid in np.indices(mosaic.shape))
    channels, used = cfa.channel_map(mosaic.shape).ravel().astype(np.int64), shown.ravel()
    shape, index = _index_pixels(method, mosaic.shape, rows, columns)
    solution = complete(
        (*shape, 3),
        np.column_stack([*index, channels])[used],
        mosaic.ravel().astype(np.float64)[used],
        radius="least",
        gap=MISFITS[quality],
        oracle="heuristic",
        deadline=None if isinf(run.deadline.remaining) else max(run.deadline.remaining, 1e-9),
        seed=seed,
        progress=lambda event: run.progress(Progress("completion", event.iteration, event.iteration + 1)),
    )
    planes = [
        solution.at(np.column_stack([*index, np.full(rows.size, channel)])).reshape(mosaic.shape)
        for channel in range(3)
    ]
    assert solution.least is not None
    bounds = [solution.least.lower, solution.least.upper, len(solution.weights)]
    return np.stack(planes, axis=2).astype(np.float32), NormCertificate.of(np.array([bounds], np.float32))


def _index_pixels(
    method: str, shape: tuple[int, ...], rows: Indices, columns: Indices
) -> tuple[tuple[int, ...], list[Indices]]:
    """Return the shape of the tensor without its channels, and where each pixel lies in it."""
    height, width = shape
    if method == "ntc-whole":
        return (height, width), [rows, columns]
    tiles = (-(-height // TILE), -(-width // TILE), TILE, TILE)
    return tiles, [rows // TILE, columns // TILE, rows % TILE, columns % TILE]
