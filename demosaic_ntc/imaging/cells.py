"""A quick preview of a mosaic: every cell of its array that shows all colours becomes one pixel."""

import numpy as np
from numpy.typing import NDArray

from demosaic_ntc.errors import InputError
from demosaic_ntc.imaging.cfa import Cfa

Floats = NDArray[np.float32]


def cell_side(cfa: Cfa) -> int:
    """The side of the smallest square cells that tile an array and show all three colours: 2 for Bayer."""
    down, across = cfa.period
    for side in range(2, max(down, across) + 1):
        if down % side == across % side == 0:
            cells = cfa.masks(cfa.period).reshape(down // side, side, across // side, side, 3)
            if cells.any(axis=(1, 3)).all():
                return side
    raise InputError(
        f"the array {cfa.name} has no square cells of all colours; do without a preview by cells"
    )


def cell_means(mosaic: Floats, cfa: Cfa, missing: NDArray[np.bool_] | None = None) -> Floats:
    """The mean of each colour in each cell, (height // side, width // side, 3), of (height, width) samples.

    Cells that the border cuts are left out. A colour of which a cell lacks all samples is taken from its
    neighbours, ever farther ones.
    """
    side = cell_side(cfa)
    height, width = (length // side for length in mosaic.shape)
    if min(height, width) == 0:
        raise InputError(
            f"{mosaic.shape[1]}×{mosaic.shape[0]} samples hold no whole cell; give a larger mosaic"
        )
    known = None if missing is None else ~missing
    totals = np.zeros((height, width, 3), dtype=np.float32)
    counts = np.zeros((height, width, 3), dtype=np.float32)
    masks = cfa.masks(tuple(np.lcm(cfa.period, side)))
    for y, x in np.ndindex(masks.shape[:2]):  # one site of the period at a time, all cells at once
        samples = (slice(y, height * side, masks.shape[0]), slice(x, width * side, masks.shape[1]))
        cells = (
            slice(y // side, None, masks.shape[0] // side),
            slice(x // side, None, masks.shape[1] // side),
        )
        channel = int(masks[y, x].argmax())
        weight = np.float32(1) if known is None else known[samples].astype(np.float32)
        totals[cells][..., channel] += mosaic[samples] * weight
        counts[cells][..., channel] += weight
    return _filled(totals, counts)


def _filled(totals: Floats, counts: Floats) -> Floats:
    """Means; where nothing was counted, of the neighbouring cells, ever farther ones."""
    if not counts.any(axis=(0, 1)).all():
        raise InputError("no sample of a colour is known; give a mosaic that shows all three")
    while not counts.all():
        empty = counts == 0
        around_totals, around_counts = (_with_neighbours(values) for values in (totals, counts))
        totals, counts = np.where(empty, around_totals, totals), np.where(empty, around_counts, counts)
    return totals / counts


def _with_neighbours(values: Floats) -> Floats:
    """The sums over each cell and its eight neighbours."""
    padded = np.pad(values, ((1, 1), (1, 1), (0, 0)))
    rows = padded[:-2] + padded[1:-1] + padded[2:]
    return np.asarray(rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:])
